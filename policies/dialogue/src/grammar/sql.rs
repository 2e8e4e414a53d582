//! SQL within a JSON string: what an analyst asks, written in one way. One SELECT, keywords in
//! capitals, one blank between words, names from the lexicon alone.
//!
//! Queries nest three deep, expressions in brackets two deep, and every list has its bound, so that a
//! policy that knows nothing ends too. The rules of a depth carry its number: `query0` is the whole
//! statement.

use std::collections::BTreeSet;

use crate::grammar::GrammarError;
use crate::grammar::lark::{Rules, literal};
use crate::lexicon::Lexicon;

/// How deep queries nest.
const QUERIES: usize = 3;
/// How deep expressions nest in brackets, within one query.
const BRACKETS: usize = 2;

// The lexer takes the longest word that fits and never goes back, so no word may be the beginning of
// another one and something else: hence the brackets in these.

/// Functions of one argument that may be DISTINCT; COUNT has a rule of its own.
const AGGREGATES: [&str; 4] = ["SUM(", "AVG(", "MIN(", "MAX("];
/// Functions of one argument.
const FUNCTIONS: [&str; 5] = ["ABS(", "LENGTH(", "LOWER(", "TRIM(", "UPPER("];
/// Functions of two.
const FUNCTIONS_OF_TWO: [&str; 3] = ["COALESCE(", "NULLIF(", "ROUND("];
/// What CAST gives.
const TYPES: [&str; 6] = ["BOOLEAN", "DATE", "DECIMAL", "FLOAT", "INTEGER", "TEXT"];

/// A name that a query gives a table: one letter, so that there are few that stand for nothing.
const SHORT: &str = "[a-z]";

/// Words that are no names unless they are quoted.
const RESERVED: &str = "all and as asc between by case cast cross date desc distinct else end except exists false from full group having if in \
inner intersect is join left like limit natural no not null offset on or order outer right select then to true union using where";

fn is_reserved(word: &str) -> bool {
    RESERVED.split(' ').any(|reserved| reserved == word)
}

/// Adds the rule `sql` and all that it needs.
pub(super) fn rules(rules: &mut Rules, lexicon: &Lexicon) -> Result<(), GrammarError> {
    names(rules, lexicon)?;
    rules.add("STRING", r#"/'([^'"\\|<\x00-\x1f]|''|\\["\\]){0,80}'/"#);
    rules.add("DIGITS", r"/(0|[1-9][0-9]{0,11})(\.[0-9]{1,6})?/");
    rules.add("COUNTED", "/[1-9][0-9]{0,3}/");
    rules.add("COMPARED", r#"" = " | " <> " | " < " | " <= " | " > " | " >= ""#);
    rules.add("TYPE", &any(&TYPES));
    rules.add("AGGREGATE", &any(&AGGREGATES));
    rules.add("FUNCTION", &any(&FUNCTIONS));
    rules.add("FUNCTION_OF_TWO", &any(&FUNCTIONS_OF_TWO));
    rules.add("sql", "query0");
    for depth in 0..QUERIES {
        query(rules, depth);
        for bracket in 0..=BRACKETS {
            for aggregates in [Aggregates::Yes, Aggregates::No] {
                expression(rules, aggregates, depth, bracket);
                condition(rules, aggregates, depth, bracket);
            }
        }
    }
    Ok(())
}

/// Tables, columns and names. A column stands alone or behind an alias or a table.
fn names(rules: &mut Rules, lexicon: &Lexicon) -> Result<(), GrammarError> {
    let written = |names: BTreeSet<&str>| names.into_iter().map(identifier).collect::<Result<Vec<_>, _>>();
    let tables = written(lexicon.tables().collect())?;
    let columns = written(lexicon.columns())?;
    let computed = written(lexicon.computed())?;
    if tables.is_empty() || columns.is_empty() {
        // A grammar needs some word; SQL without tables has none.
        return Err(GrammarError::Build("the lexicon has no tables, or tables without columns".to_owned()));
    }
    let one_of = |names: &[String]| format!("/({})/", names.join("|"));
    rules.add("TABLE", &one_of(&tables));
    rules.add("SHORT", &format!("/{SHORT}/"));
    // What a query gives out is named as the answer wants it, or as a column is: a name that nobody
    // knows would be lost.
    rules.add("ALIAS", &one_of(&[columns.clone(), computed.clone()].concat()));
    let any = [columns.clone(), computed.clone()].concat();
    rules.add("QUALIFIED", &format!("/{}/", qualified(lexicon, &format!(r"{SHORT}\.({})", any.join("|")))?));
    rules.add("BARE", &one_of(&columns));
    let ordering = if computed.is_empty() { columns } else { computed };
    rules.add("COMPUTED", &one_of(&ordering));
    rules.add("column", "QUALIFIED | BARE");
    Ok(())
}

/// Columns behind the table that has them, or (`aliased`) behind a name that the query itself gives: which
/// table that stands for is told only later.
fn qualified(lexicon: &Lexicon, aliased: &str) -> Result<String, GrammarError> {
    let mut forms = vec![aliased.to_owned()];
    for (table, columns) in lexicon.columns_by_table().filter(|(_, columns)| !columns.is_empty()) {
        let columns = columns.iter().map(|column| identifier(column)).collect::<Result<Vec<_>, _>>()?;
        forms.push(format!(r"({})\.({})", identifier(table)?, columns.join("|")));
    }
    Ok(forms.join("|"))
}

/// A name as a regular expression of its bytes in the JSON string: as it is, or quoted where SQL
/// would read it as something else.
fn identifier(name: &str) -> Result<String, GrammarError> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(GrammarError::Build(format!("the name {name:?} cannot be written in SQL")));
    }
    let head = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if head && plain && !is_reserved(name) {
        return Ok(name.to_owned());
    }
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    let json = serde_json::Value::from(quoted).to_string();
    let inner = crate::escape::json(&json[1..json.len() - 1]);
    Ok(inner.chars().map(escaped).collect())
}

