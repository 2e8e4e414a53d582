//! A tool that does what the conformance suite asks of every language.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value as Json;
use tribunal_kit::{
    Cells, Code, Column, Database as _, Description, Failure, Host, Output, Table, Texts, Tool, Value,
};

/// The plugin.
#[derive(Debug)]
pub struct Plugin;

const CONTRACT: &str = r#"
[contract]
name = "tool-conform"
[[read]]
table = "*"
columns = ["*"]
[[write]]
table = "*"
verbs = ["insert", "update", "delete"]
columns = ["*"]
"#;
const ARGUMENTS: &str = r#"{
    "type": "object",
    "required": ["do"],
    "properties": {"do": {"type": "string"}, "sql": {"type": "string"}}
}"#;

static CALLS: AtomicU32 = AtomicU32::new(0);

impl Tool for Plugin {
    fn describe() -> Description {
        Description::new("tool-conform", "1.0.0").tool("act", "Does one thing.", ARGUMENTS).contract(CONTRACT)
    }

    fn call<H: Host>(host: &H, _name: &str, arguments: &str) -> Result<Output, Failure> {
        let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        let arguments: Json = serde_json::from_str(arguments).expect("the host has checked them");
        let sql = arguments["sql"].as_str().unwrap_or_default();
        match arguments["do"].as_str().unwrap_or_default() {
            "query" => Ok(Output::table(host.open("agent")?.query(sql, &[])?)),
            "change" => Ok(words(&host.open("agent")?.change(sql, &[])?.to_string())),
            "parameters" => parameters(host),
            "made" => Ok(Output { text: "made".to_owned(), table: Some(made()) }),
            "role" => host.open("last").map(|_| words("opened")),
            "refuse" => Err(Failure::new(Code::Invalid, "not like this: ünmöglich")),
            "state" => Ok(words(&calls.to_string())),
            "shout" => {
                for line in 0..5_000 {
                    host.log(&format!("line {line} is written to standard output"));
                }
                host.log("and this to standard error");
                Ok(words("done"))
            }
            "broken" => Ok(words(arguments["no such key"].as_str().unwrap())),
            "spin" => spin(),
            "grow" => grow(),
            other => panic!("nothing is called {other}"),
        }
    }
}

tribunal_kit::tool!(Plugin);

fn words(text: &str) -> Output {
    Output { text: text.to_owned(), table: None }
}

fn parameters<H: Host>(host: &H) -> Result<Output, Failure> {
    let given = [
        Value::Null,
        Value::Boolean(true),
        Value::Integer(42),
        Value::Float(-0.5),
        Value::Decimal("12.50".to_owned()),
        Value::Text("naïve 日本 😀".to_owned()),
        Value::Date(20_269),
        Value::Timestamp(1_751_286_896_000_001),
    ];
    let sql =
        "UPDATE kinds SET flag = $2, number = $3, ratio = $4, amount = $5, word = $6, day = $7, at = $8, nothing = $1";
    let session = host.open("agent")?;
    session.change(&format!("{sql} WHERE id = 1"), &given)?;
    Ok(Output::table(session.query("SELECT * FROM kinds WHERE id = 1", &[])?))
}

/// Two rows of every kind, the second one NULL.
fn made() -> Table {
    let of = |name: &str, cells: Cells| Column { name: name.to_owned(), nulls: vec![0b10], cells };
    let texts = |text: &str| Texts::from_iter([text, ""]);
    let columns = vec![
        of("flag", Cells::Booleans(vec![true, false])),
        of("number", Cells::Integers(vec![-7, 0])),
        of("ratio", Cells::Floats(vec![0.25, 0.0])),
        of("amount", Cells::Decimals(texts("100"))),
        of("word", Cells::Texts(texts("é\n\""))),
        of("day", Cells::Dates(vec![-1, 0])),
        of("at", Cells::Timestamps(vec![-1, 0])),
        Column { name: "nothing".to_owned(), nulls: Vec::new(), cells: Cells::Unknown },
    ];
    Table::new(2, columns)
}

fn spin() -> ! {
    loop {
        std::hint::black_box(CALLS.load(Ordering::Relaxed));
    }
}

fn grow() -> ! {
    let mut held = Vec::new();
    loop {
        held.push(vec![1_u8; 1 << 20]);
        std::hint::black_box(&held);
    }
}
