//! Variants of schemas: the same shape in other words, for training alone.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use tribunal_protocol::task::{SchemaRef, Split};
use tribunal_tasks::{Quotas, Suite};

fn primer(variants: u32) -> Suite {
    Suite::embedded("primer").and_then(|suite| suite.with_variants(variants)).unwrap()
}

#[test]
fn training_alone_gets_variants() {
    let suite = primer(3);
    let names: Vec<String> = suite.schemas().iter().map(ToString::to_string).collect();
    let of_training = |name: &&String| name.starts_with("sales~") || name.starts_with("desk~");
    assert_eq!(names.iter().filter(of_training).count(), 2 * 3, "{names:?}");
    assert!(names.contains(&"sales~3-v1".to_owned()) && names.contains(&"desk~1-v1".to_owned()));
    for split in [Split::NewSchema, Split::NewSchemaAndFamily] {
        assert!(
            suite
                .pairs(split)
                .iter()
                .all(|pair| !["sales", "desk"].contains(&pair.schema.name.split('~').next().unwrap()))
        );
    }
    // A suite without words has no variants, and is what it was.
    let analytics = Suite::embedded("analytics").unwrap();
    let schemas = analytics.schemas();
    assert_eq!(analytics.with_variants(5).unwrap().schemas(), schemas);
}

#[test]
fn a_variant_has_other_words_and_the_same_rows_otherwise() {
    let suite = primer(8);
    let schemas = suite.schemas();
    let mut prints = BTreeSet::new();
    for schema in schemas.iter().filter(|schema| schema.name.starts_with("sales")) {
        let data = suite.dataset(schema, 7).unwrap();
        prints.insert(data.fingerprint());
        assert_eq!(data.tables.len(), 4, "{schema}");
        // Made again, it is the same.
        assert_eq!(primer(8).dataset(schema, 7).unwrap(), data);
    }
    assert_eq!(prints.len(), 9, "nine shapes in nine vocabularies");
    // What a variant is does not depend on how many there are.
    let one = schemas.iter().find(|schema| schema.to_string() == "sales~1-v1").unwrap();
    assert_eq!(primer(1).dataset(one, 7).unwrap(), suite.dataset(one, 7).unwrap());
}

#[test]
fn questions_speak_the_words_of_their_variant() {
    let suite = primer(40);
    let quotas = Quotas([(Split::Train, 400)].into_iter().collect());
    let drafts = suite.drafts(&quotas, 0).unwrap();
    assert_eq!(drafts.len(), 400);
    let of_variants = drafts.iter().filter(|draft| draft.task.schema.name.contains('~'));
    let mut seen = 0;
    for draft in of_variants {
        seen += 1;
        for word in ["bills", "clients", "tickets", "helpers"] {
            assert!(
                !draft.task.instruction.split(|c: char| !c.is_alphabetic()).any(|it| it == word),
                "{}",
                draft.task.instruction
            );
        }
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn no_training_word_stands_in_a_held_out_schema() {
    let suite = primer(60);
    let words = |held_out: bool| -> BTreeSet<String> {
        let schemas = suite.schemas();
        let training = |name: &str| name.starts_with("sales~") || name.starts_with("desk~");
        let chosen = schemas.iter().filter(|schema| training(&schema.name) != held_out);
        let chosen = chosen.filter(|schema| !["sales", "desk"].contains(&schema.name.as_str()));
        let tables = chosen.flat_map(|schema| suite.dataset(schema, 0).unwrap().tables);
        let names = tables.filter(|table| table.schema.name != "metric_definitions").flat_map(|table| {
            let columns = table.schema.columns.iter().map(|column| column.name.clone());
            std::iter::once(table.schema.name.clone()).chain(columns).collect::<Vec<_>>()
        });
        names.flat_map(|name| name.split('_').map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let common: Vec<String> = words(true).intersection(&words(false)).cloned().collect();
    // What every schema has, whatever it is about.
    assert_eq!(common, ["code", "id", "is", "kind", "name", "on"]);
}

/// A trace names a variant's schema; its data must be found from the suite as it is embedded.
#[test]
fn a_variant_is_found_by_its_name_alone() {
    let (plain, varied) = (primer(0), primer(3));
    let named = |name: &str| SchemaRef { name: name.to_owned(), version: 1 };
    for name in ["sales~1", "sales~3", "desk~2"] {
        assert!(!plain.schemas().contains(&named(name)));
        assert_eq!(plain.dataset(&named(name), 7).unwrap(), varied.dataset(&named(name), 7).unwrap());
        assert_eq!(plain.engine(&named(name)).unwrap(), varied.engine(&named(name)).unwrap());
    }
    assert_ne!(plain.dataset(&named("sales~1"), 7).unwrap(), plain.dataset(&named("sales"), 7).unwrap());
    // What is no number, is written in another way, or is a variant of what is not trained on, is unknown.
    for name in ["sales~0", "sales~01", "sales~+1", "sales~x", "sales~1~1", "nothing~1", "fleet~1000"] {
        let fault = plain.dataset(&named(name), 7).unwrap_err().to_string();
        assert!(fault.contains(name), "{name}: {fault}");
    }
}
