//! Lock files: which plugins a suite was used with, and what each of them asked for. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tribunal_contract::{Columns, Contract, Filter};
use tribunal_protocol::Digest;
use tribunal_protocol::plugin::PluginKind;

/// The newest version of the file that this build reads.
pub const LOCK_FORMAT: u32 = 1;

/// Why a text is no lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// It cannot be read.
    #[error("no lock file: {0}; `tribunal lock` writes one")]
    Format(String),
    /// It is of a newer version.
    #[error(
        "lock file of version {0}: {LOCK_FORMAT} is the newest that this build reads; read it with a newer tribunal"
    )]
    Newer(i64),
    /// The contract that a plugin requests cannot be read.
    #[error("plugin {plugin}: the contract that it requests: {why}")]
    Contract {
        /// The plugin.
        plugin: String,
        /// What is wrong.
        why: String,
    },
}

/// Which plugins a suite is used with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFile {
    /// [`LOCK_FORMAT`].
    pub version: u32,
    /// The plugins, by name.
    #[serde(default)]
    pub plugin: BTreeMap<String, LockedPlugin>,
}

/// One plugin as it was locked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedPlugin {
    /// The file in the folder of plugins.
    pub file: String,
    /// Which world it implements.
    pub kind: PluginKind,
    /// The digest of its component.
    pub digest: Digest,
    /// The contract that it requests, in canonical form: the powers that are granted to it.
    pub contract: String,
}

impl LockFile {
    /// A lock file of these plugins.
    #[must_use]
    pub fn new(plugin: BTreeMap<String, LockedPlugin>) -> LockFile {
        LockFile { version: LOCK_FORMAT, plugin }
    }

    /// Reads a lock file.
    ///
    /// # Errors
    /// No TOML of this shape, or a newer version.
    pub fn read(text: &str) -> Result<LockFile, LockError> {
        let bad = |why: toml::de::Error| LockError::Format(why.message().to_owned());
        let table: toml::Table = text.parse().map_err(bad)?;
        match table.get("version").and_then(toml::Value::as_integer) {
            Some(version) if version > i64::from(LOCK_FORMAT) => return Err(LockError::Newer(version)),
            _ => {}
        }
        let lock: LockFile = toml::Value::Table(table).try_into().map_err(bad)?;
        lock.plugin.iter().try_for_each(|(name, plugin)| contract(name, &plugin.contract).map(|_| ()))?;
        Ok(lock)
    }

    /// The text that [`LockFile::read`] reads.
    ///
    /// # Errors
    /// None that is known: its parts all have a TOML form.
    pub fn to_toml(&self) -> Result<String, LockError> {
        toml::to_string_pretty(self).map_err(|why| LockError::Format(why.to_string()))
    }
}

impl LockedPlugin {
    /// A plugin as it is now.
    ///
    /// # Errors
    /// The contract that it requests cannot be read.
    pub fn of(
        name: &str,
        file: String,
        kind: PluginKind,
        digest: Digest,
        request: &str,
    ) -> Result<LockedPlugin, LockError> {
        Ok(LockedPlugin { file, kind, digest, contract: contract(name, request)?.to_toml() })
    }

    /// What `upgrade` asks for beyond what is locked, one line each; empty where it may take the place
    /// of this one.
    ///
    /// # Errors
    /// A contract that cannot be read.
    pub fn new_powers(&self, name: &str, upgrade: &LockedPlugin) -> Result<Vec<String>, LockError> {
        let mut powers = beyond(&contract(name, &self.contract)?, &contract(name, &upgrade.contract)?);
        if self.kind != upgrade.kind {
            powers.insert(0, format!("to be a {}: it is locked as a {}", upgrade.kind, self.kind));
        }
        Ok(powers)
    }
}

fn contract(plugin: &str, text: &str) -> Result<Contract, LockError> {
    Contract::parse(text).map_err(|why| LockError::Contract { plugin: plugin.to_owned(), why: why.to_string() })
}

/// What `new` requests and `old` does not. Row filters are not compared by meaning: another filter than
/// the old one is a new power, unless there was none.
fn beyond(old: &Contract, new: &Contract) -> Vec<String> {
    let mut powers = Vec::new();
    // A table that only one side names may be one that the other side's `*` stands for.
    let tables: BTreeSet<&String> = [old.read.keys(), new.read.keys()]
        .into_iter()
        .flatten()
        .chain(old.write.keys())
        .chain(new.write.keys())
        .collect();
    for table in tables {
        if let Some(asked) = new.read_of(table) {
            let had = old.read_of(table).map(|grant| (&grant.columns, grant.rows.as_ref()));
            powers.extend(widened("read", table, had, (&asked.columns, asked.rows.as_ref())));
        }
        for (verb, asked) in new.write_of(table).into_iter().flatten() {
            let had = old.write_of(table).and_then(|verbs| verbs.get(verb));
            let had = had.map(|grant| (&grant.columns, grant.rows.as_ref()));
            powers.extend(widened(verb.name(), table, had, (&asked.columns, asked.rows.as_ref())));
        }
    }
    for ((part, had), (_, asked)) in old.budget.parts().into_iter().zip(new.budget.parts()) {
        match (had, asked) {
            (Some(had), Some(asked)) if asked > had => powers.push(format!("{part} = {asked}: {had} is locked")),
            (Some(had), None) => powers.push(format!("{part} without a bound of its own: {had} is locked")),
            _ => {}
        }
    }
    powers
}

