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
    }
}
