//! `headland man`: the manual pages, made from the same list as the help.

use clap::CommandFactory as _;
use headland_base::Diagnostic;

use crate::args::{Cli, ManArgs};
use crate::context::{Context, Ended, Outcome};

pub fn run(context: &Context, args: &ManArgs) -> Ended {
    let failed = |error: std::io::Error| {
        vec![Diagnostic::error("cannot-write", format!("cannot write: {error}"))]
    };
    match &args.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(failed)?;
            clap_mangen::generate_to(command(), dir).map_err(failed)?;
            context.say(&format!("wrote the pages into {}", dir.display()));
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command()).render(&mut text).map_err(failed)?;
            context.print(&String::from_utf8_lossy(&text));
        }
    }
    Ok(Outcome::Passed)
}

/// The title line of a page holds one line, so the engines' versions stay out of it.
fn command() -> clap::Command {
    Cli::command().version(env!("CARGO_PKG_VERSION"))
}
