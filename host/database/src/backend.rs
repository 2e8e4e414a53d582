//! What runs the SQL of a state. The state itself is the same under every engine: its rows, its
//! digest, its changes and its keys.

use std::sync::Arc;

use tribunal_contract::Effective;
use tribunal_engine::{Changed, Queried, Request, Tables};
use tribunal_protocol::schema::Engine;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Failure, Value};
use tribunal_sql::{prepare_change, prepare_query};

use crate::catalog::{Changing, Readable};
use crate::sqlite::{Projections, SqliteRunner};

/// The engine of a snapshot and its forks.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    Gluesql,
    Sqlite(Arc<Projections>),
}

impl Backend {
    /// The engine that a snapshot of these tables asks for.
    pub(crate) fn of(engine: Engine, tables: &Tables) -> Backend {
        match engine {
            Engine::Gluesql => Backend::Gluesql,
            Engine::Sqlite => Backend::Sqlite(Arc::new(Projections::of(tables))),
        }
    }

    pub(crate) fn engine(&self) -> Engine {
        match self {
            Backend::Gluesql => Engine::Gluesql,
            Backend::Sqlite(_) => Engine::Sqlite,
        }
    }
}

/// A statement and what it runs under.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) contract: &'a Effective,
    pub(crate) sql: &'a str,
    pub(crate) parameters: &'a [Value],
    pub(crate) left: &'a Usage,
}

impl<'a> Call<'a> {
    pub(crate) fn readable(&self) -> Readable<'a> {
        Readable { contract: self.contract, clock: self.tables.clock() }
    }

    pub(crate) fn changing(&self) -> Changing<'a> {
        Changing { contract: self.contract, clock: self.tables.clock() }
    }

    fn request<'r>(&'r self, prepared: &'r tribunal_sql::Prepared) -> Request<'r> {
        Request {
            tables: self.tables,
            contract: self.contract,
            left: self.left,
            statement: &prepared.statement,
            sets: &prepared.sets,
            parameters: self.parameters,
        }
    }
}

/// The engine of one session.
#[derive(Debug)]
pub(crate) enum Runner {
    Gluesql,
    Sqlite(Box<SqliteRunner>),
}

impl Runner {
    pub(crate) fn of(backend: &Backend, tables: &Tables, contract: &Effective) -> Runner {
        match backend {
            Backend::Gluesql => Runner::Gluesql,
            Backend::Sqlite(projections) => Runner::Sqlite(Box::new(SqliteRunner::new(projections, tables, contract))),
        }
    }

    /// Runs a query; an error is one of its text, before any of it runs.
    pub(crate) fn query(&mut self, call: Call<'_>) -> Result<Queried, Failure> {
        match self {
            Runner::Gluesql => {
                let prepared = prepare_query(call.sql, &call.readable(), call.parameters)?;
                Ok(tribunal_engine::query(call.request(&prepared), &prepared.kinds, &prepared.names))
            }
            Runner::Sqlite(sqlite) => sqlite.query(call),
        }
    }

    /// Runs a change; an error is one of its text, before any of it runs.
    pub(crate) fn change(&mut self, call: Call<'_>) -> Result<Changed, Failure> {
        let prepared = prepare_change(call.sql, &call.changing(), call.parameters)?;
        match self {
            Runner::Gluesql => Ok(tribunal_engine::change(call.request(&prepared))),
            Runner::Sqlite(sqlite) => {
                tribunal_engine::admit_change(call.request(&prepared))?;
                sqlite.change(call, call.request(&prepared))
            }
        }
    }
}
