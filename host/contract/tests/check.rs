//! A request against a grant: every refusal with the line that would allow it, and once that line
//! is written, none.
#![expect(clippy::unwrap_used, reason = "tests")]

use tribunal_contract::{Budget, Check, Contract, Holder, check};
use tribunal_protocol::Kind;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::schema::{ColumnSchema, TableSchema};

const REQUEST: &str = r#"
    [contract]
    name = "tool"
    [[read]]
    table = "invoices"
    columns = ["id", "total", "note"]
    [[write]]
    table = "refunds"
    verbs = ["insert", "delete"]
    columns = ["amount"]
    [budget]
    statements = 50
"#;

const GRANT: &str = r#"
    [contract]
    name = "task"
    [[read]]
    table = "invoices"
    columns = ["id", "total"]
    rows = "voided = FALSE"
    [[read]]
    table = "refunds"
    columns = ["id"]
    [[write]]
    table = "refunds"
    verbs = ["insert"]
    columns = ["amount", "invoice_id"]
    [budget]
    statements = 40
"#;

fn schemas() -> Vec<TableSchema> {
    let table = |name: &str, columns: &[(&str, Kind)]| {
        let columns = columns.iter().map(|(name, kind)| ColumnSchema::new(*name, *kind, true)).collect();
        TableSchema::new(name, columns, &["id"])
    };
    let invoices = [("id", Kind::Integer), ("total", Kind::Decimal), ("voided", Kind::Boolean), ("note", Kind::Text)];
    let refunds = [("id", Kind::Integer), ("invoice_id", Kind::Integer), ("amount", Kind::Decimal)];
    vec![table("invoices", &invoices), table("refunds", &refunds)]
}

fn checked(request: &str, grant: &str, holder: Holder) -> Check {
    let (request, grant) = (Contract::parse(request).unwrap(), Contract::parse(grant).unwrap());
    check(&request, &grant, holder, &Budget::most(&Limits::default()), &schemas()).unwrap()
}

fn told(check: &Check) -> Vec<String> {
    check
        .refusals
        .iter()
        .map(|refusal| format!("{} | {} | {}", refusal.what, refusal.granted, refusal.remedy))
        .collect()
}

#[test]
fn every_refusal_names_what_is_granted_and_the_line_that_would_allow_it() {
    let check = checked(REQUEST, GRANT, Holder::Tool);
    let invoices = "read id, total where voided = FALSE";
    let expected = [
        format!(
            "read of invoices.note | {invoices} | to allow it, add \"note\" to `columns` of [[read]] table = \"invoices\""
        ),
        "read of all rows of invoices | rows where voided = FALSE | to reach more rows, widen `rows` of [[read]] \
         table = \"invoices\""
            .to_owned(),
        // Something is granted of refunds, and nothing of what is requested reads it.
        "delete of refunds | no delete of refunds | to allow it, add [[write]] table = \"refunds\" verbs = \
         [\"delete\"]"
            .to_owned(),
        "statements = 50 | 40 | to allow it, write statements = 50 under [budget]".to_owned(),
    ];
    assert_eq!(told(&check), expected);
    assert!(check.digest.is_some());
    let lines: Vec<String> = check
        .access
        .iter()
        .map(|access| {
            let shown = |reach: &Option<tribunal_contract::Reach>| {
                reach.as_ref().map_or("nothing".to_owned(), tribunal_contract::Reach::to_line)
            };
            let parts = [shown(&access.requested), shown(&access.granted), shown(&access.effective)];
            format!("{} {}: {}", access.table, access.verb.name(), parts.join(" / "))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "invoices read: id, total, note / id, total where voided = FALSE / id, total where voided = FALSE",
            "refunds read: nothing / id / nothing",
            "refunds insert: amount / invoice_id, amount / amount",
            "refunds delete:  / nothing / nothing",
        ]
    );
}

