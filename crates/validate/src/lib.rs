//! A model and a table of what was measured go in; parameters that fit come out.

pub mod fit;
