//! Limits that break a build: `wrist_0/*:rmse>0.02` fails where some wrist's RMSE is above.
//!
//! A text goes in; what it says of a comparison comes out: kept, broken, or not to be said
//! because the statistic is undefined.

use headland_base::{Diagnostic, glob, names::suggestion};

use super::{Compared, KEY_STATISTICS, STATISTICS};

/// How a value is compared with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Relation {
    const ALL: [(&'static str, Relation); 4] = [
        (">=", Relation::AtLeast),
        ("<=", Relation::AtMost),
        (">", Relation::Above),
        ("<", Relation::Below),
    ];

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Relation::Above => value > limit,
            Relation::AtLeast => value >= limit,
            Relation::Below => value < limit,
            Relation::AtMost => value <= limit,
        }
    }
}

/// A limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// As it was written.
    pub text: String,
    /// Which keys.
    pub pattern: String,
    /// Name of the statistic.
    pub statistic: String,
    /// It fails where this holds.
    pub relation: Relation,
    /// Of the limit.
    pub limit: f64,
}

/// What became of a limit for one key.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// As it was written.
    pub threshold: String,
    /// The key.
    pub key: String,
    /// The statistic.
    pub statistic: String,
    /// The value, where defined.
    pub value: Option<f64>,
    /// Whether the value is beyond the limit; `None` where nobody can say.
    pub is_broken: Option<bool>,
}

impl Threshold {
    /// Reads `KEYGLOB:STATISTIC>LIMIT`.
    pub fn parse(text: &str) -> Result<Threshold, Diagnostic> {
        let bad = |what: String| {
            Diagnostic::error("bad-threshold", format!("`{text:.120}`: {what}"))
                .note("a threshold is `KEYS:STATISTIC>LIMIT`, such as 'wrist_0/*:rmse>0.02'")
        };
        // Keys of nested models have colons of their own.
        let (pattern, rest) =
            text.rsplit_once(':').ok_or_else(|| bad("no `:` before the statistic".into()))?;
        let found = Relation::ALL.iter().find_map(|(sign, relation)| {
            rest.split_once(sign).map(|(name, limit)| (name.trim(), *relation, limit.trim()))
        });
        let (name, relation, limit) =
            found.ok_or_else(|| bad("none of `>` `>=` `<` `<=` stands in it".into()))?;
        if !statistic_names().any(|known| known == name) {
            let fault = bad(format!("no statistic is called `{name:.40}`"));
            return Err(fault.help_maybe(suggestion(name, statistic_names())));
        }
        let limit: f64 = limit
            .parse()
            .ok()
            .filter(|limit: &f64| limit.is_finite())
            .ok_or_else(|| bad(format!("`{limit:.40}` is no number")))?;
        let pattern = pattern.trim().to_string();
        let (text, statistic) = (text.to_string(), name.to_string());
        Ok(Threshold { text, pattern, statistic, relation, limit })
    }

    /// What becomes of it, key by key; an error names the nearest key where none fits.
    pub fn held(&self, compared: &Compared) -> Result<Vec<Held>, Diagnostic> {
        let keys = compared.keys.iter().filter(|key| glob::matches(&self.pattern, &key.key));
        let held: Vec<Held> = keys
            .map(|key| {
                let value = key.statistic(&self.statistic);
                Held {
                    threshold: self.text.clone(),
                    key: key.key.clone(),
                    statistic: self.statistic.clone(),
                    value,
                    is_broken: value.map(|value| self.relation.holds(value, self.limit)),
                }
            })
            .collect();
        if held.is_empty() {
            let message = format!("no key that was compared fits `{:.120}`", self.pattern);
            let known = compared.keys.iter().map(|key| key.key.as_str());
            return Err(Diagnostic::error("unknown-key", message)
                .help_maybe(suggestion(&self.pattern, known)));
        }
        Ok(held)
    }
}

/// Every name a statistic has.
pub fn statistic_names() -> impl Iterator<Item = &'static str> + Clone {
    let of_errors = STATISTICS.iter().map(|statistic| statistic.name);
    of_errors.chain(KEY_STATISTICS.iter().map(|(name, ..)| *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let t = Threshold::parse("arm::wrist_0/*: rmse >= 2e-2").unwrap();
        assert_eq!(t.pattern, "arm::wrist_0/*");
        assert_eq!((t.statistic.as_str(), t.relation, t.limit), ("rmse", Relation::AtLeast, 0.02));
        assert_eq!(Threshold::parse("*:r2<0.9").unwrap().relation, Relation::Below);
        for (text, word) in [
            ("rmse>1", "`:`"),
            ("a:rmse=1", "`>`"),
            ("a:rmse>x", "no number"),
            ("a:rmse>inf", "no number"),
            ("a:rsme>1", "rsme"),
        ] {
            let fault = Threshold::parse(text).unwrap_err();
            assert!(fault.code == "bad-threshold" && fault.message.contains(word), "{fault:?}");
        }
        let help = Threshold::parse("a:rsme>1").unwrap_err().help.unwrap();
        assert!(help.contains("`rmse`"), "{help}");
    }
}