/// A character that a regular expression reads as itself.
fn escaped(c: char) -> String {
    if c.is_ascii_punctuation() { format!("\\x{:02x}", u32::from(c)) } else { c.to_string() }
}

fn any(words: &[&str]) -> String {
    words.iter().map(|word| literal(word)).collect::<Vec<_>>().join(" | ")
}

/// Whether an expression may hold aggregates: those of WHERE, ON, GROUP BY and of an aggregate itself
/// may not.
#[derive(Clone, Copy)]
enum Aggregates {
    Yes,
    No,
}

impl Aggregates {
    /// The letter of its rules.
    fn letter(self) -> char {
        match self {
            Aggregates::Yes => 'a',
            Aggregates::No => 'p',
        }
    }
}

/// The rules of a query at a depth.
fn query(rules: &mut Rules, depth: usize) {
    let d = depth;
    rules.add(
        &format!("query{d}"),
        &format!(
            "\"SELECT \" \"DISTINCT \"? (\"*\" | item{d} (\", \" item{d}){{0,15}}) \" FROM \" source{d} join{d}{{0,6}} \
             (\" WHERE \" cond_p{d}_0)? (\" GROUP BY \" expr_p{d}_0 (\", \" expr_p{d}_0){{0,7}})? (\" HAVING \" cond_a{d}_0)? \
             (\" ORDER BY \" order{d} (\", \" order{d}){{0,3}})? (\" LIMIT \" COUNTED)?"
        ),
    );
    // In the outermost query whatever is computed must have a name.
    let unnamed = if depth == 0 { "column" } else { &format!("expr_a{d}_0") };
    rules.add(&format!("item{d}"), &format!("{unnamed} | expr_a{d}_0 \" AS \" ALIAS"));
    let derived = if depth + 1 < QUERIES { &format!(" | nested{} \" \" SHORT", d + 1) } else { "" };
    rules.add(&format!("source{d}"), &format!("TABLE (\" \" SHORT)?{derived}"));
    rules.add(&format!("join{d}"), &format!("(\" JOIN \" | \" LEFT JOIN \") source{d} \" ON \" cond_p{d}_0"));
    rules.add(&format!("order{d}"), &format!("(COMPUTED | expr_a{d}_0) (\" DESC\" | \" ASC\")?"));
    if depth > 0 {
        rules.add(&format!("nested{d}"), &format!("\"(\" \" \"? query{d} \" \"? \")\""));
    }
}

