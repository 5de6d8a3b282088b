//! `headland export`: a recording as something other tools read.
//!
//! The format is said, or told by the ending of the output. The work is `record`'s.

use headland_base::{Diagnostic, SimDuration};
use headland_record::align::Method;
use headland_record::{Alignment, Format, WriteOptions, export, export_aligned};

use crate::args::{EXPORTS, ExportArgs};
use crate::context::{BUILD, Context, Ended, refuse_same, refuse_stdout};

pub fn run(context: &Context, args: &ExportArgs) -> Ended {
    refuse_stdout(&args.output, "an export is written to a file or a folder")?;
    let by_ending = || Format::from_ending(&args.output).filter(|format| *format != Format::Mcap);
    let format = args.to.or_else(by_ending).ok_or_else(|| {
        let message = format!("`{}` does not say a format", args.output.display());
        let names: Vec<String> = EXPORTS.iter().map(|name| format!("--to {name}")).collect();
        vec![Diagnostic::error("which-format", message).help(format!("add {}", names.join(" or ")))]
    })?;
    refuse_same(&args.recording, &args.output)?;
    let options = WriteOptions::new(BUILD);
    let findings = match alignment(args, format)? {
        Some(alignment) => export_aligned(&args.recording, &args.output, alignment)?,
        None => export(&args.recording, &args.output, format, args.object.as_deref(), &options)?,
    };
    let outcome = context.show_findings(findings, true)?;
    if context.json() {
        let json = serde_json::json!({"output": args.output, "format": format.name()});
        context.print(&format!("{json}\n"));
    }
    context.say(&format!("wrote {}", args.output.display()));
    Ok(outcome)
}

/// How rows are filled, where that is asked.
fn alignment(args: &ExportArgs, format: Format) -> Result<Option<Alignment>, Vec<Diagnostic>> {
    let Some(how) = &args.align else { return Ok(None) };
    if format != Format::Csv {
        let message = format!("--align fills the rows of a CSV, and this is {}", format.name());
        return Err(vec![Diagnostic::error("which-format", message).help("add --to csv")]);
    }
    let period = args.rate.map(|rate| {
        let period = SimDuration::from_secs(1.0 / rate).filter(|p| *p > SimDuration::ZERO);
        period.ok_or_else(|| {
            let message = format!("{rate} rows a second are no nanosecond, or 292 years, apart");
            vec![Diagnostic::error("bad-duration", message)]
        })
    });
    let method = if how == "hold" { Method::Hold } else { Method::Interpolate };
    Ok(Some(Alignment { method, period: period.transpose()? }))
}
