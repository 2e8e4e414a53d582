//! The canonical digest: the same for the same content, another for every other.

use tribunal_database::DatabaseError;
use tribunal_protocol::schema::{ColumnSchema, Dataset, TableData, TableSchema};
use tribunal_protocol::session::Session;
use tribunal_protocol::{Kind, Value};

use super::fixture::{ALL, all, cents, dataset, open, seal, snapshot, text};

fn digest(dataset: &Dataset) -> String {
    seal(dataset).unwrap().digest().to_string()
}

#[test]
fn the_order_of_rows_and_tables_does_not_matter() {
    let mut other = dataset();
    other.tables.reverse();
    other.tables.iter_mut().for_each(|table| table.rows.reverse());
    assert_eq!(digest(&dataset()), digest(&other));
}

#[test]
fn every_single_cell_matters() {
    let original = digest(&dataset());
    let mut seen = vec![original];
    for table in 0..dataset().tables.len() {
        for row in 0..dataset().tables[table].rows.len() {
            for place in 0..dataset().tables[table].schema.columns.len() {
                let mut other = dataset();
                other.tables.iter_mut().for_each(|table| table.schema.foreign_keys.clear());
                let cell = &mut other.tables[table].rows[row][place];
                *cell = match &*cell {
                    Value::Integer(number) => Value::Integer(number + 1_000),
                    Value::Text(former) => text(&format!("{former}.")),
                    Value::Decimal(number) => Value::Decimal(number + rust_decimal::Decimal::ONE),
                    Value::Boolean(truth) => Value::Boolean(!truth),
                    Value::Date(day) => Value::Date(day + 1),
                    _ => text("no longer NULL"),
                };
                let changed = digest(&other);
                assert!(!seen.contains(&changed), "table {table} row {row} column {place}");
                seen.push(changed);
            }
        }
    }
    assert!(seen.len() > 50);
}

#[test]
fn names_kinds_clock_and_missing_rows_matter() {
    let original = digest(&dataset());
    let changed = |change: &dyn Fn(&mut Dataset)| {
        let mut other = dataset();
        change(&mut other);
        digest(&other)
    };
    assert_ne!(original, changed(&|d| d.clock += 1));
    assert_ne!(original, changed(&|d| d.tables[3].schema.name = "payrolls".to_owned()));
    assert_ne!(original, changed(&|d| d.tables[3].schema.columns[1].name = "wage".to_owned()));
    assert_ne!(original, changed(&|d| drop(d.tables[3].rows.pop())));
    assert_ne!(
        original,
        changed(&|d| {
            d.tables[3].schema.columns[1].kind = Kind::Float;
            d.tables[3].rows[0][1] = Value::Float(99.0);
        })
    );
    // The scale of a decimal is no content.
    assert_eq!(original, changed(&|d| d.tables[2].rows[0][2] = Value::Decimal("5.0".parse().unwrap())));
}

#[test]
fn a_changed_fork_has_the_digest_of_the_same_content_sealed_anew() {
    let mut session = all();
    for sql in [
        "INSERT INTO refunds VALUES (2, 3, 2.50, 'x')",
        "UPDATE invoices SET note = 'changed', total = 3 WHERE id > 4",
        "DELETE FROM payroll WHERE id = 1",
    ] {
        session.change(sql, &[]).unwrap();
    }
    let mut sealed = dataset();
    sealed.tables[2].rows.insert(0, vec![Value::Integer(2), Value::Integer(3), cents(250), text("x")]);
    for row in &mut sealed.tables[1].rows[4..] {
        row[4] = text("changed");
        row[2] = cents(300);
    }
    sealed.tables[3].rows.clear();
    assert_eq!(session.into_state().digest().to_string(), digest(&sealed));
}

#[test]
fn the_way_back_has_the_first_digest() {
    let first = snapshot().fork();
    let before = first.digest();
    let mut session = open(first.clone(), ALL);
    session.change("INSERT INTO payroll VALUES (2, 5)", &[]).unwrap();
    assert_ne!(session.state().digest(), before);
    session.change("DELETE FROM payroll WHERE id = 2", &[]).unwrap();
    assert_eq!(session.state().digest(), before);
    assert!(session.state().is_unchanged_since(&first));
}

#[test]
fn equal_rows_count() {
    let table = |rows: usize| {
        let schema = TableSchema::new("t", vec![ColumnSchema::new("a", Kind::Integer, false)], &[]);
        let rows = vec![vec![Value::Integer(1)]; rows];
        digest(&Dataset { clock: 0, tables: vec![TableData { schema, rows }] })
    };
    assert_ne!(table(1), table(2));
    assert_ne!(table(0), table(1));
}

#[test]
fn a_dataset_that_does_not_fit_is_refused_by_row() {
    let refused = |change: &dyn Fn(&mut Dataset)| {
        let mut other = dataset();
        change(&mut other);
        let error: DatabaseError = seal(&other).unwrap_err();
        error.to_string()
    };
    let null = refused(&|d| d.tables[0].rows[1][1] = Value::Null);
    assert_eq!(null, "table \"accounts\", row 2: column \"name\" must not be NULL");
    let kind = refused(&|d| d.tables[1].rows[0][2] = Value::Float(1.0));
    assert_eq!(kind, "table \"invoices\", row 1: column \"total\": decimal expected, float given");
    let key = refused(&|d| d.tables[1].rows[3][0] = Value::Integer(2));
    assert_eq!(key, "table \"invoices\", row 4: same (id) as row 2");
    let reference = refused(&|d| d.tables[2].rows[0][1] = Value::Integer(77));
    assert_eq!(reference, "table \"refunds\", row 1: (invoice_id) = (77) is no row of \"invoices\"");
    let short = refused(&|d| drop(d.tables[3].rows[0].pop()));
    assert_eq!(short, "table \"payroll\", row 1: 2 values expected, 1 given");
    let twice = refused(&|d| d.tables[3].schema.name = "Refunds".to_owned());
    assert!(twice.contains("stands twice"), "{twice}");
    let day = refused(&|d| d.tables[1].rows[0][5] = Value::Date(i32::MAX));
    assert!(day.contains("outside the calendar"), "{day}");
}

#[test]
fn both_engines_have_the_same_digest_and_changes() {
    use tribunal_protocol::schema::Engine;
    let changed = |engine: Engine| {
        let first = tribunal_database::Snapshot::seal_on(&dataset(), engine).unwrap().fork();
        let mut session = open(first.clone(), ALL);
        for sql in [
            "INSERT INTO refunds SELECT id + 10, id, total / 2, 'half' FROM invoices WHERE voided = TRUE",
            "UPDATE invoices SET total = total * 2, note = UPPER(note) WHERE issued_on > '2022-01-10'",
            "DELETE FROM refunds WHERE id = 1",
        ] {
            session.change(sql, &[]).unwrap();
        }
        let last = session.into_state();
        (last.digest(), last.changes_since(&first).unwrap())
    };
    assert_eq!(changed(Engine::Gluesql), changed(Engine::Sqlite));
}
