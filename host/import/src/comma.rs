//! Comma-separated files (RFC 4180) that tell NULL from the empty string.
//!
//! PostgreSQL writes NULL as an empty field and the empty string as `""`. Readers that give only
//! the content of a field lose that difference; this one says whether a field was quoted.

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its content.
    pub text: String,
    /// Whether it stood in quotes.
    pub quoted: bool,
}

impl Field {
    /// Whether the field stands for NULL: empty or `\N`, without quotes.
    pub fn is_null(&self) -> bool {
        !self.quoted && (self.text.is_empty() || self.text == "\\N")
    }

    /// Whether nothing at all stands there.
    fn is_blank(&self) -> bool {
        !self.quoted && self.text.is_empty()
    }
}

/// One record, and the line it starts on, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// The line.
    pub line: u32,
    /// The fields.
    pub fields: Vec<Field>,
}

/// Reads all records. Blank lines between records are passed over.
///
/// # Errors
/// The line of a quoted field that never ends or that goes on after its quotes.
pub(crate) fn read(source: &str) -> Result<Vec<Record>, (u32, &'static str)> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut chars = source.chars().peekable();
    let mut line = 1_u32;
    let mut records = Vec::new();
    while chars.peek().is_some() {
        let first_line = line;
        let mut fields = Vec::new();
        loop {
            let quoted = chars.next_if_eq(&'"').is_some();
            let mut text = String::new();
            if quoted {
                read_quoted(&mut chars, &mut text, &mut line)?;
            }
            while let Some(c) = chars.next_if(|c| !matches!(c, ',' | '\n' | '\r')) {
                if quoted {
                    return Err((line, "text after the closing quote of a field"));
                }
                text.push(c);
            }
            fields.push(Field { text, quoted });
            if chars.next_if_eq(&',').is_none() {
                break;
            }
        }
        chars.next_if_eq(&'\r');
        if chars.next_if_eq(&'\n').is_some() {
            line = line.saturating_add(1);
        }
        if fields.len() > 1 || !fields.iter().all(Field::is_blank) {
            records.push(Record { line: first_line, fields });
        }
    }
    Ok(records)
}

fn read_quoted(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    text: &mut String,
    line: &mut u32,
) -> Result<(), (u32, &'static str)> {
    let first_line = *line;
    loop {
        match chars.next() {
            None => return Err((first_line, "a quoted field that never ends")),
            Some('"') if chars.next_if_eq(&'"').is_some() => text.push('"'),
            Some('"') => return Ok(()),
            Some(c) => {
                *line = line.saturating_add(u32::from(c == '\n'));
                text.push(c);
            }
        }
    }
}

/// Appends one record; `None` is NULL.
pub(crate) fn write<'a>(out: &mut String, fields: impl Iterator<Item = Option<&'a str>>) {
    let mut count = 0;
    let start = out.len();
    for field in fields {
        if count > 0 {
            out.push(',');
        }
        count += 1;
        let Some(text) = field else { continue };
        let odd = text.is_empty() || text == "\\N" || text.trim() != text;
        if odd || text.contains(['"', ',', '\n', '\r']) {
            out.push('"');
            out.push_str(&text.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(text);
        }
    }
    // A record of one NULL would be a blank line, which readers pass over.
    if count == 1 && out.len() == start {
        out.push_str("\\N");
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str, quoted: bool) -> Field {
        Field { text: text.to_owned(), quoted }
    }

    #[test]
    fn quotes_nulls_and_lines_are_kept() {
        let records = read("a,\"b\"\"c\nd\",\r\n\n\"\",,x\ny").unwrap();
        let expected = [
            (1, vec![field("a", false), field("b\"c\nd", true), field("", false)]),
            (4, vec![field("", true), field("", false), field("x", false)]),
            (5, vec![field("y", false)]),
        ];
        let found: Vec<_> = records.into_iter().map(|r| (r.line, r.fields)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_written_reads_back() {
        let rows = [
            vec![None, Some(""), Some("a,b"), Some("\"q\""), Some(" x "), Some("l\nm")],
            vec![Some("é"), None, None, Some("\\N"), Some("NULL"), Some("1")],
            vec![None],
            vec![Some("")],
        ];
        let mut out = String::new();
        rows.iter().for_each(|row| write(&mut out, row.iter().copied()));
        let back = read(&out).unwrap();
        for (row, record) in rows.iter().zip(&back) {
            let fields = record.fields.iter();
            let values: Vec<_> = fields.map(|f| (!f.is_null()).then_some(&*f.text)).collect();
            assert_eq!(&values, row);
        }
    }

    #[test]
    fn broken_quotes_are_named() {
        assert_eq!(read("a\n\"b\nc"), Err((2, "a quoted field that never ends")));
        assert!(read("\"a\"b").is_err());
    }
}
