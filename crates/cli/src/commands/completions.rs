//! `headland completions`: what a shell needs to complete our commands, made from the same list
//! as the help.

use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs};
use crate::context::{Context, Ended, Outcome};

pub fn run(context: &Context, args: &CompletionsArgs) -> Ended {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "headland", &mut text);
    context.print(&String::from_utf8_lossy(&text));
    Ok(Outcome::Passed)
}
