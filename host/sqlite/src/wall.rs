//! The second wall: SQLite asks before everything that a statement would do, and is allowed what is
//! known by name. The first is that a reader's database does not hold what is not granted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use tribunal_protocol::schema::TableSchema;

/// Whose statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Ours: everything goes.
    Host,
    /// A query of the holder.
    Query,
    /// A query of the holder that cannot name the number of a row: SQLite itself asks for it where
    /// a join stands in parentheses.
    Numberless,
    /// A query of ours about rows that a holder changes: it may read their numbers, too.
    Change,
}

/// What was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Table(String),
    Column(String),
    Function(String),
    Action,
}

#[derive(Debug)]
struct Rules {
    mode: Mode,
    /// Columns by table, in lower case.
    granted: BTreeMap<String, BTreeSet<String>>,
    /// What the statement reads like a table and is none, in lower case.
    ctes: BTreeSet<String>,
    denied: Option<Denied>,
}

/// The wall of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Wall(Arc<Mutex<Rules>>);

/// What the number of a row is called where SQLite asks for it.
const ROW_NUMBER: &str = "rowid";

/// Every name that SQLite knows that number by.
const ROW_NUMBERS: [&str; 3] = [ROW_NUMBER, "_rowid_", "oid"];

/// The mode of a holder's query: by its words alone, so that no reading of the text can err.
pub(crate) fn mode_of(sql: &str) -> Mode {
    let mut words = sql.split(|c: char| !c.is_alphanumeric() && c != '_');
    let names = words.any(|word| ROW_NUMBERS.iter().any(|name| word.eq_ignore_ascii_case(name)));
    if names { Mode::Query } else { Mode::Numberless }
}

/// Functions of SQLite's own that may run; ours begin with `tribunal_` or stand here, too.
const FUNCTIONS: [&str; 66] = [
    "abs",
    "avg",
    "ceil",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "glob",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "lpad",
    "ltrim",
    "max",
    "min",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "pi",
    "power",
    "rank",
    "reverse",
    "round",
    "row_number",
    "rpad",
    "rtrim",
    "sign",
    "sqrt",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "strftime",
    "string_agg",
    "substr",
    "sum",
    "time",
    "total",
    "trim",
    "unicode",
    "unixepoch",
    "upper",
    "var_pop",
    "var_samp",
    "variance",
    "group_concat",
];

/// Bytes of a text, or of a row.
const MAX_BYTES: i32 = 1 << 20;

/// SQLite's own limits: what each would cost without one is memory, stack or time.
const LIMITS: [(Limit, i32); 11] = [
    (Limit::SQLITE_LIMIT_LENGTH, MAX_BYTES),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 256 << 10),
    (Limit::SQLITE_LIMIT_COLUMN, 2_000),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 1_000),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 250_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 64),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

impl Wall {
    /// Builds the wall in a connection. Nothing is granted yet, and our own statements pass.
    pub(crate) fn build(connection: &mut Connection) -> rusqlite::Result<Wall> {
        for (limit, most) in LIMITS {
            connection.set_limit(limit, most)?;
        }
        let rules = Rules { mode: Mode::Host, granted: BTreeMap::new(), ctes: BTreeSet::new(), denied: None };
        let wall = Wall(Arc::new(Mutex::new(rules)));
        let asked = wall.clone();
        connection.authorizer(Some(move |context: AuthContext<'_>| asked.lock().decide(&context)))?;
        Ok(wall)
    }

    fn lock(&self) -> MutexGuard<'_, Rules> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the columns of a table be read.
    pub(crate) fn grant(&self, schema: &TableSchema) {
        let columns = schema.columns.iter().map(|column| column.name.to_lowercase()).collect();
        self.lock().granted.insert(schema.name.to_lowercase(), columns);
    }

    /// Says whose statement comes next, and the names of its queries after WITH.
    pub(crate) fn enter(&self, mode: Mode, ctes: &[String]) {
        let mut rules = self.lock();
        rules.ctes = ctes.iter().map(|name| name.to_lowercase()).collect();
        rules.mode = mode;
        rules.denied = None;
    }

    /// What was stopped since, if anything was.
    pub(crate) fn denied(&self) -> Option<Denied> {
        self.lock().denied.clone()
    }
}

impl Rules {
    fn decide(&mut self, context: &AuthContext<'_>) -> Authorization {
        let refused = match (self.mode, &context.action) {
            (Mode::Host, _) | (_, AuthAction::Select | AuthAction::Recursive) => None,
            (mode, AuthAction::Read { table_name, column_name }) => self.read(mode, table_name, column_name),
            (_, AuthAction::Function { function_name }) => function(function_name),
            _ => Some(Denied::Action),
        };
        match refused {
            None => Authorization::Allow,
            Some(refused) => {
                self.denied.get_or_insert(refused);
                Authorization::Deny
            }
        }
    }

    /// A table without a column is one whose rows are counted, or a query after WITH.
    fn read(&self, mode: Mode, table: &str, column: &str) -> Option<Denied> {
        if column.is_empty() && self.ctes.contains(&table.to_lowercase()) {
            return None;
        }
        let Some(columns) = self.granted.get(&table.to_lowercase()) else {
            return Some(Denied::Table(table.to_owned()));
        };
        let name = column.to_lowercase();
        let numbers = matches!(mode, Mode::Change | Mode::Numberless) && name == ROW_NUMBER;
        let known = name.is_empty() || columns.contains(&name) || numbers;
        (!known).then(|| Denied::Column(column.to_owned()))
    }
}

fn function(name: &str) -> Option<Denied> {
    let lower = name.to_lowercase();
    let known = lower.starts_with("tribunal_") || FUNCTIONS.contains(&lower.as_str());
    (!known).then(|| Denied::Function(name.to_owned()))
}