/// The twin: with those lines written, the same request is granted whole.
#[test]
fn what_the_lines_say_allows_it() {
    let grant = GRANT
        .replace("[\"id\", \"total\"]\n    rows = \"voided = FALSE\"", "[\"id\", \"total\", \"note\"]")
        .replace("statements = 40", "statements = 50")
        + "[[write]]\ntable = \"refunds\"\nverbs = [\"delete\"]\n";
    let check = checked(REQUEST, &grant, Holder::Tool);
    let delete = "delete needs rows that can be seen: request and grant a column of refunds under [[read]]";
    assert_eq!(check.refusals.iter().map(|refusal| refusal.remedy.as_str()).collect::<Vec<_>>()[..1], [delete]);
    assert_eq!(check.digest, None, "no session opens under it");
    let seen = "[[read]]\ntable = \"refunds\"\ncolumns = [\"id\"]\n[budget]";
    let request = REQUEST.replace("[budget]", seen);
    let check = checked(&request, &grant, Holder::Tool);
    assert_eq!(told(&check), [""; 0]);
    let both = Contract::parse(&request).unwrap().intersect(&Contract::parse(&grant).unwrap());
    let opened = Budget::most(&Limits::default());
    let opened = Contract { budget: both.budget.intersect(&opened), ..both };
    assert_eq!(check.digest, Some(opened.resolve(&schemas()).unwrap().digest()));
}

#[test]
fn a_request_that_is_narrower_is_granted() {
    let request = "[contract]\nname = \"t\"\n[[read]]\ntable = \"invoices\"\ncolumns = [\"id\"]\n\
                   rows = \"id > 5 AND voided = FALSE\"\n";
    assert_eq!(told(&checked(request, GRANT, Holder::Tool)), [""; 0]);
    let wider = request.replace(" AND voided = FALSE", "");
    let refusals = told(&checked(&wider, GRANT, Holder::Tool));
    assert_eq!(refusals.len(), 1);
    assert!(
        refusals[0].starts_with("read of all rows where id > 5 of invoices | rows where id > 5 AND"),
        "{refusals:?}"
    );
}

#[test]
fn the_star_is_every_table_and_its_entry_is_named() {
    let all = "[contract]\nname = \"t\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";
    assert_eq!(told(&checked(all, all, Holder::Tool)), [""; 0]);
    let keys = "[contract]\nname = \"g\"\n[[read]]\ntable = \"*\"\ncolumns = [\"id\"]\n";
    let named = keys.replace("\"id\"", "\"id\", \"amount\"").replace('*', "refunds");
    let refusals = told(&checked(&named, keys, Holder::Tool));
    assert_eq!(refusals.len(), 1);
    assert!(refusals[0].ends_with("add \"amount\" to `columns` of [[read]] table = \"*\""), "{refusals:?}");
}

