//! Sessions on SQLite: what each contract lets its holder read is sealed for it, and what it works
//! out goes into the state by the rules of every change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tribunal_contract::{Effective, TableGrant};
use tribunal_engine::{Changed, Edit, Queried, Request, Tables};
use tribunal_protocol::session::Verb;
use tribunal_protocol::{Code, Digest, Failure, Value};
use tribunal_sql::{SqliteChange, prepare_query, sqlite_change, sqlite_query};
use tribunal_sqlite::{Asked, Left, Reader, Sealed, SqliteError};

use crate::backend::Call;

/// What each contract lets its holder read of a snapshot, sealed for SQLite when it is first asked
/// for.
#[derive(Debug)]
pub(crate) struct Projections {
    tables: Tables,
    sealed: Mutex<BTreeMap<Digest, Arc<Projection>>>,
}

/// What one contract lets its holder read.
#[derive(Debug)]
struct Projection {
    sealed: Sealed,
    numbers: Numbers,
}

fn readable(contract: &Effective) -> impl Iterator<Item = &TableGrant> {
    contract.tables().filter(|grant| !grant.readable.is_empty())
}

impl Projections {
    pub(crate) fn of(tables: &Tables) -> Projections {
        Projections { tables: tables.clone(), sealed: Mutex::default() }
    }

    fn of_contract(&self, contract: &Effective) -> Result<Arc<Projection>, SqliteError> {
        let mut all = self.sealed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(projection) = all.get(&contract.digest()) {
            return Ok(Arc::clone(projection));
        }
        let (mut sealed, mut numbers) = (Sealed::new()?, Numbers::new());
        for grant in readable(contract) {
            let rows = numbers.rows(&self.tables, grant);
            sealed.add(&grant.shown, rows.into_iter())?;
        }
        let projection = Arc::new(Projection { sealed, numbers });
        all.insert(contract.digest(), Arc::clone(&projection));
        Ok(projection)
    }
}

/// For tables whose rows SQLite numbers in another way than the state does: what each is there.
#[derive(Clone, Debug)]
struct Numbers(BTreeMap<String, Arc<[u64]>>);

impl Numbers {
    fn new() -> Numbers {
        Numbers(BTreeMap::new())
    }

    fn of(&self, table: &str) -> Option<&Arc<[u64]>> {
        self.0.get(table)
    }

    /// The rows that a grant shows, as SQLite is to number them. Numbers that tell of a hidden key
    /// are replaced by places.
    fn rows(&mut self, tables: &Tables, grant: &TableGrant) -> Vec<(u64, Vec<Value>)> {
        let mut rows: Vec<(u64, Vec<Value>)> = tables.granted_rows(grant).collect();
        if grant.hides_key() {
            let numbers = rows.iter().map(|(number, _)| *number).collect();
            self.0.insert(grant.schema.name.clone(), numbers);
            for ((number, _), place) in rows.iter_mut().zip(0..) {
                *number = place;
            }
        }
        rows
    }
}

/// A reader of what is sealed, and the tables of which it has no copy yet as they are now.
#[derive(Debug)]
pub(crate) struct SqliteRunner {
    projections: Arc<Projections>,
    reader: Option<Reader>,
    numbers: Numbers,
    stale: BTreeSet<String>,
}

impl SqliteRunner {
    pub(crate) fn new(projections: &Arc<Projections>, tables: &Tables, contract: &Effective) -> SqliteRunner {
        let names = readable(contract).map(|grant| grant.schema.name.clone());
        let stale = names.filter(|table| !tables.is_pristine(table)).collect();
        SqliteRunner { projections: Arc::clone(projections), reader: None, numbers: Numbers::new(), stale }
    }

