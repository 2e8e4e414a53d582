//! Faults in `schema.toml`.

use super::example::Folder;
use super::{SCHEMA, fault, with};

#[test]
fn a_schema_with_an_unknown_key() {
    let folder = with(SCHEMA, "title =", "titel =");
    fault(&folder, "suite/schemas/shop/v1/schema.toml: line 2", &["unknown field `titel`", "`title`"]);
}

#[test]
fn a_column_with_a_key_of_the_wrong_type() {
    let folder = with(SCHEMA, "private = true", "private = \"yes\"");
    let words = ["invalid type: string \"yes\", expected a boolean"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: line 12, private", &words);
}

#[test]
fn a_make_that_there_is_none_of() {
    let folder = with(SCHEMA, "make = { date =", "make = { day =");
    fault(&folder, "suite/schemas/shop/v1/schema.toml: line", &["unknown variant `day`", "`date`"]);
}

#[test]
fn a_clock_that_is_no_day() {
    let folder = with(SCHEMA, "2026-01-15", "2026-01-32");
    fault(&folder, "suite/schemas/shop/v1/schema.toml: clock: date expected, `2026-01-32` given", &[]);
}

#[test]
fn two_tables_of_one_name() {
    // The engines ignore case.
    let folder = with(SCHEMA, "name = \"orders\"", "name = \"Customers\"");
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table: `Customers` stands twice; rename one", &[]);
}

#[test]
fn a_table_of_the_name_that_metrics_have() {
    let folder = with(SCHEMA, "name = \"orders\"", "name = \"metric_definitions\"");
    let words = ["made of the [[metric]] entries; rename it"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table metric_definitions", &words);
}

#[test]
fn two_columns_of_one_name() {
    let folder = with(SCHEMA, "name = \"city\"", "name = \"Email\"");
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table customers, columns: `Email` stands twice", &["rename"]);
}

#[test]
fn a_column_without_a_kind_of_its_own() {
    let folder = with(SCHEMA, "name = \"is_test\", kind = \"boolean\"", "name = \"is_test\", kind = \"unknown\"");
    let words = ["boolean, integer, float, decimal, text, date or timestamp"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table customers, column is_test, kind", &words);
}

#[test]
fn a_key_of_a_column_that_is_not_there() {
    let folder = with(SCHEMA, "key = [\"id\"]\nreferences", "key = [\"no\"]\nreferences");
    let words = ["no column `no` in table orders; there are: id, customer_id, placed_on, total"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table orders, key", &words);
}

#[test]
fn a_reference_to_a_table_that_is_not_there() {
    let folder = with(SCHEMA, "\"customers.id\"", "\"clients.id\"");
    let words = ["no table `clients`; there are: customers, orders"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table orders, references", &words);
}

#[test]
fn a_reference_to_a_column_that_is_not_there() {
    let folder = with(SCHEMA, "\"customers.id\"", "\"customers.number\"");
    let words = ["no column `number` in table customers"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table orders, references", &words);
}

#[test]
fn rows_for_each_row_of_a_later_table() {
    let folder = with(SCHEMA, "per = { table = \"customers\"", "per = { table = \"orders\"");
    let words = ["no earlier table `orders`; a table refers only to those before it"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table orders, rows", &words);
}

#[test]
fn a_make_of_another_kind_than_its_column() {
    let folder = with(SCHEMA, "make = { value = false }", "make = { value = \"no\" }");
    let words = ["boolean expected, `\"no\"` given"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table customers, column is_test", &words);
}

#[test]
fn a_list_of_words_that_is_not_there() {
    let folder = with(
        SCHEMA,
        "make = { pick = { of = [\"Lyon\", \"Oslo\", \"Porto\"] } }",
        "make = { name = { lists = [\"cities\"] } }",
    );
    let words = ["no list `cities` in lists.toml; there are:"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table customers, column city", &words);
}

#[test]
fn an_alteration_of_a_column_that_is_not_there() {
    let folder = with(SCHEMA, "set = { is_test =", "set = { is_tset =");
    let words = ["no column `is_tset` in table customers; there are:"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table customers, alter 1", &words);
}

#[test]
fn rows_that_break_their_own_key() {
    let folder = with(SCHEMA, "make = { serial = { start = [5000, 9000] } }", "make = { value = 1 }");
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table orders, rows: key id repeats 1", &[]);
}

#[test]
fn rows_with_null_where_none_may_be() {
    let folder = with(SCHEMA, "nullable = true, description = \"amount", "description = \"amount");
    let words = ["column total is NULL but not nullable"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: table orders, rows", &words);
}

#[test]
fn a_trap_in_a_column_that_is_not_there() {
    let folder = with(SCHEMA, "where = { is_test = true }\nat_least", "where = { test = true }\nat_least");
    let words = ["no column `test` in table customers"];
    fault(&folder, "suite/schemas/shop/v1/schema.toml: trap Internal of customers", &words);
}

#[test]
fn a_metric_that_stands_twice() {
    let folder = Folder::new().and(
        SCHEMA,
        "[[metric]]\nname = \"sales\"\nmeaning = \"\"\ngrain = \"\"\npopulation = \"\"\ntime_window = \"\"\nunit = \"\"",
    );
    fault(&folder, "suite/schemas/shop/v1/schema.toml: metric: `sales` stands twice; rename one", &[]);
}
