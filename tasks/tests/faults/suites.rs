//! Faults in `suite.toml`, and in what it names.

use super::example::Folder;
use super::{SCHEMA, SUITE, TERMS, fault, with};

#[test]
fn a_folder_without_a_suite() {
    let folder = Folder::new().without(SUITE);
    let path = folder.path("").display().to_string();
    fault(&folder, path.trim_end_matches('/'), &["no suite.toml in it; a suite is a folder with suite.toml, schemas/"]);
}

#[test]
fn a_suite_that_is_no_toml() {
    fault(&with(SUITE, "name = \"shop\"", "name = shop\""), "suite/suite.toml: line 2", &["name"]);
}

#[test]
fn a_suite_with_an_unknown_key() {
    let folder = with(SUITE, "summary =", "sumary =");
    fault(&folder, "suite/suite.toml: line 4", &["unknown field `sumary`", "`summary`"]);
}

#[test]
fn a_suite_without_a_key() {
    let folder = with(SUITE, "version = \"1\"", "");
    fault(&folder, "suite/suite.toml: line 1", &["missing field `version`"]);
}

#[test]
fn a_suite_with_a_key_of_the_wrong_type() {
    let folder = with(SUITE, "version = \"1\"", "version = 1");
    fault(&folder, "suite/suite.toml: line 3, version", &["invalid type: integer `1`, expected a string"]);
}

#[test]
fn a_suite_of_another_format() {
    let folder = with(SUITE, "format = 1", "format = 2");
    fault(&folder, "suite/suite.toml: format: format 1 expected, 2 given", &["another version of tribunal"]);
}

#[test]
fn a_suite_whose_name_is_no_files_name() {
    let folder = with(SUITE, "name = \"shop\"", "name = \"shop/one\"");
    fault(&folder, "suite/suite.toml: name: `shop/one`: letters, digits, `-` and `_` expected", &[]);
}

#[test]
fn a_folder_of_schemas_that_is_not_there() {
    let folder = with(SUITE, "format = 1", "format = 1\nschemas = \"schema\"");
    fault(&folder, "suite/suite.toml: schemas: no folder `schema` beside suite.toml", &["say where it is"]);
}

#[test]
fn a_folder_of_families_that_is_not_there() {
    let folder = with(SUITE, "format = 1", "format = 1\nfamilies = \"../families\"");
    fault(&folder, "suite/suite.toml: families: no folder `../families` beside suite.toml", &["say where it is"]);
}

#[test]
fn a_split_with_a_schema_that_has_no_file() {
    let folder = with(SUITE, "[\"shop-v1\"]", "[\"shop-v1\", \"shop-v2\"]");
    fault(&folder, "suite/suite.toml: splits: schema shop-v2", &["suite/schemas/shop/v2/schema.toml", "write it"]);
}

#[test]
fn a_schema_without_terms() {
    let folder = Folder::new().without(TERMS);
    fault(&folder, "suite/suite.toml: splits: schema shop-v1", &["suite/schemas/shop/v1/terms.toml", "write it"]);
}

#[test]
fn a_split_with_a_schema_that_has_no_version() {
    let folder = with(SUITE, "[\"shop-v1\"]", "[\"shop\"]");
    fault(&folder, "suite/suite.toml: splits: a schema such as `billing-v1` expected, `shop` given", &[]);
}

#[test]
fn a_split_with_a_family_that_has_no_file() {
    let folder = with(SUITE, "[\"order-totals\"]", "[\"order-totals\", \"returns\"]");
    fault(&folder, "suite/suite.toml: splits: family returns", &["suite/families/returns.toml", "take the name out"]);
}

#[test]
fn a_family_that_is_trained_on_and_held_out() {
    let folder = with(SUITE, "[\"order-totals\"]", "[\"order-totals\"]\nnew_families = [\"order-totals\"]");
    let words = "suite/suite.toml: splits: family order-totals stands twice; it is either trained on or held out";
    fault(&folder, words, &[]);
}

#[test]
fn a_schema_that_stands_twice() {
    let folder = with(SUITE, "[\"shop-v1\"]", "[\"shop-v1\", \"shop-v1\"]");
    fault(&folder, "suite/suite.toml: splits: schema shop-v1 stands twice", &["either trained on or held out"]);
}

#[test]
fn a_schema_that_is_held_out_under_another_name_only() {
    let folder = with(SUITE, "[\"shop-v1\"]", "[\"shop-v1\"]\nnew_schemas = [\"store-v1\"]");
    for file in [SCHEMA, TERMS] {
        let text = std::fs::read_to_string(folder.path(file)).unwrap();
        folder.write(&file.replace("shop", "store"), &text);
    }
    let words = ["has the same tables, columns and keys as shop-v1, which is trained on"];
    fault(&folder, "suite/suite.toml: splits: schema store-v1 is held out", &words);
    // With a column of another name it is another schema.
    let other = folder.with("schemas/store/v1/schema.toml", "name = \"email\"", "name = \"mail\"");
    assert_eq!(other.load().unwrap().schemas().len(), 2);
}

#[test]
fn a_quota_of_an_unknown_split() {
    let folder = with(SUITE, "train = 4", "train = 4\nnew_data = 2");
    fault(&folder, "suite/suite.toml: line", &["unknown variant `new_data`", "`new-data`"]);
}

#[test]
fn a_quota_of_a_split_that_nothing_is_held_out_for() {
    let folder = with(SUITE, "train = 4", "train = 4\nnew-family = 2");
    fault(&folder, "suite/suite.toml: quotas.new-family: no schema of the split", &["hold some out, or set it to 0"]);
}
