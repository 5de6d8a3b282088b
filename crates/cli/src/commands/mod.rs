//! One file per command: read, compute, print, in that order.
//!
//! Only the first and the last touch the world. Adding a command is one file here, one entry in
//! `args` and one line in `main`.

pub mod cat;
pub mod check;
pub mod compare;
pub mod completions;
pub mod demo;
pub mod engines;
pub mod export;
pub mod fit_noise;
pub mod import;
pub mod info;
pub mod man;
pub mod render;
pub mod run;
pub mod test;
pub mod tune;
pub mod validate;
