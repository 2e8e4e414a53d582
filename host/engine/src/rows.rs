//! The rows that a holder may read, for an engine that keeps a copy of them.

use tribunal_contract::TableGrant;
use tribunal_protocol::Value;

use crate::cell::to_value;
use crate::store::{Row, Tables};

impl Tables {
    /// The rows of a table that the holder of a grant may read, in the order in which it may know
    /// them, each with its number and the columns that may be read, in order. A row keeps its number
    /// for as long as the state lives; it tells of hidden rows, and is for no holder's eyes.
    pub fn granted_rows<'a>(&'a self, grant: &'a TableGrant) -> impl Iterator<Item = (u64, Vec<Value>)> + 'a {
        let values = |row: &Row| -> Vec<Value> {
            let cells = grant.readable.iter().map(|place| row.get(*place));
            cells.map(|cell| cell.and_then(|cell| to_value(cell).ok()).unwrap_or(Value::Null)).collect()
        };
        let rows = self.table(&grant.schema.name).into_iter().flat_map(|table| {
            let filter = grant.rows.as_ref().map(|rule| table.filter(rule));
            table.rows_for(grant, filter.as_ref())
        });
        rows.map(move |(number, row)| (number, values(row)))
    }
}
