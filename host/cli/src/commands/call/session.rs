//! Sessions for one call: on data, each host call written down, or on a recording alone.

use tribunal_database::DatabaseSession;
use tribunal_protocol::failure::Failure;
use tribunal_protocol::session::{Session, TableInfo};
use tribunal_protocol::table::Table;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Value;

use super::tape::{self, Asked, Gave, Tape};

/// A session of one role.
pub struct Taped {
    role: &'static str,
    live: Option<Box<DatabaseSession>>,
    tape: Tape,
    played: Usage,
}

impl Taped {
    /// On data; every call goes to the tape.
    pub fn live(role: &'static str, session: DatabaseSession, tape: &Tape) -> Taped {
        tape.dated(session.date());
        Taped { role, live: Some(Box::new(session)), tape: tape.clone(), played: Usage::default() }
    }

    /// On a recording.
    pub fn played(role: &'static str, tape: &Tape) -> Taped {
        Taped { role, live: None, tape: tape.clone(), played: Usage::default() }
    }

    /// What the contract stopped, for the author.
    pub fn denials(&self) -> Vec<String> {
        self.live.as_ref().map_or_else(Vec::new, |session| session.denials().to_vec())
    }

    /// One host call: answered by the data and written down, or answered by the recording.
    fn ask(&mut self, asked: Asked, run: impl FnOnce(&mut DatabaseSession) -> Gave) -> Gave {
        match &mut self.live {
            Some(session) => {
                let gave = run(session);
                self.tape.add(asked, gave.clone(), session.usage());
                gave
            }
            None => {
                let (gave, used) = self.tape.play(&asked);
                self.played = used.unwrap_or(self.played);
                gave
            }
        }
    }
}

impl Session for Taped {
    fn tables(&mut self) -> Vec<TableInfo> {
        let asked = Asked::session("tables", self.role, None, &[]);
        let gave = self.ask(asked, |live| Gave::Tables(live.tables().into_iter().map(Into::into).collect()));
        tape::tables(gave)
    }

    fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Table, Failure> {
        let asked = Asked::session("query", self.role, Some(sql), parameters);
        tape::table(self.ask(asked, |live| live.query(sql, parameters).map_or_else(Gave::Failure, Gave::Table)))
    }

    fn change(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Failure> {
        let asked = Asked::session("change", self.role, Some(sql), parameters);
        tape::rows(self.ask(asked, |live| live.change(sql, parameters).map_or_else(Gave::Failure, Gave::Rows)))
    }

    fn usage(&self) -> Usage {
        self.live.as_ref().map_or(self.played, |session| session.usage())
    }

    fn date(&self) -> Option<i32> {
        self.tape.date()
    }

    fn violations(&self) -> u32 {
        self.live.as_ref().map_or(0, |session| session.violations())
    }
}
