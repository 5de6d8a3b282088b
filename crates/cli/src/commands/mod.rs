//! One file per command: read, compute, print, in that order.

pub mod cat;
pub mod check;
pub mod completions;
pub mod demo;
pub mod engines;
pub mod export;
pub mod import;
pub mod info;
pub mod man;
pub mod run;
pub mod test;
