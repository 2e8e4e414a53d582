//! The grammar: what the oracle does is lawful, what the contract hides cannot be named, and
//! whatever the grammar lets through is a call with SQL that parses.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use tribunal_dialogue::{Codec, Grammar, GrammarError, Lexicon, Piece, Renderer, State, Style, parse};
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::Action;

/// The tokens of a call, its end token included.
fn tokens(codec: &Codec, tools: &[ToolSpec], action: &Action) -> Vec<u32> {
    codec.encode(&Renderer::new(codec.style()).call(tools, action)).unwrap()
}

/// Takes all tokens; where one is refused, the text up to it.
fn run(grammar: &Grammar, codec: &Codec, tokens: &[u32]) -> Result<State, String> {
    let mut state = grammar.start();
    for (index, token) in tokens.iter().enumerate() {
        if let Err(fault) = state.accept(*token) {
            let done = String::from_utf8_lossy(&codec.decode(&tokens[..index])).into_owned();
            let here = String::from_utf8_lossy(&codec.decode(&[*token])).into_owned();
            return Err(format!("{fault}: `{done}` then `{here}`; forced {:?}", state.forced()));
        }
    }
    Ok(state)
}

fn query(sql: &str) -> Action {
    Action::call("query", serde_json::json!({ "sql": sql }))
}

struct Desk {
    codec: Arc<Codec>,
    tools: Vec<ToolSpec>,
}

impl Desk {
    fn new() -> Desk {
        Desk { codec: common::codec(&common::episodes(), 1024), tools: common::tools("state") }
    }

    fn grammar(&self, lexicon: &Lexicon) -> Grammar {
        Grammar::new(&self.codec, &self.tools, lexicon).unwrap()
    }

    fn takes(&self, grammar: &Grammar, action: &Action) -> Result<State, String> {
        run(grammar, &self.codec, &tokens(&self.codec, &self.tools, action))
    }
}

fn shop() -> Lexicon {
    let mut lexicon = Lexicon::new();
    lexicon.add("orders", ["id", "customer_id", "placed_on", "total"]);
    lexicon.add("customers", ["id", "name", "Full Name"]);
    lexicon
}

#[test]
fn every_call_of_the_oracle_is_lawful() {
    let desk = Desk::new();
    let mut grammars: BTreeMap<(String, Vec<String>), Grammar> = BTreeMap::new();
    let calls = common::oracle_calls();
    assert!(calls.len() > 300, "{}", calls.len());
    for call in calls {
        let key = (call.schema.clone(), call.answer.clone());
        let grammar = grammars.entry(key).or_insert_with(|| desk.grammar(&common::lexicon(&call.schema, &call.answer)));
        let state = desk.takes(grammar, &call.action).unwrap();
        assert!(state.ended());
    }
}

#[test]
fn what_an_analyst_writes_is_lawful() {
    let desk = Desk::new();
    let grammar = desk.grammar(&shop());
    for sql in [
        "SELECT * FROM orders",
        "SELECT DISTINCT o.placed_on FROM orders o ORDER BY o.placed_on DESC LIMIT 10",
        "SELECT c.name AS name, COUNT(*) AS count FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name HAVING COUNT(*) > 3",
        "SELECT customers.name AS name FROM customers WHERE customers.id NOT IN (SELECT customer_id FROM orders)",
        "SELECT o.id FROM orders o WHERE o.total BETWEEN 10 AND 20.5 OR o.total IS NULL",
        "SELECT o.id FROM orders o WHERE (o.total * 2 - 1) / 3 <> -5 AND NOT (o.id = 1 OR o.id = 2)",
        "SELECT c.id FROM customers c WHERE c.name LIKE 'O''Hara%' AND c.name NOT LIKE '%\"x\\%'",
        "SELECT c.\"Full Name\" AS name FROM customers c",
        "SELECT AVG(COALESCE(o.total, 0)) AS average FROM orders o WHERE o.placed_on >= DATE '2025-01-01'",
        "SELECT CASE WHEN o.total > 10 THEN 'big' ELSE 'small' END AS category, COUNT(DISTINCT o.customer_id) AS count FROM orders o GROUP BY o.total",
        "SELECT t.total AS total FROM (SELECT SUM(o.total) AS total FROM orders o) t",
    ] {
        desk.takes(&grammar, &query(sql)).unwrap();
        Parser::parse_sql(&GenericDialect {}, sql).unwrap();
    }
}