    /// A reader of the tables as they are now.
    fn reader(&mut self, call: Call<'_>) -> Result<&mut Reader, Failure> {
        let broken = |_: SqliteError| Failure::failed("the database could not be read");
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None => {
                let projection = self.projections.of_contract(call.contract).map_err(broken)?;
                self.numbers = projection.numbers.clone();
                projection.sealed.reader().map_err(broken)?
            }
        };
        for table in std::mem::take(&mut self.stale) {
            if let Some(grant) = call.contract.table(&table).filter(|grant| !grant.readable.is_empty()) {
                let rows = self.numbers.rows(call.tables, grant);
                reader.replace(&grant.shown, rows.into_iter()).map_err(broken)?;
            }
        }
        Ok(self.reader.insert(reader))
    }

    /// What both engines run is prepared as for the other one, so that names, kinds and refusals
    /// are the same; what GlueSQL lacks is left to SQLite and its walls.
    pub(crate) fn query(&mut self, call: Call<'_>) -> Result<Queried, Failure> {
        let prepared = match prepare_query(call.sql, &call.readable(), call.parameters) {
            Ok(prepared) => Some(prepared),
            Err(failure) if failure.code == Code::Unsupported => None,
            Err(failure) => return Err(failure),
        };
        let said = sqlite_query(call.sql, &call.readable(), call.parameters, prepared.is_some())?;
        let (names, kinds, reads) = match prepared {
            Some(prepared) => (prepared.names, prepared.kinds, prepared.tables.into_iter().collect()),
            None => (said.names, said.kinds, readable(call.contract).map(|grant| grant.schema.name.clone()).collect()),
        };
        let left = Left { rows: call.left.rows_returned, bytes: call.left.bytes_returned, ..most(call) };
        let asked = Asked { sql: &said.sql, ctes: &said.ctes, kinds: &kinds };
        let ran = self.reader(call)?.query(asked, &names, left);
        Ok(Queried { result: ran.result, rows_scanned: ran.rows_scanned, reads })
    }

    pub(crate) fn change(&mut self, call: Call<'_>, request: Request<'_>) -> Result<Changed, Failure> {
        let SqliteChange { verb, table, columns, kinds, sql, ctes } =
            sqlite_change(call.sql, &call.changing(), call.parameters)?;
        let rows = if verb == Verb::Insert { call.left.rows_written.saturating_add(1) } else { u64::MAX };
        let left = Left { rows, ..most(call) };
        let numbered = usize::from(verb != Verb::Insert);
        let kinds: Vec<_> = std::iter::repeat_n(None, numbered).chain(kinds.into_iter().map(Some)).collect();
        let ran = self.reader(call)?.rows(Asked { sql: &sql, ctes: &ctes, kinds: &kinds }, left);
        let numbers = self.numbers.of(&table);
        let edit = ran.result.and_then(|rows| edited(verb, columns, rows, numbers));
        let result = edit.and_then(|edit| tribunal_engine::edit(request, &table, edit));
        if result.is_ok() {
            self.stale.insert(table);
        }
        Ok(Changed { result, rows_scanned: ran.rows_scanned })
    }
}

/// What a statement may use, where its result is not the holder's to read.
fn most(call: Call<'_>) -> Left {
    let allowance = call.contract.allowance();
    Left {
        rows_scanned: call.left.rows_scanned,
        rows: u64::MAX,
        bytes: u64::MAX,
        work: allowance.statement_work,
        memory: allowance.statement_memory,
    }
}

/// The rows that SQLite found, as an edit.
fn edited(
    verb: Verb,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    numbers: Option<&Arc<[u64]>>,
) -> Result<Edit, Failure> {
    if verb == Verb::Insert {
        return Ok(Edit::Insert { columns, rows });
    }
    let mut numbered = Vec::with_capacity(rows.len());
    for mut row in rows {
        let number = match (row.is_empty(), row.first()) {
            (false, Some(Value::Integer(number))) => u64::try_from(*number).ok(),
            _ => None,
        };
        let number = match numbers {
            None => number,
            Some(numbers) => number.and_then(|place| numbers.get(usize::try_from(place).ok()?).copied()),
        };
        let number = number.ok_or_else(|| Failure::failed("the rows could not be found"))?;
        row.remove(0);
        numbered.push((number, row));
    }
    Ok(match verb {
        Verb::Update => Edit::Update { columns, rows: numbered },
        Verb::Read | Verb::Insert | Verb::Delete => {
            Edit::Delete { rows: numbered.into_iter().map(|(number, _)| number).collect() }
        }
    })
}
