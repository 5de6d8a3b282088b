//! `headland`: read, call one function, print, exit code. Everything worth testing is in
//! the rooms below.

mod apart;
mod args;
mod beat;
mod card;
mod chosen;
mod commands;
mod comparing;
mod context;
mod figures;
mod following;
mod job;
mod judging;
mod live;
mod parallel;
mod prepare;
mod probes;
mod progress;
mod repeating;
mod said;
mod schedule;
mod sensors;
mod signals;
mod terminal;
mod test_file;
mod watchdog;
mod watching;

use std::process::ExitCode;

use clap::Parser;
use headland_base::Diagnostic;

use args::{Cli, Command};
use context::{Context, Outcome};

fn main() -> ExitCode {
    if chosen::answer() {
        return ExitCode::SUCCESS;
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not faults.
            if !error.use_stderr() {
                _ = error.print();
                return ExitCode::SUCCESS;
            }
            if asks_for_json() {
                context::to_stderr(&format!("{}\n", usage_fault(&error).to_json()));
            } else {
                _ = error.print();
            }
            return ExitCode::from(Outcome::BadInput.code());
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
        Command::Compare(args) => commands::compare::run(&context, args),
        Command::Validate(args) => commands::validate::run(&context, args),
        Command::Tune(args) => commands::tune::run(&context, args),
        Command::Render(args) => commands::render::run(&context, args),
        Command::FitNoise(args) => commands::fit_noise::run(&context, args),
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

/// Whether a program reads the answer, on a command line that could not be understood.
fn asks_for_json() -> bool {
    let words = std::env::args_os().skip(1);
    words.take_while(|word| word != "--").any(|word| word == "--json")
}

/// What is wrong with the command line: its first sentence, and the rest as notes.
fn usage_fault(error: &clap::Error) -> Diagnostic {
    let text = error.render().to_string();
    let mut parts = text.split("\n\n").map(|part| {
        let lines: Vec<&str> = part.lines().map(str::trim).collect();
        lines.join(" ").trim().to_string()
    });
    let message = parts.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_string();
    let rest = parts.filter(|part| !part.is_empty());
    rest.fold(Diagnostic::error("usage", message), |fault, part| fault.note(part))
}
