//! Faults in `terms.toml`, the map from a family's words to a schema's.

use super::example::Folder;
use super::{TERMS, fault, with};

#[test]
fn terms_with_an_unknown_key() {
    let folder = with(TERMS, "metric = \"sales\"", "metrics = \"sales\"");
    fault(&folder, "suite/schemas/shop/v1/terms.toml: line", &["unknown field `metrics`", "`metric`"]);
}

#[test]
fn a_window_that_is_no_day() {
    let folder = with(TERMS, "2025-01-01", "January");
    let words = ["a date such as 2025-01-01 expected, `January` given"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: window", &words);
}

#[test]
fn a_window_that_ends_before_it_begins() {
    let folder = with(TERMS, "2026-01-01", "2024-01-01");
    fault(&folder, "suite/schemas/shop/v1/terms.toml: window: 2025-01-01 must lie before 2024-01-01", &[]);
}

#[test]
fn a_carry_of_a_family_that_is_not_there() {
    let folder = with(TERMS, "family = \"order-totals\"", "family = \"order-total\"");
    let words = ["no family `order-total`; there are: order-totals"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-total/by-city, family", &words);
}

#[test]
fn a_carry_that_stands_twice() {
    let folder = Folder::new().and(TERMS, "[[carry]]\nfamily = \"order-totals\"\nname = \"by-city\"");
    let words = ["stands twice; give one of them another name"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city", &words);
}

#[test]
fn a_base_that_is_not_there() {
    let folder = with(TERMS, "metric = \"sales\"", "metric = \"sales\"\nbase = [\"orders\"]");
    let words = ["no [base.orders]; there are:"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city", &words);
}

#[test]
fn a_term_that_the_family_needs() {
    let folder = with(TERMS, "amount = \"o.total\"", "");
    let words = ["term `amount` expected: SQL of its amount"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city", &words);
}

#[test]
fn a_carry_that_reads_a_table_that_is_not_there() {
    let folder = with(TERMS, "[\"customers\", \"orders\"]", "[\"customers\", \"order\"]");
    let words = ["no table `order`; there are: customers, orders"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city, tables", &words);
}

#[test]
fn a_metric_that_is_not_there() {
    let folder = with(TERMS, "metric = \"sales\"", "metric = \"revenue\"");
    let words = ["no [[metric]] `revenue` in the schema; there are: sales"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city, metric", &words);
}

#[test]
fn a_write_to_a_column_that_is_not_there() {
    let folder = Folder::new().and(TERMS, "[carry.write.orders]\nverbs = [\"update\"]\ncolumns = [\"state\"]");
    let words = ["no column `state` in table orders"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city, write", &words);
}

#[test]
fn a_write_with_a_verb_that_there_is_none_of() {
    let folder = Folder::new().and(TERMS, "[carry.write.orders]\nverbs = [\"upsert\"]\ncolumns = [\"total\"]");
    let words = ["no verb `upsert`; there are: insert, update, delete"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city, write: table orders", &words);
}

#[test]
fn a_column_to_reveal_that_is_not_there() {
    let folder = with(TERMS, "metric = \"sales\"", "metric = \"sales\"\nreveal = [\"customers.mail\"]");
    let words = ["no column `mail` in table customers"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city, reveal", &words);
}

#[test]
fn a_column_to_hide_without_its_table() {
    let folder = with(TERMS, "metric = \"sales\"", "metric = \"sales\"\nhide = [\"email\"]");
    let words = ["a `table.column` expected, `email` given"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city, hide", &words);
}

#[test]
fn a_draw_from_a_column_that_is_not_there() {
    let folder =
        Folder::new().and(TERMS, "[carry.draws]\ncity = { value = { table = \"customers\", column = \"town\" } }");
    let words = ["no column `town` in table customers"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city, draw city", &words);
}

#[test]
fn a_draw_of_rows_through_a_join_that_is_not_there() {
    let rows =
        "table = \"orders\"\njoins = [{ as = \"buyer\", table = \"customers\", on = [\"customer_id\", \"id\"] }]\n";
    let draw = |label: &str| format!("[carry.draws.subject.row]\n{rows}label = \"{label}\"");
    let folder = Folder::new().and(TERMS, &draw("customer.city"));
    let words = ["`customer.city`: no join as `customer`; there are: buyer"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city, draw subject", &words);
    assert!(Folder::new().and(TERMS, &draw("buyer.city")).load().is_ok());
}
