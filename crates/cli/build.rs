//! Puts the commit into the version, `unknown` outside a git checkout.

use std::process::Command;

fn main() {
    let commit = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit = commit.ok().filter(|output| output.status.success());
    let commit = commit.and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=HEADLAND_COMMIT={}", commit.as_deref().unwrap_or("unknown").trim());
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/refs/heads");
}
