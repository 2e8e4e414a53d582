//! How large a tool's output is, as JSON, which is how an agent reads it.

use std::io::{self, Write};

use tribunal_protocol::table::Table;

/// The most that a byte of a cell, or a cell itself, grows to as JSON: a control character in a
/// text becomes six bytes, and no cell needs more than forty beside its text.
const TEXT_GROWTH: u64 = 6;
const CELL_BYTES: u64 = 40;

/// What a tool's call gives back: words, a table, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// Words for the agent.
    pub text: String,
    /// A table for the agent.
    pub table: Option<Table>,
}

impl ToolOutput {
    /// Whether the output is at most `limit` bytes of JSON.
    pub(crate) fn fits(&self, limit: u64) -> bool {
        // Most outputs are far below the limit, which takes no more than a look at their sizes.
        if self.at_most() <= limit {
            return true;
        }
        if self.at_least() > limit {
            return false;
        }
        let mut room = Room(limit);
        let text = serde_json::to_writer(&mut room, &self.text);
        let table = self.table.as_ref().map_or(Ok(()), |table| serde_json::to_writer(&mut room, table));
        text.is_ok() && table.is_ok()
    }

    /// A bound from above.
    fn at_most(&self) -> u64 {
        let table = self.table.as_ref().map_or(0, |table| {
            let cells = (table.rows as u64 + 1).saturating_mul(table.columns.len() as u64 + 1);
            cells.saturating_mul(CELL_BYTES).saturating_add(table.bytes().saturating_mul(TEXT_GROWTH))
        });
        // The quotes of the text are there even where it is empty.
        (self.text.len() as u64).saturating_mul(TEXT_GROWTH).saturating_add(2).saturating_add(table)
    }

    /// A bound from below: a row has its brackets and its commas, and a cell has a byte. A table
    /// that claims four thousand million rows of nothing ends here.
    fn at_least(&self) -> u64 {
        let table = self
            .table
            .as_ref()
            .map_or(0, |table| (table.rows as u64).saturating_mul(2 * table.columns.len() as u64 + 1));
        (self.text.len() as u64).saturating_add(table)
    }
}

/// A writer that counts down and then refuses.
struct Room(u64);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len() as u64);
        self.0 = left.ok_or_else(|| io::Error::other("past the limit"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_protocol::table::{Cells, Column, Texts};

    fn table(rows: usize, cells: Cells) -> Table {
        Table { rows, columns: vec![Column { name: "c".to_owned(), nulls: Vec::new(), cells }] }
    }

    #[test]
    fn the_limit_is_that_of_the_json_text() {
        let mut texts = Texts::default();
        (0..100).for_each(|_| texts.push("\u{1}é\"x"));
        let outputs = [
            ToolOutput { text: "\n\"é".repeat(50), table: None },
            ToolOutput { text: "\u{1}".repeat(50), table: None },
            ToolOutput { text: String::new(), table: Some(table(100, Cells::Texts(texts))) },
            ToolOutput { text: "x".to_owned(), table: Some(table(100, Cells::Integers(vec![i64::MIN; 100]))) },
            ToolOutput { text: String::new(), table: Some(table(100, Cells::Unknown)) },
        ];
        for output in outputs {
            let text = serde_json::to_string(&output.text).unwrap().len();
            let table = output.table.as_ref().map_or(0, |table| serde_json::to_string(table).unwrap().len());
            let exact = (text + table) as u64;
            assert!(output.fits(exact) && !output.fits(exact - 1), "{exact}");
            assert!(output.at_least() <= exact && exact <= output.at_most());
        }
    }

    #[test]
    fn a_table_that_only_claims_rows_is_not_built() {
        let output = ToolOutput { text: String::new(), table: Some(table(u32::MAX as usize, Cells::Unknown)) };
        assert!(!output.fits(4 << 20));
    }
}
