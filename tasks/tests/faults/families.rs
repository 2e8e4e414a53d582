//! Faults in a family, and those that show when its first task is drafted.

use super::example::Folder;
use super::{FAMILY, TERMS, fault, with};

#[test]
fn a_family_with_an_unknown_key() {
    let folder = with(FAMILY, "[draws]", "[drawn]");
    fault(&folder, "suite/families/order-totals.toml: line", &["unknown field `drawn`", "`draws`"]);
}

#[test]
fn a_family_of_an_unknown_kind() {
    let folder = with(FAMILY, "kind = \"answer\"", "kind = \"question\"");
    fault(&folder, "suite/families/order-totals.toml: line 3, kind", &["unknown variant `question`", "`answer`"]);
}

#[test]
fn a_family_whose_name_is_not_its_files() {
    let folder = with(FAMILY, "name = \"order-totals\"", "name = \"totals\"");
    let words = "suite/families/order-totals.toml: name: `order-totals` expected as in the file's name, `totals` given";
    fault(&folder, words, &[]);
}

#[test]
fn a_family_without_instructions() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(folder.path(FAMILY)).unwrap();
    let (before, rest) = text.split_once("instructions = [").unwrap();
    folder.write(FAMILY, &format!("{before}{}", rest.split_once("]\n").unwrap().1));
    let words = ["a family of kind answer expects at least one"];
    fault(&folder, "suite/families/order-totals.toml: instructions", &words);
}

#[test]
fn a_family_without_a_gold_query() {
    let folder = with(FAMILY, "query = \"\"\"", "solve = \"\"\"");
    fault(&folder, "suite/families/order-totals.toml: query: a family of kind answer expects the gold query", &[]);
}

#[test]
fn a_family_without_an_oracle() {
    let folder = with(FAMILY, "kind = \"answer\"", "kind = \"state\"");
    let words = ["a family of kind state expects the right actions"];
    fault(&folder, "suite/families/order-totals.toml: oracle", &words);
}

#[test]
fn a_family_that_must_abstain_without_what_is_missing() {
    let folder = with(FAMILY, "kind = \"answer\"", "kind = \"impossible\"")
        .and(FAMILY, "[[oracle]]\ntool = \"abstain\"\narguments = { reason = \"\", missing = \"\" }");
    let words = ["a family of kind impossible expects words for what is missing"];
    fault(&folder, "suite/families/order-totals.toml: missing", &words);
}

#[test]
fn a_family_that_must_ask_without_a_question() {
    let folder = with(FAMILY, "kind = \"answer\"", "kind = \"clarify\"");
    let words = ["a family of kind clarify expects what must be asked, and the reply"];
    fault(&folder, "suite/families/order-totals.toml: clarify", &words);
}

#[test]
fn a_family_that_must_recover_from_nothing() {
    let folder = with(FAMILY, "kind = \"answer\"", "kind = \"recover\"");
    let words = ["a family of kind recover expects at least one that the host plays"];
    fault(&folder, "suite/families/order-totals.toml: failures", &words);
}

#[test]
fn a_family_that_changes_what_no_ledger_keeps() {
    let folder = with(FAMILY, "kind = \"answer\"", "kind = \"state\"").and(FAMILY, "[[oracle]]\ntool = \"done\"");
    let words = ["settings of tool-ledger expected: family order-totals changes the database"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: ledger", &words);
}

#[test]
fn a_family_like_one_that_is_not_there() {
    let folder = with(FAMILY, "kind = \"answer\"", "kind = \"answer\"\nlike = \"totals\"");
    let words = ["family totals: there is no file suite/families/totals.toml"];
    fault(&folder, "suite/families/order-totals.toml: like", &words);
}

#[test]
fn an_order_by_a_column_that_is_not_there() {
    let folder = with(FAMILY, "[parts]", "[compare]\norder = [-3]\n\n[parts]");
    let words = ["-3: a column's place expected, 1 to 2, negative where descending"];
    fault(&folder, "suite/families/order-totals.toml: compare.order", &words);
}

#[test]
fn a_mutant_that_is_the_right_way() {
    let folder = with(FAMILY, "with = { measure = \"MAX({{ amount }})\" }", "");
    let words = ["`with` (other terms or parts), `query` or `actions` expected"];
    fault(&folder, "suite/families/order-totals.toml: mutant not-added-up", &words);
}

#[test]
fn too_few_mutants() {
    let folder = with(FAMILY, "fault = \"not-added-up\"", "fault = \"not-added-up\"\nneeds = [\"line\"]");
    let words = ["at least 3 mutants expected, 2 can be shown with these terms"];
    fault(&folder, "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city", &words);
}

/// What only shows when a template is filled shows when the first task is drafted.
#[test]
fn a_template_with_a_name_that_is_not_there() {
    let suite = with(FAMILY, "per {{ group.one }} in", "per {{ group.single }} in").load().unwrap();
    let fault = suite.drafts(&suite.quotas(), 1).unwrap_err().to_string();
    let begins = "suite/schemas/shop/v1/terms.toml: carry order-totals/by-city (task shop-v1.order-totals.0001)";
    assert!(fault.starts_with(begins), "{fault}");
    assert!(fault.contains("group.single"), "{fault}");
}

/// A parameter that cannot be drawn is told from a fault: other data may have it.
#[test]
fn a_draw_that_finds_nothing() {
    let none = "[carry.draws]\ncity = { value = { table = \"customers\", column = \"city\", at_least = 99 } }";
    let suite = Folder::new().and(TERMS, none).load().unwrap();
    let fault = suite.drafts(&suite.quotas(), 1).unwrap_err().to_string();
    for words in
        ["no fitting parameters in 24 tries", "draw city", "no value of customers.city stands in every instance"]
    {
        assert!(fault.contains(words), "{words}: {fault}");
    }
}
