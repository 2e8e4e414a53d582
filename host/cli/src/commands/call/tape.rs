//! Host calls on tape: written down while a plugin runs on data, and given again without any.
//!
//! A tape is JSON Lines: a head, then one host call a line, with what the plugin asked, what it
//! was given, and what the session had used by then.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::PluginKind;
use tribunal_protocol::session::{TableChanges, TableInfo};
use tribunal_protocol::table::Table;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Value;

use super::file::{ChangesFile, TableFile};

/// The version of the format; a reader refuses a newer one.
pub const FORMAT: u32 = 1;
/// How much of a statement is shown.
const SHOWN: usize = 200;

/// What the host calls on a tape belong to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The version of the format.
    pub tape: u32,
    /// The plugin, by its own name.
    pub plugin: String,
    /// Its kind.
    pub kind: PluginKind,
    /// The limits that held, budgets of the contract included.
    pub limits: Limits,
    /// The date of the data, in days since 1970-01-01: what a clock showed, where a stand-in was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<i32>,
}

/// What a plugin asks of its host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// `tables`, `query`, `change` or `changes`.
    pub call: String,
    /// The role of the session; none for `changes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// Its parameters, each as `{kind: value}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Json>,
}

impl Asked {
    /// A call of a session.
    pub fn session(call: &str, role: &str, sql: Option<&str>, parameters: &[Value]) -> Asked {
        let parameter = |value: &Value| match value {
            Value::Null => Json::Null,
            other => json!({other.kind().name(): other.to_json()}),
        };
        Asked {
            call: call.to_owned(),
            role: Some(role.to_owned()),
            sql: sql.map(str::to_owned),
            parameters: parameters.iter().map(parameter).collect(),
        }
    }

    /// The call for what differs between two states.
    pub fn changes() -> Asked {
        Asked { call: "changes".to_owned(), role: None, sql: None, parameters: Vec::new() }
    }

    fn shown(&self) -> String {
        let role = self.role.as_deref().map_or(String::new(), |role| format!(" of {role}"));
        let sql = self.sql.as_deref().map_or(String::new(), |sql| {
            let cut: String = sql.chars().take(SHOWN).collect();
            format!(" {cut:?}")
        });
        let with = match self.parameters.as_slice() {
            [] => String::new(),
            some => format!(" with {}", Json::Array(some.to_vec())),
        };
        format!("{}{role}{sql}{with}", self.call)
    }
}

/// What a host call gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Gave {
    /// To `query`.
    Table(Table),
    /// To `tables`.
    Tables(Vec<TableFile>),
    /// To `change`: how many rows it touched.
    Rows(u64),
    /// To `changes`.
    Changes(Vec<ChangesFile>),
    /// Why it did not happen.
    Failure(Failure),
}

/// One host call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCall {
    /// What was asked.
    pub asked: Asked,
    /// What was given.
    pub gave: Gave,
    /// What the session had used by then.
    #[serde(default)]
    pub used: Usage,
}

/// Host calls in order, while they are written down or given again.
#[derive(Debug, Default)]
struct Reel {
    calls: Vec<HostCall>,
    next: usize,
    difference: Option<String>,
    date: Option<i32>,
}

/// A tape that several sessions share.
#[derive(Clone, Debug, Default)]
pub struct Tape(Arc<Mutex<Reel>>);

impl Tape {
    /// A tape with these calls on it, at its beginning, and the date that they were made at.
    pub fn of(calls: &[HostCall], date: Option<i32>) -> Tape {
        Tape(Arc::new(Mutex::new(Reel { calls: calls.to_vec(), date, ..Reel::default() })))
    }

    /// The date of the data.
    pub fn date(&self) -> Option<i32> {
        self.reel().date
    }

    /// Writes the date of the data down.
    pub fn dated(&self, date: Option<i32>) {
        self.reel().date = date;
    }

    fn reel(&self) -> MutexGuard<'_, Reel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a call down.
    pub fn add(&self, asked: Asked, gave: Gave, used: Usage) {
        self.reel().calls.push(HostCall { asked, gave, used });
    }

    /// Gives again what this call was given; a failure where another call, or none, was recorded
    /// in its place.
    pub fn play(&self, asked: &Asked) -> (Gave, Option<Usage>) {
        let mut reel = self.reel();
        let number = reel.next + 1;
        if reel.difference.is_none() {
            let differs = match reel.calls.get(reel.next) {
                Some(recorded) if recorded.asked == *asked => {
                    let (gave, used) = (recorded.gave.clone(), recorded.used);
                    reel.next = number;
                    return (gave, Some(used));
                }
                Some(recorded) => format!("recorded is {}", recorded.asked.shown()),
                None => "the recording ends before it".to_owned(),
            };
            reel.difference = Some(format!("host call {number} is {}; {differs}", asked.shown()));
        }
        (Gave::Failure(Failure::failed("this host call is not the recorded one")), None)
    }

    /// Where what was asked differs from what was recorded, once the call is over.
    pub fn difference(&self) -> Option<String> {
        let reel = self.reel();
        let left = || {
            let missing = reel.calls.get(reel.next)?;
            Some(format!("host call {} was not made; recorded is {}", reel.next + 1, missing.asked.shown()))
        };
        reel.difference.clone().or_else(left)
    }

    /// All calls so far.
    pub fn calls(&self) -> Vec<HostCall> {
        self.reel().calls.clone()
    }
}

/// What a recorded call gave, as the plugin gets it; anything else is a damaged tape.
pub fn table(gave: Gave) -> Result<Table, Failure> {
    match gave {
        Gave::Table(table) => Ok(table),
        other => Err(unfit(other)),
    }
}

