//! The live language: text in, tree out, and back.
//!
//! ```text
//! text ─ parse ─► Program ─ print ─► the same program, in one form
//!                    └───── lint ──► what is probably not meant
//! ```
//!
//! Everything wrong is reported with its place, and nothing wrong stops the rest from
//! being read. What a name refers to at run time is decided elsewhere.

pub mod ast;
mod block;
mod lex;
mod lint;
mod lint_block;
mod literal;
mod parse;
mod places;
mod print;
mod scopes;
mod temporal;

pub use block::{MOST_HIGH, MOST_NESTED};
pub use lint::lint;
pub use parse::{MOST_FORMS_NESTED, parse};
pub use places::{same, without_places};
pub use print::{print, print_block, print_expr, print_temporal};
pub use temporal::{OPERATORS, parse_formulas};
