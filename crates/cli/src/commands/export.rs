//! `headland export`: a recording as something other tools read.
//!
//! The format is said, or told by the ending of the output. The work is `record`'s.

use headland_base::Diagnostic;
use headland_record::{Format, WriteOptions, export};

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
    let findings = export(&args.recording, &args.output, format, args.object.as_deref(), &options)?;
    let outcome = context.show_findings(findings, true)?;
    if context.json() {
        let json = serde_json::json!({"output": args.output, "format": format.name()});
        context.print(&format!("{json}\n"));
    }
    context.say(&format!("wrote {}", args.output.display()));
    Ok(outcome)
}
