//! `headland export`: a recording as something other tools read.

use std::path::Path;

use headland_base::{Diagnostic, Findings};
use headland_record::door::ImportOptions;
use headland_record::{Format, WriteOptions, rosbag2};

use crate::args::{ExportArgs, ExportFormat};
use crate::context::{BUILD, Context, Ended, Outcome, refuse_same};

pub fn run(context: &Context, args: &ExportArgs) -> Ended {
    let format =
        args.to.map_or_else(|| by_ending(&args.output), Ok).map_err(|fault| vec![fault])?;
    refuse_same(&args.recording, &args.output)?;
    let findings = write(args, format)?;
    let is_partial = findings.has_errors();
    context.show(&findings.into_vec());
    context.say(&format!("wrote {}", args.output.display()));
    Ok(if is_partial { Outcome::Partial } else { Outcome::Passed })
}

fn write(args: &ExportArgs, format: ExportFormat) -> Result<Findings, Vec<Diagnostic>> {
    let options = WriteOptions::new(BUILD);
    let one = |fault| vec![fault];
    let target = match format {
        // A bag holds the messages as they are; nothing is decoded.
        ExportFormat::Rosbag2 => {
            return rosbag2::export(&args.recording, &args.output, &options).map_err(one);
        }
        ExportFormat::Csv => Format::Csv,
        ExportFormat::Tum => Format::Tum,
    };
    let imported = headland_record::import(&args.recording, &ImportOptions::default())?;
    headland_record::export(
        &imported.recording,
        &args.output,
        target,
        args.object.as_deref(),
        &options,
    )
    .map_err(one)?;
    Ok(imported.findings)
}

fn by_ending(path: &Path) -> Result<ExportFormat, Diagnostic> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(ExportFormat::Csv),
        Some("tum" | "txt") => Ok(ExportFormat::Tum),
        _ => Err(Diagnostic::error(
            "which-format",
            format!("`{}` does not say a format", path.display()),
        )
        .help("add --to csv, --to tum or --to rosbag2")),
    }
}
