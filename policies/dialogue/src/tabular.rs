//! A table as lines: a header of `name kind`, one line a row, cells apart by bars.

use tribunal_protocol::table::Table;
use tribunal_protocol::value::Value;

use crate::escape::{self, Place};
use crate::render::{floor_boundary, titled};

/// Appends a table, each line after a line break: at most `rows_max` rows, and no row that would
/// bring the rows over `bytes_max`; a header longer than that is cut. What was left out is counted in
/// a last line `+N rows`.
pub(crate) fn push(out: &mut String, table: &Table, rows_max: usize, bytes_max: usize) {
    let titles: Vec<String> = table.columns.iter().map(|column| titled(&column.name, column.kind())).collect();
    let titles = titles.join("|");
    let cut = floor_boundary(&titles, bytes_max);
    out.push('\n');
    out.push_str(&titles[..cut]);
    if cut < titles.len() {
        out.push_str("..");
    }
    let start = out.len();
    let mut shown = 0;
    for row in 0..table.rows.min(rows_max) {
        let line = line(&table.row(row));
        if out.len() - start + line.len() + 1 > bytes_max {
            break;
        }
        out.push('\n');
        out.push_str(&line);
        shown += 1;
    }
    if shown < table.rows {
        out.push_str(&format!("\n+{} rows", table.rows - shown));
    }
}

/// One row. A row of text that begins like the line of what was left out gets a backslash.
fn line(cells: &[Value]) -> String {
    let mut out = String::new();
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            out.push('|');
        }
        let text = cell.to_string();
        let forged = matches!(cell, Value::Text(_)) && (text == "NULL" || (index == 0 && text.starts_with('+')));
        if forged {
            out.push('\\');
        }
        escape::push(&mut out, &text, Place::Cell);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_protocol::value::Kind;

    fn table(cells: &[Value], kind: Kind) -> Table {
        let rows: Vec<Vec<Value>> = cells.iter().map(|cell| vec![cell.clone(), Value::Integer(7)]).collect();
        Table::from_rows(&[("a".to_owned(), kind), ("n".to_owned(), Kind::Integer)], &rows).unwrap()
    }

    fn lines(table: &Table, rows_max: usize, bytes_max: usize) -> String {
        let mut out = String::new();
        push(&mut out, table, rows_max, bytes_max);
        out
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn cells_and_titles() {
        let cells = [text("x|y"), Value::Null, text("NULL"), text("+3 rows"), text("")];
        let expected = "\na|n integer\nx\\|y|7\nNULL|7\n\\NULL|7\n\\+3 rows|7\n|7";
        assert_eq!(lines(&table(&cells, Kind::Text), 9, 999), expected);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let table = table(&[text("a"), text("b"), text("c")], Kind::Text);
        assert_eq!(lines(&table, 2, 999), "\na|n integer\na|7\nb|7\n+1 rows");
        assert_eq!(lines(&table, 3, 999), "\na|n integer\na|7\nb|7\nc|7");
        // Each row takes four bytes with its line break: two fit in eleven, three in twelve.
        assert_eq!(lines(&table, 3, 11), "\na|n integer\na|7\nb|7\n+1 rows");
        assert_eq!(lines(&table, 3, 12), "\na|n integer\na|7\nb|7\nc|7");
        assert_eq!(lines(&table, 3, 3), "\na|n..\n+3 rows");
    }
}
