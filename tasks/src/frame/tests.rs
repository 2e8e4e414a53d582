//! Drawn rows, and the others beside them.

use tribunal_protocol::schema::{ColumnSchema, TableSchema};

use super::*;

/// Payments 1 to 4 of two namesakes, and refunds of some.
fn dataset(refunded: &[i64]) -> Dataset {
    let integers = |names: &[&str]| names.iter().map(|name| ColumnSchema::new(*name, Kind::Integer, false)).collect();
    let row = |cells: &[i64]| cells.iter().map(|cell| Value::Integer(*cell)).collect::<Vec<_>>();
    let payments = TableData {
        schema: TableSchema::new("payments", integers(&["id", "name", "tax"]), &["id"]),
        rows: [[1, 7, 1], [2, 7, 2], [3, 7, 2], [4, 8, 3]].iter().map(|cells| row(cells)).collect(),
    };
    let refunds = TableData {
        schema: TableSchema::new("refunds", integers(&["payment"]), &[]),
        rows: refunded.iter().map(|id| row(&[*id])).collect(),
    };
    Dataset { clock: 0, tables: vec![payments, refunds] }
}

/// The drawn payment and its decoy, over many streams.
fn drawn(refunded: &[i64]) -> Vec<(i64, i64)> {
    let form: RowsForm = toml::from_str(
        "table = 'payments'
         without = [{ table = 'refunds', column = 'payment', to = 'id' }]
         others = { decoy = { same = ['name'], differ = ['tax'] } }",
    )
    .unwrap();
    let one = |seed| {
        let drawn = draw_row(&form, &dataset(refunded), &mut Stream::new(seed, &["test"]));
        drawn.map(|row| (row["id"].as_i64().unwrap(), row["decoy"]["id"].as_i64().unwrap()))
    };
    let mut pairs: Vec<_> = (0..50).flat_map(one).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[test]
fn another_row_is_as_free_as_the_drawn_one() {
    assert_eq!(drawn(&[]), [(1, 2), (1, 3), (2, 1), (3, 1)]);
    // Payment 3 was given back: it is neither drawn nor a decoy.
    assert_eq!(drawn(&[3]), [(1, 2), (2, 1)]);
    assert_eq!(drawn(&[1]), []);
}

#[test]
fn a_column_that_is_not_there_is_named() {
    let form: RowsForm = toml::from_str("table = 'payments'\nothers = { decoy = { same = ['nmae'] } }").unwrap();
    let fault = draw_row(&form, &dataset(&[]), &mut Stream::new(0, &["test"])).unwrap_err();
    assert_eq!(fault, "no column `nmae` among the drawn rows");
}
