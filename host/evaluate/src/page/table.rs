//! A table as the page shows it: a window of its rows, with a place marked.

use serde::Serialize;
use tribunal_protocol::table::Table;
use tribunal_protocol::value::{Kind, Value};

use crate::text::{count, shown};

/// The most rows shown of a table without a marked place.
const ROWS: usize = 8;
/// The first rows that are shown in any case, where a marked row lies further down.
const HEAD: usize = 3;
/// The rows shown on either side of a marked row.
const AROUND: usize = 2;
/// The most columns shown.
const COLUMNS: usize = 12;
/// The most characters shown of a cell.
const CELL: usize = 160;

/// The place of a difference in a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    /// Which row, from 0; none: all of the column.
    pub row: Option<usize>,
    /// Which column; none: all of the row.
    pub column: Option<String>,
}

/// A table to show.
#[derive(Debug, Serialize)]
pub(crate) struct TableView {
    columns: Vec<ColumnView>,
    rows: Vec<RowView>,
    /// `3 rows`, `40 rows, 8 shown`.
    size: String,
}

#[derive(Debug, Serialize)]
struct ColumnView {
    name: String,
    kind: &'static str,
    number: bool,
    marked: bool,
}

#[derive(Debug, Serialize)]
struct RowView {
    /// How many rows are left out before this one, in words; empty: none.
    gap: String,
    /// From 1.
    number: usize,
    cells: Vec<CellView>,
}

#[derive(Debug, Serialize)]
struct CellView {
    text: String,
    class: String,
    marked: bool,
}

impl TableView {
    /// Of a table, with the marked place inside the window.
    pub(crate) fn of(table: &Table, mark: &Mark) -> TableView {
        let marks = |name: &str| {
            let wanted = mark.column.as_deref();
            wanted.is_some_and(|wanted| wanted.to_lowercase() == name.to_lowercase())
        };
        let columns = table.columns.iter().enumerate();
        let columns: Vec<_> = columns
            .filter(|(index, column)| *index < COLUMNS || marks(&column.name))
            .map(|(_, column)| column)
            .collect();
        let window = window(table.rows, mark.row);
        let mut rows = Vec::new();
        let mut next = 0;
        for row in window {
            let cell = |column: &&tribunal_protocol::Column| {
                let in_row = mark.row == Some(row);
                let in_column = mark.column.is_none() || marks(&column.name);
                CellView::of(&column.value(row), column.kind(), in_row && in_column)
            };
            rows.push(RowView { gap: gap(row - next), number: row + 1, cells: columns.iter().map(cell).collect() });
            next = row + 1;
        }
        let whole = rows.len() == table.rows && columns.len() == table.columns.len();
        let mut size = count(table.rows as u64, "row");
        if rows.len() < table.rows {
            size.push_str(&format!(", {} shown", rows.len()));
        }
        if columns.len() < table.columns.len() {
            let all = count(table.columns.len() as u64, "column");
            size.push_str(&format!("; {all}, {} shown", columns.len()));
        }
        if whole && rows.is_empty() {
            size = "no rows".to_owned();
        }
        let columns = columns.into_iter().map(|column| ColumnView {
            name: shown(&column.name, CELL),
            kind: column.kind().name(),
            number: is_number(column.kind()),
            marked: mark.row.is_none() && marks(&column.name),
        });
        TableView { columns: columns.collect(), rows, size }
    }
}

impl CellView {
    fn of(value: &Value, kind: Kind, marked: bool) -> CellView {
        let (absent, text) = match value {
            Value::Null => ("null", "NULL".to_owned()),
            Value::Text(text) if text.is_empty() => ("blank", "empty text".to_owned()),
            other => ("", shown(&other.to_string(), CELL)),
        };
        let width = match kind {
            _ if is_number(kind) => "number",
            Kind::Date | Kind::Timestamp | Kind::Boolean => "short",
            _ => "",
        };
        CellView { text, class: format!("{width} {absent}").trim().to_owned(), marked }
    }
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Float | Kind::Decimal)
}

fn gap(rows: usize) -> String {
    match rows {
        0 => String::new(),
        rows => format!("{} not shown", count(rows as u64, "row")),
    }
}

/// The rows to show, in order.
fn window(rows: usize, mark: Option<usize>) -> Vec<usize> {
    match mark {
        Some(mark) if mark >= ROWS && mark < rows => {
            let start = mark.saturating_sub(AROUND);
            let end = (mark + AROUND + 1).min(rows);
            (0..HEAD).chain(start..end).collect()
        }
        _ => (0..rows.min(ROWS)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rows: usize) -> Table {
        let columns = [("Id".to_owned(), Kind::Integer), ("note".to_owned(), Kind::Text)];
        let rows: Vec<_> = (0_i64..)
            .take(rows)
            .map(|i| vec![Value::Integer(i), if i == 0 { Value::Null } else { Value::Text(String::new()) }])
            .collect();
        Table::from_rows(&columns, &rows).unwrap()
    }

    fn marked(view: &TableView) -> Vec<(usize, usize)> {
        let cells = |row: &RowView| {
            let at = row.number;
            let places = row.cells.iter().enumerate().filter(|(_, cell)| cell.marked);
            places.map(|(column, _)| (at, column)).collect::<Vec<_>>()
        };
        view.rows.iter().flat_map(cells).collect()
    }

    fn mark(row: Option<usize>, column: Option<&str>) -> Mark {
        Mark { row, column: column.map(str::to_owned) }
    }

    #[test]
    fn the_marked_cell_is_in_the_window_and_nothing_else_is_marked() {
        let view = TableView::of(&numbers(40), &mark(Some(20), Some("ID")));
        assert_eq!(marked(&view), [(21, 0)]);
        let shown: Vec<_> = view.rows.iter().map(|row| row.number).collect();
        assert_eq!(shown, [1, 2, 3, 19, 20, 21, 22, 23]);
        assert_eq!(view.rows[3].gap, "15 rows not shown");
        assert_eq!(view.size, "40 rows, 8 shown");
    }

    #[test]
    fn a_mark_outside_the_table_marks_nothing() {
        for place in [mark(Some(3), Some("id")), mark(Some(0), Some("other")), Mark::default()] {
            assert_eq!(marked(&TableView::of(&numbers(3), &place)), []);
        }
        assert_eq!(marked(&TableView::of(&numbers(3), &mark(Some(1), None))), [(2, 0), (2, 1)]);
        let view = TableView::of(&numbers(3), &mark(None, Some("note")));
        assert_eq!(view.columns.iter().map(|c| c.marked).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn null_and_empty_text_do_not_look_alike() {
        let view = TableView::of(&numbers(2), &Mark::default());
        let class = |row: usize| view.rows[row].cells[1].class.as_str();
        assert_eq!((class(0), class(1)), ("null", "blank"));
        assert_eq!(TableView::of(&numbers(0), &Mark::default()).size, "no rows");
    }
}
