//! `headland import`: a log somebody else wrote becomes a recording.

use headland_base::{Diagnostic, Findings};
use headland_record::door::ImportOptions;
use headland_record::{Format, Reader, WriteOptions, Writer, Written};

use crate::args::ImportArgs;
use crate::context::{BUILD, Context, Ended, Outcome, refuse_same};

pub fn run(context: &Context, args: &ImportArgs) -> Ended {
    refuse_same(&args.source, &args.output)?;
    let format = Format::detect(&args.source).map_err(|fault| vec![fault])?;
    let (written, findings) = convert(args, format)?;
    let is_partial = findings.has_errors();
    context.show(&findings.into_vec());
    let n_messages = headland_report::count(written.n_messages, "message");
    if context.json() {
        let json = serde_json::json!({
            "recording": args.output, "from": format.name(), "messages": written.n_messages,
            "bytes": written.n_bytes,
        });
        context.print(&format!("{json}\n"));
    } else {
        context.print(&format!("{}: {n_messages} from {}\n", args.output.display(), format.name()));
    }
    Ok(if is_partial { Outcome::Partial } else { Outcome::Passed })
}

fn convert(args: &ImportArgs, format: Format) -> Result<(Written, Findings), Vec<Diagnostic>> {
    let one = |fault| vec![fault];
    let options = WriteOptions::new(BUILD);
    if format == Format::Mcap {
        // Message by message, payloads untouched: memory does not grow with the file.
        let reader = Reader::open(&args.source).map_err(one)?;
        let mut writer = Writer::create(&args.output, &options).map_err(one)?;
        let findings = headland_record::copy(reader, &mut writer).map_err(one)?;
        return Ok((writer.finish().map_err(one)?, findings));
    }
    let import = ImportOptions {
        format: Some(format),
        object: args.object.clone(),
        ..ImportOptions::default()
    };
    let imported = headland_record::import(&args.source, &import)?;
    let mut writer = Writer::create(&args.output, &options).map_err(one)?;
    headland_record::save(&imported.recording, &mut writer).map_err(one)?;
    Ok((writer.finish().map_err(one)?, imported.findings))
}