#[test]
fn chat_has_the_same_grammar_around_it() {
    let episodes = common::episodes();
    let tools = common::tools("state");
    for tool_call in [true, false] {
        let codec = Arc::new(Codec::from_json(&common::foreign(&episodes, tool_call).to_string()).unwrap());
        let grammar = Grammar::new(&codec, &tools, &shop()).unwrap();
        for action in [
            query("SELECT o.id FROM orders o WHERE o.total > 1"),
            Action::call("issue_refund", serde_json::json!({"source_id": 7, "amount": "1.50", "reason": "a \"b\"\n"})),
            Action::call("submit", serde_json::json!({"columns": ["a", "b"], "rows": [[1, "x"], [2.5, null]]})),
            Action::call("done", serde_json::json!({})),
        ] {
            assert!(run(&grammar, &codec, &tokens(&codec, &tools, &action)).unwrap().ended());
        }
        let hidden = query("SELECT o.secret FROM orders o");
        run(&grammar, &codec, &tokens(&codec, &tools, &hidden)).unwrap_err();
    }
}

#[test]
fn states_go_to_other_threads() {
    fn is_send<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    is_send::<State>();
    is_shared::<Grammar>();
    is_shared::<Codec>();
}

#[test]
fn what_is_no_query_is_refused() {
    let desk = Desk::new();
    let grammar = desk.grammar(&shop());
    for sql in [
        "DELETE FROM orders",
        "SELECT customers.total FROM customers",
        "SELECT o.id FROM orders o; DROP TABLE orders",
        "SELECT o.id FROM orders o -- x",
        "SELECT COUNT(*) FROM orders",
        "SELECT 1 AS one",
        "SELECT o.id  FROM orders o",
        "select o.id from orders o",
        "SELECT o.id FROM orders o WHERE",
        "SELECT RANDOM() AS total FROM orders",
        "SELECT o.id FROM orders o WHERE SUM(o.total) > 1",
        "SELECT SUM(SUM(o.total)) AS total FROM orders o",
        "SELECT o.id FROM orders o GROUP BY o.id, COUNT(*)",
    ] {
        assert!(desk.takes(&grammar, &query(sql)).is_err(), "{sql}");
    }
}

#[test]
fn names_outside_the_lexicon_cannot_be_written() {
    let desk = Desk::new();
    let (without, mut with) = (shop(), shop());
    with.add("secrets", ["password"]);
    with.add("customers", ["email"]);
    let (without, with) = (desk.grammar(&without), desk.grammar(&with));
    for sql in [
        "SELECT c.email FROM customers c",
        "SELECT email FROM customers",
        "SELECT customers.email FROM customers",
        "SELECT c.id FROM customers c WHERE c.email IS NULL",
        "SELECT c.id FROM customers c ORDER BY c.email",
        "SELECT c.id FROM customers c WHERE c.id IN (SELECT s.password FROM secrets s)",
        "SELECT s.id FROM secrets s",
    ] {
        assert!(desk.takes(&without, &query(sql)).is_err(), "{sql}");
        desk.takes(&with, &query(sql)).unwrap();
    }
}

#[test]
fn a_refused_token_changes_nothing() {
    let desk = Desk::new();
    let grammar = desk.grammar(&shop());
    let wanted = tokens(&desk.codec, &desk.tools, &query("SELECT o.id FROM orders o"));
    let mut state = grammar.start();
    for token in &wanted {
        let unlawful = state.mask().unwrap();
        let unlawful = (0..1024).find(|token| !unlawful.allows(*token)).unwrap();
        let before = state.mask().unwrap();
        assert_eq!(state.accept(unlawful), Err(GrammarError::Token { token: unlawful }));
        assert_eq!(state.mask().unwrap(), before);
        state.accept(*token).unwrap();
    }
    assert!(state.ended());
    assert!(matches!(state.mask(), Err(GrammarError::Spent(_))));
    assert!(matches!(state.accept(wanted[0]), Err(GrammarError::Spent(_))));
}

#[test]
fn a_clone_goes_its_own_way() {
    let desk = Desk::new();
    let grammar = desk.grammar(&shop());
    let wanted = tokens(&desk.codec, &desk.tools, &query("SELECT o.id FROM orders o"));
    let mut state = grammar.start();
    for token in &wanted[..4] {
        state.accept(*token).unwrap();
    }
    let mut other = state.clone();
    let mask = state.mask().unwrap();
    for token in &wanted[4..] {
        other.accept(*token).unwrap();
    }
    assert!(other.ended() && !state.ended());
    assert_eq!(state.mask().unwrap(), mask);
}

/// Walks at random; ends the call where that is lawful, one time in two. None where it gets long.
fn walk(grammar: &Grammar, codec: &Codec, mut random: impl FnMut() -> usize) -> Option<Vec<u32>> {
    let mut state = grammar.start();
    for _ in 0..1_500 {
        let mask = state.mask().unwrap();
        let lawful: Vec<u32> = mask.tokens().collect();
        assert_eq!(lawful.len(), mask.count());
        let ends = mask.allows(codec.end()) && random().is_multiple_of(2);
        let token = if ends { codec.end() } else { lawful[random() % lawful.len()] };
        state.accept(token).unwrap();
        if state.ended() {
            return Some(state.tokens().to_vec());
        }
    }
    None
}