/// The rules of an expression at a depth of queries and of brackets.
fn expression(rules: &mut Rules, aggregates: Aggregates, depth: usize, bracket: usize) {
    let at = format!("_{}{depth}_{bracket}", aggregates.letter());
    rules.add(&format!("expr{at}"), &format!("term{at} ((\" + \" | \" - \") term{at}){{0,3}}"));
    rules.add(&format!("term{at}"), &format!("factor{at} ((\" * \" | \" / \") factor{at}){{0,3}}"));
    rules.add(&format!("factor{at}"), &format!("\"-\"? primary{at}"));
    let mut forms = vec![
        "column".to_owned(),
        "DIGITS".to_owned(),
        "(\"DATE \" | \"TIMESTAMP \")? STRING".to_owned(),
        "\"TRUE\" | \"FALSE\" | \"NULL\"".to_owned(),
    ];
    if let Aggregates::Yes = aggregates {
        forms.extend(aggregate(depth, bracket));
    }
    if bracket < BRACKETS {
        forms.extend(bracketed(aggregates, depth, bracket + 1));
    }
    if depth + 1 < QUERIES {
        forms.push(format!("nested{}", depth + 1));
    }
    rules.add(&format!("primary{at}"), &forms.join(" | "));
}

/// Aggregates, of what holds none itself.
fn aggregate(depth: usize, bracket: usize) -> Vec<String> {
    if bracket == BRACKETS {
        return vec!["\"COUNT(\" \"*\" \")\"".to_owned()];
    }
    let inner = format!("expr_p{depth}_{}", bracket + 1);
    vec![
        format!("\"COUNT(\" (\"*\" | \"DISTINCT \"? {inner}) \")\""),
        format!("AGGREGATE \"DISTINCT \"? {inner} \")\""),
    ]
}

/// What puts expressions of the next depth into brackets.
fn bracketed(aggregates: Aggregates, depth: usize, bracket: usize) -> Vec<String> {
    let at = format!("_{}{depth}_{bracket}", aggregates.letter());
    let (inner, cond) = (format!("expr{at}"), format!("cond{at}"));
    vec![
        format!("FUNCTION {inner} \")\""),
        format!("FUNCTION_OF_TWO {inner} \", \" {inner} \")\""),
        format!("\"CAST(\" {inner} \" AS \" TYPE \")\""),
        format!("\"(\" {inner} \")\""),
        format!("\"CASE\" (\" WHEN \" {cond} \" THEN \" {inner}){{1,15}} (\" ELSE \" {inner})? \" END\""),
    ]
}

/// The rules of a condition.
fn condition(rules: &mut Rules, aggregates: Aggregates, depth: usize, bracket: usize) {
    let letter = aggregates.letter();
    let at = format!("_{letter}{depth}_{bracket}");
    rules.add(&format!("cond{at}"), &format!("and{at} (\" OR \" and{at}){{0,5}}"));
    rules.add(&format!("and{at}"), &format!("not{at} (\" AND \" not{at}){{0,11}}"));
    rules.add(&format!("not{at}"), &format!("\"NOT \"? test{at}"));
    let expr = format!("expr{at}");
    let query = if depth + 1 < QUERIES { &format!(" | \" \"? query{} \" \"?", depth + 1) } else { "" };
    let mut forms = vec![
        format!("{expr} COMPARED {expr}"),
        format!("{expr} (\" IS NULL\" | \" IS NOT NULL\")"),
        format!("{expr} (\" IN (\" | \" NOT IN (\") ({expr} (\", \" {expr}){{0,31}}{query}) \")\""),
        format!("{expr} (\" BETWEEN \" | \" NOT BETWEEN \") {expr} \" AND \" {expr}"),
        format!("{expr} (\" LIKE \" | \" NOT LIKE \") STRING"),
    ];
    if depth + 1 < QUERIES {
        forms.push(format!("\"EXISTS \" nested{}", depth + 1));
    }
    if bracket < BRACKETS {
        forms.push(format!("\"(\" cond_{letter}{depth}_{} \")\"", bracket + 1));
    }
    rules.add(&format!("test{at}"), &forms.join(" | "));
}
