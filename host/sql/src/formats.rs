//! Date formats: from SQLite's and PostgreSQL's to the engine's, which are chrono's.

use tribunal_protocol::Failure;

/// A format of STRFTIME.
pub fn from_sqlite(format: &str) -> Result<String, Failure> {
    let mut ours = String::new();
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            ours.push(char);
            continue;
        }
        ours.push_str(match chars.next() {
            Some('d') => "%d",
            Some('f') => "%S%.3f",
            Some('F') => "%Y-%m-%d",
            Some('H') => "%H",
            Some('j') => "%j",
            Some('m') => "%m",
            Some('M') => "%M",
            Some('s') => "%s",
            Some('S') => "%S",
            Some('T') => "%H:%M:%S",
            Some('R') => "%H:%M",
            Some('u') => "%u",
            Some('w') => "%w",
            Some('W') => "%W",
            Some('Y') => "%Y",
            Some('%') => "%%",
            other => {
                let other = other.map(String::from).unwrap_or_default();
                return Err(Failure::unsupported(format!("%{other} in STRFTIME")));
            }
        });
    }
    Ok(ours)
}

/// What a pattern of TO_CHAR means, longest first.
const PATTERNS: &[(&str, &str)] = &[
    ("FMMonth", "%B"),
    ("FMDay", "%A"),
    ("FMMM", "%-m"),
    ("FMDD", "%-d"),
    ("YYYY", "%Y"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("IYYY", "%G"),
    ("DDD", "%j"),
    ("Mon", "%b"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("Dy", "%a"),
    ("IW", "%V"),
    ("ID", "%u"),
];

/// A format of TO_CHAR.
pub fn from_postgresql(format: &str) -> Result<String, Failure> {
    let mut ours = String::new();
    let mut rest = format;
    while let Some(char) = rest.chars().next() {
        let numeric = |pattern: &str| !pattern.contains(|c: char| c.is_ascii_lowercase());
        let found = PATTERNS.iter().find(|(pattern, _)| {
            rest.starts_with(pattern)
                || (numeric(pattern)
                    && rest.get(..pattern.len()).is_some_and(|start| start.eq_ignore_ascii_case(pattern)))
        });
        if let Some((pattern, meaning)) = found {
            ours.push_str(meaning);
            rest = rest.get(pattern.len()..).unwrap_or("");
            continue;
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, after) =
                quoted.split_once('"').ok_or_else(|| Failure::invalid("TO_CHAR format with an open quote"))?;
            ours.push_str(&text.replace('%', "%%"));
            rest = after;
            continue;
        }
        if char.is_alphanumeric() || char == '%' {
            return Err(Failure::unsupported(format!("TO_CHAR format `{rest}`")));
        }
        ours.push(char);
        rest = rest.get(char.len_utf8()..).unwrap_or("");
    }
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_translated() {
        assert_eq!(from_sqlite("%Y-%m").unwrap(), "%Y-%m");
        assert_eq!(from_sqlite("100%%").unwrap(), "100%%");
        assert!(from_sqlite("%Q").is_err());
        assert!(from_sqlite("%").is_err());
        assert_eq!(from_postgresql("YYYY-MM-DD HH24:MI:SS").unwrap(), "%Y-%m-%d %H:%M:%S");
        assert_eq!(from_postgresql("yyyy-mm").unwrap(), "%Y-%m");
        assert_eq!(from_postgresql("Mon YYYY").unwrap(), "%b %Y");
        assert_eq!(from_postgresql("YYYY\"Q\"").unwrap(), "%YQ");
        assert!(from_postgresql("Month").is_err());
        assert!(from_postgresql("Q").is_err());
        assert!(from_postgresql("%Y").is_err());
    }
}