#[test]
fn random_walks_end_in_calls_whose_sql_parses() {
    let desk = Desk::new();
    let grammar = desk.grammar(&shop());
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    let (mut ended, mut queries) = (0, 0);
    for _ in 0..300 {
        let Some(tokens) = walk(&grammar, &desk.codec, &mut random) else { continue };
        ended += 1;
        let bytes = desk.codec.decode(&tokens);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let action = parse(Style::Compact, &desk.tools, &bytes).unwrap_or_else(|fault| panic!("{fault}: {text}"));
        // Written again, the same bytes: a trace of a sampled episode renders as it was sampled.
        let again = tribunal_dialogue::render::bytes(&Renderer::new(Style::Compact).call(&desk.tools, &action));
        assert_eq!(again, text);
        let schema = &desk.tools.iter().find(|tool| tool.name == action.tool).unwrap().arguments;
        assert!(jsonschema::is_valid(schema, &action.arguments), "{text}");
        if let Some(sql) = action.arguments.get("sql") {
            let sql = sql.as_str().unwrap();
            Parser::parse_sql(&GenericDialect {}, sql).unwrap_or_else(|fault| panic!("{fault}: {sql}"));
            queries += 1;
        }
    }
    assert!(ended > 280 && queries > 10, "{ended} of 300 ended, {queries} of them queries");
}

#[test]
fn forced_tokens_are_the_codecs_own() {
    let desk = Desk::new();
    let grammar = desk.grammar(&shop());
    let mut forced = 0;
    for action in [query("SELECT o.id FROM orders o"), Action::call("done", serde_json::json!({}))] {
        let wanted = tokens(&desk.codec, &desk.tools, &action);
        let mut state = grammar.start();
        for index in 0..wanted.len() {
            let ahead = state.forced();
            assert!(wanted[index..].starts_with(&ahead), "{ahead:?} at {index}");
            forced += usize::from(!ahead.is_empty());
            state.accept(wanted[index]).unwrap();
        }
    }
    assert!(forced > 0);
}

#[test]
fn free_of_the_grammar_anything_goes_up_to_the_end() {
    let desk = Desk::new();
    let mut state = Grammar::free(&desk.codec).start();
    let text = desk.codec.encode(&[Piece::Text("DROP TABLE x\u{0}".to_owned())]).unwrap();
    for token in text {
        state.accept(token).unwrap();
    }
    // Marks but the end are never the policy's to write.
    let call = desk.codec.mark(tribunal_dialogue::Mark::Call).unwrap();
    assert_eq!(state.accept(call), Err(GrammarError::Token { token: call }));
    state.accept(desk.codec.end()).unwrap();
    assert!(state.ended());
}

#[test]
fn what_has_no_grammar_is_named() {
    let desk = Desk::new();
    let problem = |tools: &[ToolSpec], lexicon: &Lexicon| match Grammar::new(&desk.codec, tools, lexicon) {
        Err(fault) => fault.to_string(),
        Ok(_) => panic!("built"),
    };
    assert_eq!(
        problem(&desk.tools, &Lexicon::new()),
        "grammar of the calls: the lexicon has no tables, or tables without columns"
    );
    // Where no tool takes SQL, none is needed.
    let done: Vec<ToolSpec> = desk.tools.iter().filter(|tool| tool.name == "done").cloned().collect();
    let grammar = Grammar::new(&desk.codec, &done, &Lexicon::new()).unwrap();
    desk.takes(&grammar, &Action::call("done", serde_json::json!({}))).unwrap();
    desk.takes(&grammar, &query("SELECT 1 AS total FROM orders")).unwrap_err();
    let odd = ToolSpec {
        name: "odd".to_owned(),
        description: String::new(),
        arguments: serde_json::json!({"type": "object", "properties": {"x": {"type": "blob"}}}),
    };
    assert_eq!(problem(&[odd], &shop()), "grammar of the calls: tool odd: property x: type `blob` has no grammar");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a schema calls its tables and columns, a query of them parses.
    #[test]
    fn any_name_can_be_asked_for(table in "[a-zA-Z \"_|<é]{1,8}", column in "[a-zA-Z0-9 '\\\\/_-]{1,8}") {
        let codec = CODEC.with(Arc::clone);
        let mut lexicon = Lexicon::new();
        lexicon.add(&table, [column.as_str()]);
        let tools = common::tools("other");
        let grammar = Grammar::new(&codec, &tools, &lexicon).unwrap();
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let plain = |name: &str| {
            let plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
            plain && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        let written = |name: &str| if plain(name) { name.to_owned() } else { quoted(name) };
        let sql = format!("SELECT {} FROM {}", written(&column), written(&table));
        prop_assume!(Parser::parse_sql(&GenericDialect {}, &sql).is_ok());
        let taken = run(&grammar, &codec, &tokens(&codec, &tools, &query(&sql)));
        prop_assert!(taken.is_ok(), "{taken:?}");
    }
}

thread_local! {
    static CODEC: Arc<Codec> = common::codec(&common::episodes(), 600);
}
