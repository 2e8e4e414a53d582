//! The row generator: the same bytes for the same schema and seed, today and tomorrow; and what is
//! added to a schema changes nothing of what was there.
#![expect(clippy::unwrap_used, reason = "tests")]

mod example;

use std::collections::BTreeMap;

use example::Folder;
use tribunal_protocol::digest::Hasher;
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::task::SchemaRef;
use tribunal_protocol::value::Value;
use tribunal_tasks::Suite;

const SCHEMA: &str = "schemas/shop/v1/schema.toml";

/// A digest of all tables and rows in their order: more than the digest of a snapshot, for which
/// rows have none.
fn digest(dataset: &Dataset) -> String {
    let mut hasher = Hasher::new("pinned rows 1");
    hasher.bytes(&dataset.clock.to_le_bytes());
    hasher.bytes(dataset.fingerprint().to_string().as_bytes());
    for table in &dataset.tables {
        hasher.bytes(table.schema.name.as_bytes());
        hasher.number(table.rows.len() as u64);
        table.rows.iter().flatten().for_each(|cell| hasher.value(cell));
    }
    hasher.finish().to_string()[..16].to_owned()
}

/// The data of every schema of the built-in suite at seed 7. A line here changes only together
/// with the schema's file, and then in the same commit: if the generator changed, every task of
/// every suite did, and traces of earlier runs are of other data.
const PINNED: [(&str, &str); 12] = [
    ("billing-v1", "b71dee7b435175c8"),
    ("billing-v2", "a2f80f753c6b8a1e"),
    ("clinical-v1", "8065bda06d249813"),
    ("clinical-v2", "7f5619c30eb267b8"),
    ("logistics-v1", "b20dde29cd2b3864"),
    ("logistics-v2", "7262289b03c0aabb"),
    ("orders-v1", "999ac07aae2dee7b"),
    ("orders-v2", "5fd9c917191f957d"),
    ("support-v1", "8525c87284920d7e"),
    ("support-v2", "4e4824e2e4122c0e"),
    ("usage-v1", "519c370c335d9c5c"),
    ("usage-v2", "c9eb807be9623ccd"),
];

#[test]
fn the_data_of_every_schema_is_what_it_was() {
    let suite = Suite::embedded("analytics").unwrap();
    let made = suite.schemas().into_iter().map(|schema| {
        let dataset = suite.dataset(&schema, 7).unwrap();
        (schema.to_string(), digest(&dataset))
    });
    let made: Vec<(String, String)> = made.collect();
    let pinned = PINNED.map(|(schema, digest)| (schema.to_owned(), digest.to_owned()));
    assert_eq!(made, pinned);
}

#[test]
fn the_digest_sees_one_cell_and_the_order_of_rows() {
    let suite = Suite::embedded("analytics").unwrap();
    let schema = suite.schemas().remove(0);
    let dataset = suite.dataset(&schema, 7).unwrap();
    assert_eq!(digest(&dataset), digest(&suite.dataset(&schema, 7).unwrap()));
    assert_ne!(digest(&dataset), digest(&suite.dataset(&schema, 8).unwrap()));
    let mut cell = dataset.clone();
    cell.tables[0].rows[0][0] = Value::Null;
    assert_ne!(digest(&cell), digest(&dataset));
    let mut order = dataset.clone();
    order.tables[0].rows.swap(0, 1);
    assert_ne!(digest(&order), digest(&dataset));
}

/// The columns of a schema's tables, each with its cells from top to bottom.
fn columns(folder: &Folder, seed: u64) -> BTreeMap<String, Vec<Value>> {
    let suite = folder.load().unwrap();
    let dataset = suite.dataset(&SchemaRef { name: "shop".to_owned(), version: 1 }, seed).unwrap();
    let mut columns = BTreeMap::new();
    for table in &dataset.tables {
        for (place, column) in table.schema.columns.iter().enumerate() {
            let cells = table.rows.iter().map(|row| row[place].clone()).collect();
            columns.insert(format!("{}.{}", table.schema.name, column.name), cells);
        }
    }
    columns
}

/// A table that draws from every kind of random stream.
fn table(name: &str) -> String {
    let columns = [
        "{ name = 'id', kind = 'integer', description = '', make = { serial = { start = [1, 99], step = [1, 3] } } }",
        "{ name = 'size', kind = 'integer', description = '', make = { integer = [1, 9] } }",
        "{ name = 'total', kind = 'decimal', description = '', make = { decimal = ['1.00', '9.00'] } }",
        "{ name = 'day', kind = 'date', description = '', make = { date = ['2025-01-01', '2025-12-31'] } }",
    ]
    .join(", ");
    format!(
        "[[table]]\nname = '{name}'\ndescription = ''\nkey = ['id']\nrows = {{ count = [3, 30] }}\ncolumns = [{columns}]\n\
         alter = [{{ copy = true, rows = [1, 2], set = {{ size = {{ integer = [1, 9] }} }} }}]\n\n"
    )
}

#[test]
fn another_table_changes_no_other_tables_rows() {
    for seed in 0..20 {
        let before = columns(&Folder::new(), seed);
        for at in ["[[table]]\nname = \"customers\"", "[[table]]\nname = \"orders\"", "[[trap]]"] {
            let folder = Folder::new().with(SCHEMA, at, &format!("{}{at}", table("parcels")));
            let mut after = columns(&folder, seed);
            let added = ["id", "size", "total", "day"].map(|name| after.remove(&format!("parcels.{name}")).unwrap());
            assert!(added.iter().all(|cells| cells.len() > 3), "seed {seed}");
            assert_eq!(after, before, "seed {seed}, before {at}");
        }
    }
}

#[test]
fn another_column_changes_no_other_columns_cells() {
    for seed in 0..20 {
        let before = columns(&Folder::new(), seed);
        let more = "{ name = \"age\", kind = \"integer\", description = \"\", make = { integer = [18, 99] } },\n  ";
        for at in ["{ name = \"city\"", "{ name = \"is_test\""] {
            let folder = Folder::new().with(SCHEMA, at, &format!("{more}{at}"));
            let mut after = columns(&folder, seed);
            assert_eq!(after.remove("customers.age").unwrap().len(), before["customers.id"].len());
            assert_eq!(after, before, "seed {seed}, before {at}");
        }
    }
}

/// The twin: what does change what is made shows, and shows only there.
#[test]
fn another_way_to_make_a_column_changes_that_column() {
    let before = columns(&Folder::new(), 3);
    let after = columns(&Folder::new().with(SCHEMA, "[\"5.00\", \"400.00\"]", "[\"5.00\", \"401.00\"]"), 3);
    let differing: Vec<&String> = before.keys().filter(|name| before[*name] != after[*name]).collect();
    assert_eq!(differing, ["orders.total"]);
}
