//! What a guest can do: the host's side of the imports.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tribunal_protocol::failure::Failure;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::session::TableChanges;
use tribunal_protocol::table::Table;
use wasmtime::component::Resource;

use crate::bindings::{changes, database, description, evidence, log, output, settings, types};
use crate::clock::Deadline;
use crate::convert::{lift, lower};
use crate::fault::Stop;
use crate::held::Held;
use crate::log::LogBuffer;
use crate::meter::Meter;
use crate::wasi::Inert;

/// The session behind a guest's handle. The handle's number is the session's place among
/// [`ROLES`]; a guest holds an index into its own table and never sees or makes that number.
pub enum Pinned {}

/// The roles that a session can be opened by.
pub(crate) const ROLES: [&str; 3] = ["agent", "first", "last"];

/// The sessions that the host pinned to roles, in the order of [`ROLES`].
pub(crate) type Sessions = [Option<Box<dyn Held>>; 3];

/// What a verifier's `changes.between` gives; computed when it is first asked for.
pub type Between = Box<dyn FnOnce() -> Result<Vec<TableChanges>, Failure> + Send>;

/// The changes between two states, before and after they were computed.
pub(crate) enum Changes {
    /// Nobody asked yet.
    Due(Between),
    /// Asked, and kept for the next time.
    Known(Result<Vec<TableChanges>, Failure>),
}

impl Changes {
    /// For guests that have no such import.
    pub(crate) fn none() -> Changes {
        Changes::Known(Ok(Vec::new()))
    }
}

/// All that belongs to one call.
pub(crate) struct State {
    pub(crate) sessions: Sessions,
    pub(crate) changes: Changes,
    pub(crate) settings: String,
    pub(crate) log: LogBuffer,
    pub(crate) meter: Meter,
    pub(crate) result_bytes: u64,
    pub(crate) deadline: Deadline,
    /// What the stand-ins of WASI remember, for a plugin that has them.
    pub(crate) inert: Option<Inert>,
}

impl State {
    pub(crate) fn new(limits: &Limits, settings: &str, deadline: Deadline) -> State {
        State {
            sessions: [None, None, None],
            changes: Changes::none(),
            settings: settings.to_owned(),
            log: LogBuffer::new(limits),
            meter: Meter::new(limits),
            result_bytes: limits.result_bytes,
            deadline,
            inert: None,
        }
    }

    /// Runs what a host call does, within the deadline and without letting a panic through.
    fn within<T>(&mut self, what: &str, work: impl FnOnce(&mut State) -> wasmtime::Result<T>) -> wasmtime::Result<T> {
        self.in_time()?;
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        let done = done.unwrap_or_else(|panic| Err(Stop::Host(format!("{what} panicked: {}", said(&*panic))).into()));
        self.in_time()?;
        done
    }

    pub(crate) fn in_time(&self) -> wasmtime::Result<()> {
        if self.deadline.passed() { Err(Stop::Time.into()) } else { Ok(()) }
    }

    /// Puts unfinished lines of standard output and error into the log.
    pub(crate) fn flush(&mut self) {
        if let Some(inert) = &mut self.inert {
            inert.flush(&mut self.log);
        }
    }

    fn session(&mut self, handle: &Resource<Pinned>) -> wasmtime::Result<&mut Box<dyn Held>> {
        let session = self.sessions.get_mut(handle.rep() as usize).and_then(Option::as_mut);
        session.ok_or_else(|| Stop::Host("a handle without its session".to_owned()).into())
    }
}

fn within_bytes(table: Table, most: u64) -> Result<Table, Failure> {
    if table.bytes() <= most {
        return Ok(table);
    }
    Err(Failure::quota(format!("the result is larger than {most} bytes; select fewer columns or rows")))
}

fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

impl database::Host for State {
    fn open(&mut self, role: String) -> wasmtime::Result<Result<Resource<Pinned>, types::Failure>> {
        self.in_time()?;
        let place = ROLES.iter().position(|known| *known == role);
        let place = place.filter(|place| self.sessions.get(*place).is_some_and(Option::is_some));
        Ok(match place {
            Some(place) => Ok(Resource::new_own(place as u32)),
            None => Err(lower::failure(Failure::unknown(format!(
                "no session has the role `{}`",
                crate::log::shorten(&role, 64)
            )))),
        })
    }
}

impl database::HostSession for State {
    fn tables(&mut self, handle: Resource<Pinned>) -> wasmtime::Result<Vec<database::TableInfo>> {
        self.within("listing tables", |state| {
            let tables = state.session(&handle)?.tables();
            Ok(tables.into_iter().map(lower::table_info).collect())
        })
    }

    fn query(
        &mut self,
        handle: Resource<Pinned>,
        sql: String,
        parameters: Vec<types::Value>,
    ) -> wasmtime::Result<Result<types::Table, types::Failure>> {
        self.within("a query", |state| {
            let most = state.result_bytes;
            let session = state.session(&handle)?;
            let table = lift::values(parameters).and_then(|parameters| session.query(&sql, &parameters));
            Ok(table.and_then(|table| within_bytes(table, most)).and_then(lower::table).map_err(lower::failure))
        })
    }

    fn change(
        &mut self,
        handle: Resource<Pinned>,
        sql: String,
        parameters: Vec<types::Value>,
    ) -> wasmtime::Result<Result<u64, types::Failure>> {
        self.within("a change", |state| {
            let session = state.session(&handle)?;
            let rows = lift::values(parameters).and_then(|parameters| session.change(&sql, &parameters));
            Ok(rows.map_err(lower::failure))
        })
    }

    /// The session outlives its handles: it goes back to the host when the call ends.
    fn drop(&mut self, _handle: Resource<Pinned>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl changes::Host for State {
    fn between(&mut self) -> wasmtime::Result<Result<Vec<changes::TableChanges>, types::Failure>> {
        self.within("the difference of two states", |state| {
            let known = match std::mem::replace(&mut state.changes, Changes::none()) {
                Changes::Due(compute) => compute(),
                Changes::Known(known) => known,
            };
            let given = known.clone().and_then(|tables| tables.into_iter().map(lower::table_changes).collect());
            state.changes = Changes::Known(known);
            Ok(given.map_err(lower::failure))
        })
    }
}

impl settings::Host for State {
    fn get(&mut self) -> wasmtime::Result<String> {
        self.in_time()?;
        Ok(self.settings.clone())
    }
}

impl log::Host for State {
    fn write(&mut self, message: String) -> wasmtime::Result<()> {
        self.in_time()?;
        self.log.write(message);
        Ok(())
    }
}

// These interfaces hold types only.
impl types::Host for State {}
impl description::Host for State {}
impl evidence::Host for State {}
impl output::Host for State {}
