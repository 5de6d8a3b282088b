//! What numbers are in.

/// What the numbers of a key are in. A word that nobody knows is kept beside, where tables are
/// written ([`crate::Recording::unknown_units`]); wherever units are compared or told it is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Nobody said, or they have none: taken for whatever they are compared with.
    #[default]
    Unsaid,
    /// In SI.
    Si(&'static str),
    /// In something that nobody knows: compared with nothing.
    Unknown,
}

impl Unit {
    /// An SI unit by its word; no word says nothing.
    pub fn si(word: &'static str) -> Unit {
        if word.is_empty() { Unit::Unsaid } else { Unit::Si(word) }
    }

    /// The word where there is one that somebody knows, else an empty one.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Si(word) => word,
            Unit::Unsaid | Unit::Unknown => "",
        }
    }
}