/// As [`table`], for `change`.
pub fn rows(gave: Gave) -> Result<u64, Failure> {
    match gave {
        Gave::Rows(rows) => Ok(rows),
        other => Err(unfit(other)),
    }
}

/// As [`table`], for `changes`.
pub fn changes(gave: Gave) -> Result<Vec<TableChanges>, Failure> {
    match gave {
        Gave::Changes(changes) => Ok(changes.into_iter().map(TableChanges::from).collect()),
        other => Err(unfit(other)),
    }
}

/// As [`table`], for `tables`, which cannot fail.
pub fn tables(gave: Gave) -> Vec<TableInfo> {
    match gave {
        Gave::Tables(tables) => tables.into_iter().map(TableInfo::from).collect(),
        _ => Vec::new(),
    }
}

fn unfit(gave: Gave) -> Failure {
    match gave {
        Gave::Failure(failure) => failure,
        _ => Failure::failed("the recording holds the answer to another kind of call"),
    }
}

/// The text of a tape.
pub fn write(head: &Head, calls: &[HostCall]) -> Result<String> {
    let mut text = serde_json::to_string(head)? + "\n";
    for call in calls {
        text.push_str(&serde_json::to_string(call)?);
        text.push('\n');
    }
    Ok(text)
}

/// Reads the text of a tape.
pub fn read(text: &str) -> Result<(Head, Vec<HostCall>)> {
    let mut lines = text.lines().enumerate();
    let (_, first) = lines.next().context("it is empty; `tribunal call --record` writes one")?;
    let version = serde_json::from_str::<Json>(first).ok().and_then(|head| head.get("tape")?.as_u64());
    if version.is_some_and(|version| version > u64::from(FORMAT)) {
        bail!("version {}: newer than {FORMAT}, the newest that this build reads", version.unwrap_or(0));
    }
    let head = serde_json::from_str(first).context("line 1: the head of a recording expected")?;
    let read = |(index, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("line {}: a host call expected", index + 1))
    };
    Ok((head, lines.map(read).collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_protocol::value::Kind;

    fn query(sql: &str, parameter: i64) -> Asked {
        Asked::session("query", "agent", Some(sql), &[Value::Integer(parameter), Value::Null])
    }

    fn count(rows: i64) -> Gave {
        Gave::Table(Table::from_rows(&[("n".to_owned(), Kind::Integer)], &[vec![Value::Integer(rows)]]).unwrap())
    }

    fn calls() -> Vec<HostCall> {
        let tape = Tape::default();
        tape.add(query("SELECT 1", 1), count(7), Usage { statements: 1, ..Usage::default() });
        let failure = Gave::Failure(Failure::unknown("no such table"));
        tape.add(query("SELECT 2", 2), failure, Usage { statements: 2, ..Usage::default() });
        tape.calls()
    }

    #[test]
    fn what_was_recorded_is_given_again() {
        let head = Head {
            tape: FORMAT,
            plugin: "tool-x".to_owned(),
            kind: PluginKind::Tool,
            limits: Limits::default(),
            date: Some(20_269),
        };
        let text = write(&head, &calls()).unwrap();
        let (read_head, read_calls) = read(&text).unwrap();
        assert_eq!((&read_head, &read_calls), (&head, &calls()));
        let tape = Tape::of(&read_calls, read_head.date);
        assert_eq!(tape.date(), Some(20_269));
        let (gave, used) = tape.play(&query("SELECT 1", 1));
        assert_eq!((gave, used.unwrap().statements), (count(7), 1));
        let failure = table(tape.play(&query("SELECT 2", 2)).0).unwrap_err();
        assert_eq!(failure, Failure::unknown("no such table"));
        assert_eq!(tape.difference(), None);
    }

    #[test]
    fn the_first_call_that_differs_is_named() {
        let played = |asked: &[Asked]| {
            let tape = Tape::of(&calls(), None);
            for asked in asked {
                tape.play(asked);
            }
            tape.difference()
        };
        let told = played(&[query("SELECT 1", 3), query("SELECT 9", 2)]).unwrap();
        assert_eq!(
            told,
            "host call 1 is query of agent \"SELECT 1\" with [{\"integer\":3},null]; \
             recorded is query of agent \"SELECT 1\" with [{\"integer\":1},null]"
        );
        let told = played(&[query("SELECT 1", 1)]).unwrap();
        assert!(told.starts_with("host call 2 was not made; recorded is query of agent \"SELECT 2\""), "{told}");
        let told = played(&[query("SELECT 1", 1), query("SELECT 2", 2), Asked::changes()]).unwrap();
        assert_eq!(told, "host call 3 is changes; the recording ends before it");
        assert_eq!(played(&[query("SELECT 1", 1), query("SELECT 2", 2)]), None);
    }

    #[test]
    fn a_tape_that_is_damaged_or_newer_is_refused_by_its_line() {
        let head = Head {
            tape: FORMAT,
            plugin: "tool-x".to_owned(),
            kind: PluginKind::Tool,
            limits: Limits::default(),
            date: Some(20_269),
        };
        let text = write(&head, &calls()).unwrap();
        let fault = |text: &str| format!("{:#}", read(text).unwrap_err());
        assert!(fault("").contains("--record"));
        // A tape of before dates were written down.
        assert_eq!(read(&text.replace(",\"date\":20269", "")).unwrap().0.date, None);
        assert!(fault(&text.replace("\"tape\":1", "\"tape\":2")).contains("version 2: newer than 1"));
        assert!(fault(&text.replace("\"sql\"", "\"sqk\"")).starts_with("line 2: "));
    }
}