/// `*` asks for what is granted: fewer columns, fewer rows and tables of which nothing is granted are
/// no refusals. A name that the grant lacks is one.
#[test]
fn a_star_asks_for_what_is_granted_and_a_name_for_itself() {
    let all = "[contract]\nname = \"t\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";
    let narrow = "[contract]\nname = \"g\"\n[[read]]\ntable = \"invoices\"\ncolumns = [\"id\"]\nrows = \"id > 5\"\n";
    let check = checked(all, narrow, Holder::Tool);
    assert_eq!(told(&check), [""; 0]);
    assert!(check.digest.is_some());
    let open: Vec<_> = check.access.iter().map(|access| (access.table.as_str(), access.open.table)).collect();
    assert_eq!(open, [("invoices", true), ("refunds", true)]);
    assert_eq!(check.access[0].effective.as_ref().unwrap().to_line(), "id where id > 5");
    assert_eq!(check.access[1].effective, None);
    // The table is named and its columns are not.
    let columns = all.replace("table = \"*\"", "table = \"invoices\"");
    let all_rows = narrow.replace("\nrows = \"id > 5\"", "");
    assert_eq!(told(&checked(&columns, &all_rows, Holder::Tool)), [""; 0]);
    assert_eq!(told(&checked(&columns, narrow, Holder::Tool)).len(), 1, "all rows are asked for");
    let none = narrow.replace("invoices", "refunds");
    let refusals = told(&checked(&columns, &none, Holder::Tool));
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(
        refusals[0].starts_with("read of invoices | no read of invoices | to allow it, add [[read]]"),
        "{refusals:?}"
    );
    // The columns are named and the table is not.
    let named = all.replace("columns = [\"*\"]", "columns = [\"id\", \"total\"]");
    assert_eq!(told(&checked(&named, narrow, Holder::Tool)).len(), 1);
    assert!(told(&checked(&named, narrow, Holder::Tool))[0].starts_with("read of invoices.total | "));
    // Writes by the star: a tool gets what is granted; UPDATE still needs rows to see, and a verifier never writes.
    let write = "[contract]\nname = \"t\"\n[[write]]\ntable = \"*\"\nverbs = [\"insert\"]\ncolumns = [\"*\"]\n";
    assert_eq!(told(&checked(write, narrow, Holder::Tool)), [""; 0]);
    assert_eq!(told(&checked(write, narrow, Holder::Verifier)).len(), 2);
    let update = write.replace("insert", "update");
    let granted = format!("{narrow}[[write]]\ntable = \"invoices\"\nverbs = [\"update\"]\ncolumns = [\"note\"]\n");
    let refusals = told(&checked(&update, &granted, Holder::Tool));
    // That, and that no session opens under what remains.
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    assert!(refusals[0].contains("update needs rows that can be seen"), "{refusals:?}");
}

#[test]
fn what_is_not_there_is_corrected_in_the_request() {
    let request = "[contract]\nname = \"t\"\n[[read]]\ntable = \"invoises\"\ncolumns = [\"id\"]\n\
                   [[read]]\ntable = \"invoices\"\ncolumns = [\"id\", \"totl\"]\n";
    let grant = "[contract]\nname = \"g\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";
    let refusals = told(&checked(request, grant, Holder::Tool));
    assert_eq!(refusals.len(), 3, "{refusals:?}");
    assert!(
        refusals[0].starts_with("read of invoices.totl | no such thing | correct the request: invoices has total, ")
    );
    assert!(
        refusals[1].starts_with("read of invoises | no such thing | correct the request: the database has invoices")
    );
    assert!(refusals[2].starts_with("the contract as a whole | it cannot be used | "));
    let wrong = Contract::parse(&grant.replace('*', "nothing")).unwrap();
    let request = Contract::parse(request).unwrap();
    let refused = check(&request, &wrong, Holder::Tool, &Budget::default(), &schemas()).unwrap_err();
    assert!(refused.to_string().contains("no such table"), "{refused}");
}

#[test]
fn a_verifier_reads_and_no_grant_changes_that() {
    let insert = "[contract]\nname = \"v\"\n[[write]]\ntable = \"refunds\"\nverbs = [\"insert\"]\ncolumns = [\"*\"]\n";
    let refusals = told(&checked(insert, insert, Holder::Verifier));
    assert_eq!(refusals.len(), 1);
    assert!(refusals[0].ends_with("a verifier reads alone; no grant lets it write"), "{refusals:?}");
    assert_eq!(told(&checked(insert, insert, Holder::Tool)), [""; 0]);
}

#[test]
fn no_budget_is_wider_than_the_limits() {
    let request = "[contract]\nname = \"t\"\n[budget]\nrows_written = 1_000_000\n";
    let refusals = told(&checked(request, request, Holder::Tool));
    assert_eq!(refusals, ["rows_written = 1000000 | 10000 | this is the limit of every plugin; no contract widens it"]);
    let within = request.replace("1_000_000", "10_000");
    assert_eq!(told(&checked(&within, &within, Holder::Tool)), [""; 0]);
}
