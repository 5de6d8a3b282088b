//! `headland completions` and `man`: what a shell wants to know of all the others.

use std::path::PathBuf;

use clap::Args;

/// `headland completions`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  headland completions bash > /etc/bash_completion.d/headland")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `headland man`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  headland man | man -l -\n  headland man --dir share/man/man1")]
pub struct ManArgs {
    /// Write headland.1 and one page per command into this folder
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}