type Reach<'a> = (&'a Columns, Option<&'a Filter>);

fn widened(verb: &str, table: &str, had: Option<Reach<'_>>, asked: Reach<'_>) -> Option<String> {
    let Some((columns, rows)) = had else { return Some(format!("{verb} of {table}: not locked")) };
    let more = match (columns, asked.0) {
        (Columns::All, _) => None,
        (Columns::Only(had), Columns::All) => Some(format!("all columns, {} locked", had.len())),
        (Columns::Only(had), Columns::Only(asked)) => {
            let names: Vec<&str> = asked.difference(had).map(String::as_str).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
    };
    if let Some(more) = more {
        return Some(format!("{verb} of {table}: {more}"));
    }
    match (rows, asked.1) {
        (Some(had), None) => Some(format!("{verb} of {table}: all rows, locked where {had}")),
        (Some(had), Some(asked)) if had != asked => {
            Some(format!("{verb} of {table}: rows where {asked}, locked where {had}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(contract: &str) -> LockedPlugin {
        let text = format!("[contract]\nname = \"p\"\n{contract}");
        LockedPlugin::of("p", "p.wasm".to_owned(), PluginKind::Tool, Digest::of(b"abc"), &text).unwrap()
    }

    const OLD: &str = r#"
        [[read]]
        table = "invoices"
        columns = ["id", "total"]
        rows = "voided = FALSE"
        [[write]]
        table = "refunds"
        verbs = ["insert"]
        columns = ["amount"]
        [budget]
        statements = 40
    "#;

    fn new_powers(old: &str, new: &str) -> Vec<String> {
        plugin(old).new_powers("p", &plugin(new)).unwrap()
    }

    #[test]
    fn an_upgrade_that_asks_for_no_more_asks_for_nothing_new() {
        assert_eq!(new_powers(OLD, OLD), [""; 0]);
        for (from, to) in [
            (r#"["id", "total"]"#, r#"["id"]"#),
            ("statements = 40", "statements = 39"),
            ("[budget]", "[budget]\nrows_scanned = 5"),
        ] {
            let less = OLD.replace(from, to);
            assert_ne!(less, OLD);
            assert_eq!(new_powers(OLD, &less), [""; 0], "{to}");
        }
        assert_eq!(new_powers(OLD, ""), ["statements without a bound of its own: 40 is locked"]);
        // Whoever had everything has nothing to gain.
        let all = "[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";
        let some = "[[read]]\ntable = \"a\"\ncolumns = [\"b\"]\nrows = \"c = 1\"\n";
        assert_eq!(new_powers(all, some), [""; 0]);
        assert_eq!(new_powers(some, all), ["read of *: not locked", "read of a: all columns, 1 locked"]);
    }

    #[test]
    fn every_new_power_is_named() {
        for (from, to, expected) in [
            (r#"["id", "total"]"#, r#"["id", "note", "total"]"#, "read of invoices: note"),
            (r#"["id", "total"]"#, r#"["*"]"#, "read of invoices: all columns, 2 locked"),
            ("rows = \"voided = FALSE\"", "", "read of invoices: all rows, locked where voided = FALSE"),
            ("voided = FALSE", "total > 1", "read of invoices: rows where total > 1, locked where voided = FALSE"),
            (r#"["insert"]"#, r#"["insert", "update"]"#, "update of refunds: not locked"),
            (r#"["amount"]"#, r#"["amount", "reason"]"#, "insert of refunds: reason"),
            ("\"invoices\"", "\"accounts\"", "read of accounts: not locked"),
            ("statements = 40", "statements = 41", "statements = 41: 40 is locked"),
            ("statements = 40", "", "statements without a bound of its own: 40 is locked"),
        ] {
            let more = OLD.replace(from, to);
            assert_eq!(new_powers(OLD, &more), [expected]);
        }
        let verifier = LockedPlugin { kind: PluginKind::Verifier, ..plugin(OLD) };
        assert_eq!(plugin(OLD).new_powers("p", &verifier).unwrap(), ["to be a verifier: it is locked as a tool"]);
    }

    #[test]
    fn a_lock_file_reads_back_and_what_is_none_is_refused() {
        let lock = LockFile::new(BTreeMap::from([("p".to_owned(), plugin(OLD))]));
        let text = lock.to_toml().unwrap();
        assert_eq!(LockFile::read(&text).unwrap(), lock);
        assert!(text.contains("digest = \"ba7816bf"), "{text}");
        for (from, to, expected) in [
            ("version = 1", "version = 2", "lock file of version 2"),
            ("version = 1", "", "missing field `version`"),
            ("kind = \"tool\"", "kind = \"tol\"", "unknown variant `tol`"),
            ("digest = \"ba78", "digest = \"ba7", "64 hexadecimal digits expected"),
            ("file = ", "path = ", "unknown field `path`"),
            ("statements = 40", "statemens = 40", "plugin p: the contract that it requests"),
        ] {
            let why = LockFile::read(&text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(why.contains(expected), "{why}");
        }
    }
}
