//! Reading a contract's TOML.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use tribunal_protocol::session::Verb;

use crate::budget::{Budget, read_size};
use crate::contract::{Columns, Contract, ReadGrant, WriteGrant};
use crate::error::ContractError;
use crate::filter::Filter;

/// The format of contract files that this program writes, and the newest that it reads.
pub(crate) const FORMAT: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    contract: Header,
    #[serde(default)]
    read: Vec<ReadEntry>,
    #[serde(default)]
    write: Vec<WriteEntry>,
    #[serde(default)]
    budget: BudgetEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: String,
    #[serde(default)]
    version: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadEntry {
    table: String,
    columns: Vec<String>,
    rows: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteEntry {
    table: String,
    verbs: Vec<Verb>,
    columns: Option<Vec<String>>,
    rows: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BudgetEntry {
    statements: Option<Amount>,
    rows_scanned: Option<Amount>,
    rows_returned: Option<Amount>,
    bytes_returned: Option<Amount>,
    rows_written: Option<Amount>,
    statement_work: Option<Amount>,
    statement_memory: Option<Amount>,
    fuel: Option<Amount>,
    memory: Option<Amount>,
}

/// A whole number, or a size such as `"1 MiB"`.
struct Amount(u64);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0, or a size such as \"64 KiB\" or \"1 MiB\"")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Amount, E> {
        u64::try_from(number).map(Amount).map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Amount, E> {
        Ok(Amount(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Amount, E> {
        read_size(text)
            .filter(|size| i64::try_from(*size).is_ok())
            .map(Amount)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

impl Contract {
    /// Reads a contract.
    ///
    /// # Errors
    /// An unknown key by name with what is allowed; a table said twice; a row filter outside the
    /// grammar of [`Filter`]; a file of a newer format.
    pub fn parse(text: &str) -> Result<Contract, ContractError> {
        let file: File = toml::from_str(text).map_err(|error| syntax(text, &error))?;
        if let Some(found) = file.contract.version.filter(|found| *found > FORMAT) {
            return Err(ContractError::Newer { found, known: FORMAT });
        }
        let mut contract =
            Contract { names: names(&file.contract.name)?, budget: file.budget.into_budget(), ..Contract::default() };
        for entry in file.read {
            add_read(&mut contract, entry)?;
        }
        for entry in file.write {
            add_write(&mut contract, entry)?;
        }
        Ok(contract)
    }
}

impl BudgetEntry {
    fn into_budget(self) -> Budget {
        let number = |amount: Option<Amount>| amount.map(|amount| amount.0);
        Budget {
            statements: number(self.statements),
            rows_scanned: number(self.rows_scanned),
            rows_returned: number(self.rows_returned),
            bytes_returned: number(self.bytes_returned),
            rows_written: number(self.rows_written),
            statement_work: number(self.statement_work),
            statement_memory: number(self.statement_memory),
            fuel: number(self.fuel),
            memory: number(self.memory),
        }
    }
}

fn syntax(text: &str, error: &toml::de::Error) -> ContractError {
    let start = error.span().map_or(0, |span| span.start);
    let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    ContractError::Syntax { line, message: error.message().to_owned() }
}

fn names(name: &str) -> Result<BTreeSet<String>, ContractError> {
    let names: BTreeSet<String> = name.split(" & ").map(|part| part.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err(ContractError::Conflict {
            place: "[contract]".to_owned(),
            message: "`name` is empty; give the contract a name".to_owned(),
        });
    }
    Ok(names)
}

fn add_read(contract: &mut Contract, entry: ReadEntry) -> Result<(), ContractError> {
    let place = place("read", &entry.table);
    let grant = ReadGrant { columns: columns(&place, entry.columns)?, rows: filter(&place, entry.rows)? };
    if contract.read.insert(entry.table, grant).is_some() {
        return Err(ContractError::Conflict {
            place,
            message: "stands twice; put its columns into one entry".to_owned(),
        });
    }
    Ok(())
}

fn add_write(contract: &mut Contract, entry: WriteEntry) -> Result<(), ContractError> {
    let place = place("write", &entry.table);
    let conflict = |message: &str| ContractError::Conflict { place: place.clone(), message: message.to_owned() };
    if entry.verbs.contains(&Verb::Read) {
        return Err(conflict("`read` is no write verb; use [[read]]"));
    }
    let sets = |verb: &Verb| *verb != Verb::Delete;
    if entry.columns.is_none() && entry.verbs.iter().any(sets) {
        return Err(conflict("`columns` is missing: insert and update need it"));
    }
    if entry.columns.is_some() && !entry.verbs.is_empty() && !entry.verbs.iter().any(sets) {
        return Err(conflict("`columns` has no meaning for delete; leave it out"));
    }
    let named = columns(&place, entry.columns.unwrap_or_default())?;
    let rows = filter(&place, entry.rows)?;
    let verbs: &mut BTreeMap<Verb, WriteGrant> = contract.write.entry(entry.table).or_default();
    for verb in entry.verbs {
        let columns = match verb {
            Verb::Delete => Columns::All,
            Verb::Read | Verb::Insert | Verb::Update => named.clone(),
        };
        let rows = rows.clone();
        if verbs.insert(verb, WriteGrant { columns, rows }).is_some() {
            return Err(conflict(&format!("`{}` stands twice; say each verb once per table", verb.name())));
        }
    }
    Ok(())
}

pub(crate) fn place(section: &str, table: &str) -> String {
    format!("[[{section}]] table {table:?}")
}

fn columns(place: &str, names: Vec<String>) -> Result<Columns, ContractError> {
    if names.iter().any(|name| name == "*") {
        if names.len() > 1 {
            return Err(ContractError::Conflict {
                place: place.to_owned(),
                message: "`*` stands for all columns; name none beside it".to_owned(),
            });
        }
        return Ok(Columns::All);
    }
    Ok(Columns::Only(names.into_iter().collect()))
}

fn filter(place: &str, text: Option<String>) -> Result<Option<Filter>, ContractError> {
    text.map(|filter| {
        Filter::parse(&filter).map_err(|message| ContractError::Filter { place: place.to_owned(), filter, message })
    })
    .transpose()
}
