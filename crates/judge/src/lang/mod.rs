//! The live language: text in, tree out, and back.

pub mod ast;
