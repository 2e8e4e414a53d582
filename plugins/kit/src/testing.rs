//! A host to test a plugin's logic on, natively, over any [`Database`]. What a contract does to a
//! plugin is tested in the sandbox, on the built component.

use std::cell::RefCell;

use crate::{Database, Description, Failure, Host, Table, TableChanges, TableInfo, Value};

/// A host over one database, with settings and changes as the test wants them.
#[derive(Debug)]
pub struct TestHost<D = NoDatabase> {
    database: D,
    settings: String,
    changes: Vec<TableChanges>,
    log: RefCell<Vec<String>>,
}

impl<D> TestHost<D> {
    /// A host over a database, without settings and changes.
    pub fn new(database: D) -> TestHost<D> {
        TestHost { database, settings: "{}".to_owned(), changes: Vec::new(), log: RefCell::new(Vec::new()) }
    }

    /// With settings, a JSON object.
    #[must_use]
    pub fn settings(mut self, json: &str) -> TestHost<D> {
        json.clone_into(&mut self.settings);
        self
    }

    /// With changes to show to a verifier.
    #[must_use]
    pub fn changes(mut self, changes: Vec<TableChanges>) -> TestHost<D> {
        self.changes = changes;
        self
    }

    /// What was logged so far.
    #[must_use]
    pub fn logged(&self) -> Vec<String> {
        self.log.borrow().clone()
    }
}

impl<D: Database + Clone> Host for TestHost<D> {
    type Database = D;

    fn open(&self, _role: &str) -> Result<D, Failure> {
        Ok(self.database.clone())
    }

    fn changes(&self) -> Result<Vec<TableChanges>, Failure> {
        Ok(self.changes.clone())
    }

    fn settings(&self) -> String {
        self.settings.clone()
    }

    fn log(&self, message: &str) {
        self.log.borrow_mut().push(message.to_owned());
    }
}

/// The database of a plugin that has none: nothing is granted.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDatabase;

impl Database for NoDatabase {
    fn tables(&self) -> Vec<TableInfo> {
        Vec::new()
    }

    fn query(&self, _sql: &str, _parameters: &[Value]) -> Result<Table, Failure> {
        Err(Failure::unknown("no such table"))
    }

    fn change(&self, _sql: &str, _parameters: &[Value]) -> Result<u64, Failure> {
        Err(Failure::unknown("no such table"))
    }
}

/// The tools whose arguments are not described by a closed JSON schema of an object: an argument
/// with a slip in its name would be taken, and do nothing.
#[must_use]
pub fn loose_tools(description: &Description) -> Vec<String> {
    let is_closed = |schema: &serde_json::Value| schema["type"] == "object" && schema["additionalProperties"] == false;
    let is_loose = |arguments: &str| serde_json::from_str(arguments).map_or(true, |schema| !is_closed(&schema));
    let tools = description.tools.iter().filter(|tool| is_loose(&tool.arguments));
    tools.map(|tool| tool.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_tools_are_named_and_closed_ones_are_not() {
        let description = Description::new("all", "1")
            .tool("closed", "", r#"{"type": "object", "additionalProperties": false}"#)
            .tool("open", "", r#"{"type": "object"}"#)
            .tool("list", "", r#"{"type": "array", "additionalProperties": false}"#)
            .tool("broken", "", "{");
        assert_eq!(loose_tools(&description), ["open", "list", "broken"]);
    }
}
