//! `headland`: read, call one function, print, exit code. Everything worth testing is in
//! the rooms below.

mod apart;
mod args;
mod card;
mod commands;
mod context;
mod glob;
mod job;
mod judging;
mod live;
mod parallel;
mod prepare;
mod probes;
mod progress;
mod schedule;
mod signals;
mod test_file;
mod watchdog;
mod watching;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use context::{Context, Outcome};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not faults.
            let code = if error.use_stderr() { 2 } else { 0 };
            _ = error.print();
            return ExitCode::from(code);
        }
    };
    signals::survive_file_limit();
    apart::end_with_parent();
    let context = Context::new(&cli.global);
    let ended = match &cli.command {
        Command::Run(args) => commands::run::run(&context, args),
        Command::Test(args) => commands::test::run(&context, args),
        Command::Check(args) => commands::check::run(&context, args),
        Command::Info(args) => commands::info::run(&context, args),
        Command::Cat(args) => commands::cat::run(&context, args),
        Command::Export(args) => commands::export::run(&context, args),
        Command::Import(args) => commands::import::run(&context, args),
        Command::Engines(args) => commands::engines::run(&context, args),
        Command::Demo(args) => commands::demo::run(&context, args),
        Command::Completions(args) => commands::completions::run(&context, args),
        Command::Man(args) => commands::man::run(&context, args),
    };
    let outcome = ended.unwrap_or_else(|diagnostics| {
        context.show(&diagnostics);
        Outcome::of_faults(&diagnostics)
    });
    ExitCode::from(outcome.code())
}
