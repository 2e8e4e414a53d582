//! Contracts, suites and tasks as text.

#[path = "../../../../tasks/tests/example/mod.rs"]
mod example;

use std::path::PathBuf;

use tribunal_contract::Contract;
use tribunal_protocol::Kind;
use tribunal_protocol::schema::{ColumnSchema, TableSchema};
use tribunal_protocol::task::Task;
use tribunal_tests::mutate::mutated;
use tribunal_tests::tool::root;

use self::example::Folder;
use super::{at_least, each};

const TOML: [&[u8]; 16] = [
    b"\n[[read]]\n",
    b"\n[budget]\n",
    b" = ",
    b"\"*\"",
    b"\"",
    b"'''",
    b"[",
    b"]",
    b"{",
    b"}",
    b"-1",
    b"1e999",
    b"9223372036854775808",
    b"0x",
    b"\\u0000",
    b"\xc3\xa9",
];

fn files(folder: PathBuf) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn schemas() -> Vec<TableSchema> {
    let column = |name: &str, kind| ColumnSchema::new(name, kind, true);
    let invoices = vec![
        column("id", Kind::Integer),
        column("total", Kind::Decimal),
        column("voided", Kind::Boolean),
        column("issued_on", Kind::Date),
        column("note", Kind::Text),
    ];
    vec![
        TableSchema::new("invoices", invoices, &["id"]),
        TableSchema::new("refunds", vec![column("id", Kind::Integer), column("amount", Kind::Decimal)], &["id"]),
    ]
}

/// What is read has one canonical text, which reads back as the same; and a request never gives
/// more than the grant that it is cut with.
#[test]
fn contract() {
    let corpus = files(root().join("tests/corpus/contract"));
    let schemas = schemas();
    let grant = Contract::parse(std::str::from_utf8(&corpus[0]).unwrap()).unwrap();
    let most = grant.resolve(&schemas).unwrap();
    let counts = each(2, 20_000, |dice| {
        let (good, other) = (dice.pick(&corpus), dice.pick(&corpus));
        let bytes = mutated(good, other, &TOML, dice);
        let text = String::from_utf8_lossy(&bytes);
        let contract = match Contract::parse(&text) {
            Ok(contract) => contract,
            Err(fault) => {
                assert!(!fault.to_string().is_empty());
                return "refused";
            }
        };
        let again = Contract::parse(&contract.to_toml()).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        assert_eq!(again.to_toml(), contract.to_toml(), "{text}");
        let Ok(narrow) = Contract::intersect(&contract, &grant).resolve(&schemas) else { return "read" };
        let (a, b) = (narrow.allowance(), most.allowance());
        assert!(a.statements <= b.statements && a.rows_scanned <= b.rows_scanned, "{text}");
        assert!(a.rows_returned <= b.rows_returned && a.bytes_returned <= b.bytes_returned, "{text}");
        "resolved"
    });
    at_least(&counts, "refused", 10);
    at_least(&counts, "resolved", 40);
}

/// One file of a small suite is spoiled: it is refused in one line that names a file, or read.
#[test]
fn suite() {
    let folder = Folder::new();
    folder.load().unwrap();
    let files = example::files();
    let counts = each(3, 600, |dice| {
        let ((name, good), (_, other)) = (dice.pick(&files), dice.pick(&files));
        std::fs::write(folder.path(name), mutated(good.as_bytes(), other.as_bytes(), &TOML, dice)).unwrap();
        let loaded = folder.load();
        folder.write(name, good);
        match loaded {
            Ok(_) => "read",
            Err(fault) => {
                let text = fault.to_string();
                assert!(!text.trim().contains('\n') && text.len() < 5_000, "{text}");
                "refused"
            }
        }
    });
    at_least(&counts, "refused", 10);
    at_least(&counts, "read", 20);
}

/// The tasks of a run folder.
#[test]
fn task() {
    let task = crate::world::task();
    let good = serde_json::to_vec(&task).unwrap();
    let words = [b"null".as_slice(), b"{}", b"[]", b"\"", b"\\ud800", b"1e400", b"-0", b"[[[[[[[[[[[[[[[["];
    let counts = each(4, 20_000, |dice| {
        let bytes = mutated(&good, &good, &words, dice);
        match serde_json::from_slice::<Task>(&bytes) {
            Ok(task) => {
                let text = serde_json::to_string(&task).unwrap();
                assert_eq!(serde_json::from_str::<Task>(&text).unwrap(), task);
                "read"
            }
            Err(fault) => {
                assert!(!fault.to_string().is_empty());
                "refused"
            }
        }
    });
    at_least(&counts, "refused", 10);
    at_least(&counts, "read", 50);
}
