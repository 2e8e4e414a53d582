//! What a plugin says of itself, and what a tool gives back.

use crate::{Description, Difference, Output, Scored, Table, ToolInfo, Verdict};

impl Description {
    /// A plugin without tools that requests nothing.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Description {
        Description {
            name: name.to_owned(),
            version: version.to_owned(),
            tools: Vec::new(),
            contract: format!("[contract]\nname = \"{name}\"\n"),
        }
    }

    /// Adds a tool; `arguments` is the JSON Schema of an object.
    #[must_use]
    pub fn tool(mut self, name: &str, description: &str, arguments: &str) -> Description {
        self.tools.push(ToolInfo {
            name: name.to_owned(),
            description: description.to_owned(),
            arguments: arguments.to_owned(),
        });
        self
    }

    /// Requests a contract, as TOML.
    #[must_use]
    pub fn contract(mut self, toml: &str) -> Description {
        toml.clone_into(&mut self.contract);
        self
    }
}

impl Output {
    /// Words alone.
    pub fn text(text: impl Into<String>) -> Output {
        Output { text: text.into(), table: None }
    }

    /// A table, with the count of its rows as words.
    #[must_use]
    pub fn table(table: Table) -> Output {
        let rows = table.rows;
        let noun = if rows == 1 { "row" } else { "rows" };
        Output { text: format!("{rows} {noun}"), table: Some(table) }
    }
}

impl Verdict {
    /// The full reward.
    #[must_use]
    pub fn pass() -> Verdict {
        Verdict::Scored(Scored { reward: 1.0, reason: "match".to_owned(), difference: None })
    }

    /// No reward, for a stable reason.
    #[must_use]
    pub fn fail(reason: &str, difference: Option<Difference>) -> Verdict {
        Verdict::Scored(Scored { reward: 0.0, reason: reason.to_owned(), difference })
    }
}
