//! `headland import`: a log somebody else wrote becomes a recording.
//!
//! The format is told by what is in the log. The work is `record`'s.

use headland_record::{ImportOptions, WriteOptions, convert};

use crate::args::ImportArgs;
use crate::context::{BUILD, Context, Ended, refuse_same, refuse_stdout};

pub fn run(context: &Context, args: &ImportArgs) -> Ended {
    refuse_stdout(&args.output, "an import is written to a file")?;
    refuse_same(&args.source, &args.output)?;
    let options = ImportOptions { object: args.object.clone(), ..ImportOptions::default() };
    let done = convert(&args.source, &args.output, &options, &WriteOptions::new(BUILD))?;
    let outcome = context.show_findings(done.findings, true)?;
    let (format, written) = (done.format.name(), done.written);
    if context.json() {
        let json = serde_json::json!({
            "recording": args.output, "from": format, "messages": written.n_messages,
            "bytes": written.n_bytes,
        });
        context.print(&format!("{json}\n"));
    } else {
        let n_messages = headland_report::count(written.n_messages, "message");
        context.print(&format!("{}: {n_messages} from {format}\n", args.output.display()));
    }
    Ok(outcome)
}
