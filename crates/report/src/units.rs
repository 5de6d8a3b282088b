//! Quantities as people say them.

/// `812 B`, `1.4 MiB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// `1 link`, `3 links`, `12,345 links`.
pub fn count(n: u64, one: &str) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {one}{}", if n == 1 { "" } else { "s" })
}

/// `4.2 s`, `3 min 20 s`, `2 h 5 min`.
pub fn secs(secs: f64) -> String {
    match secs {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {} s", (s / 60.0) as u64, (s % 60.0) as u64),
        s => format!("{} h {} min", (s / 3600.0) as u64, (s % 3600.0 / 60.0) as u64),
    }
}

/// `3.1 mm`, `0.42 rad/s`, `12 N`: three digits that matter, with a prefix below one.
pub fn quantity(amount: f64, unit: &str) -> String {
    let magnitude = amount.abs();
    let (factor, prefix) = match magnitude {
        _ if unit.is_empty() || magnitude == 0.0 || magnitude >= 1.0 => (1.0, ""),
        m if m >= 1e-3 => (1e3, "m"),
        m if m >= 1e-6 => (1e6, "µ"),
        _ => (1e9, "n"),
    };
    let number = digits(amount * factor);
    if unit.is_empty() { number } else { format!("{number} {prefix}{unit}") }
}

/// Three digits that matter, without trailing zeros.
fn digits(value: f64) -> String {
    let magnitude = value.abs();
    let n_places = match magnitude {
        m if m >= 100.0 => 0,
        m if m >= 10.0 => 1,
        m if m >= 1.0 => 2,
        m if m >= 0.1 => 3,
        m if m >= 0.01 => 4,
        m if m >= 0.001 => 5,
        0.0 => 0,
        _ => return format!("{value:.2e}"),
    };
    let text = format!("{value:.n_places$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_well() {
        assert_eq!((bytes(812), bytes(1_500_000)), ("812 B".into(), "1.4 MiB".into()));
        assert_eq!(
            (count(1, "link"), count(1_234_567, "link")),
            ("1 link".into(), "1,234,567 links".into())
        );
        assert_eq!(
            (secs(4.23), secs(200.0), secs(7500.0)),
            ("4.2 s".into(), "3 min 20 s".into(), "2 h 5 min".into())
        );
        for (amount, unit, wanted) in [
            (0.0031, "m", "3.1 mm"),
            (0.004_999_999, "m", "5 mm"),
            (2.5e-7, "s", "250 ns"),
            (0.0, "m", "0 m"),
            (12.345, "N", "12.3 N"),
            (0.48841, "", "0.488"),
            (123_456.0, "", "123456"),
            (1e-9, "", "1.00e-9"),
        ] {
            assert_eq!(quantity(amount, unit), wanted);
        }
    }
}
