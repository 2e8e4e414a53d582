//! A request against a grant, table by table, before anything runs: for authors, never for agents.

use serde::Serialize;
use tribunal_protocol::Digest;
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::session::Verb;

use crate::budget::{Allowance, Budget};
use crate::contract::{ANY, Columns, Contract, WriteGrant};
use crate::error::ContractError;
use crate::explain::{line, to_allow};
use crate::filter::Filter;
use crate::names::listed;

/// What comes of a request under a grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The name of the request.
    pub requested: String,
    /// The name of the grant.
    pub granted: String,
    /// Every table and verb of which something is requested or granted, by table.
    pub access: Vec<Access>,
    /// Every part of the budget, in canonical order.
    pub budget: Vec<Amount>,
    /// What is requested and not granted; empty: all of it is.
    pub refusals: Vec<Refusal>,
    /// The digest of the effective contract, as traces name it; none where it cannot be used.
    pub digest: Option<Digest>,
}

/// One verb on one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    /// The table.
    pub table: String,
    /// The verb.
    pub verb: Verb,
    /// What the request leaves to the grant.
    pub open: Open,
    /// What the plugin requests; none: nothing.
    pub requested: Option<Reach>,
    /// What is granted; none: nothing.
    pub granted: Option<Reach>,
    /// What its sessions may do: both of it; none: nothing.
    pub effective: Option<Reach>,
}

/// Where a request says `*`: it asks for what is granted there, be it all or little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Open {
    /// The request names no table: of this one it asks for what is granted, if anything is.
    pub table: bool,
    /// The request names no columns.
    pub columns: bool,
}

/// How far a verb reaches into a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// The columns, in the order of the table; empty for DELETE.
    pub columns: Vec<String>,
    /// The row filter, in canonical form; none: all rows.
    pub rows: Option<String>,
}

/// One part of the budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// Its name in a contract.
    pub name: &'static str,
    /// What the request states.
    pub requested: Option<u64>,
    /// What the grant states.
    pub granted: Option<u64>,
    /// What applies; none: the limit of every plugin.
    pub effective: Option<u64>,
}

/// Something that is requested and not granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// What, such as `read of invoices.note`.
    pub what: String,
    /// What is granted there.
    pub granted: String,
    /// What to write into the grant to allow it, or why no grant can.
    pub remedy: String,
}

/// Who holds the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A tool: what it is granted, it may do.
    Tool,
    /// A verifier: it reads, whatever it is granted.
    Verifier,
}

impl Reach {
    /// The reach as a line: `id, total where voided = FALSE`.
    #[must_use]
    pub fn to_line(&self) -> String {
        line("", &self.columns, self.rows.as_deref()).trim_start().to_owned()
    }
}

/// Explains what comes of a request under a grant, on the tables of a database. `most` is what
/// the limits allow at most ([`Budget::most`]).
///
/// # Errors
/// A grant that does not fit the tables. A request that does not is a refusal.
pub fn check(
    requested: &Contract,
    granted: &Contract,
    holder: Holder,
    most: &Budget,
    schemas: &[TableSchema],
) -> Result<Check, ContractError> {
    granted.resolve(schemas)?;
    let mut open = granted.clone();
    if holder == Holder::Verifier {
        open.write.clear();
    }
    open.budget = open.budget.intersect(most);
    let effective = requested.intersect(&open);
    let mut check = Check {
        requested: requested.name(),
        granted: granted.name(),
        access: Vec::new(),
        budget: amounts(requested, granted, &effective),
        refusals: unknown(requested, schemas),
        digest: None,
    };
    for schema in schemas {
        for verb in Verb::ALL {
            let reach = |contract: &Contract| reach(contract, schema, verb);
            let access = Access {
                table: schema.name.clone(),
                verb,
                open: open_of(requested, schema, verb),
                requested: reach(requested),
                granted: reach(granted),
                effective: reach(&effective).filter(|_| sees_rows(&effective, schema, verb)),
            };
            if access.requested.is_some() || access.granted.is_some() {
                check.refusals.extend(access.refusals(granted, holder));
                check.access.push(access);
            }
        }
    }
    check.refusals.extend(check.budget.iter().filter_map(Amount::refusal));
    match effective.resolve(schemas) {
        Ok(effective) => check.digest = Some(effective.digest()),
        Err(why) => check.refusals.push(Refusal {
            what: "the contract as a whole".to_owned(),
            granted: "it cannot be used".to_owned(),
            remedy: why.to_string(),
        }),
    }
    Ok(check)
}

/// How far a verb reaches into a table by one contract, were it alone.
fn reach(contract: &Contract, schema: &TableSchema, verb: Verb) -> Option<Reach> {
    let (columns, rows) = stated(contract, &schema.name, verb)?;
    let is_in = |name: &String| match columns {
        Columns::All => true,
        Columns::Only(names) => names.contains(name),
    };
    let sets = verb != Verb::Delete;
    let columns = schema.columns.iter().map(|column| column.name.clone());
    let columns: Vec<String> = columns.filter(|name| sets && is_in(name)).collect();
    (!sets || !columns.is_empty()).then(|| Reach { columns, rows: rows.map(Filter::to_string) })
}

/// What a request leaves open of a table. DELETE has no columns to name.
fn open_of(requested: &Contract, schema: &TableSchema, verb: Verb) -> Open {
    let named = match verb {
        Verb::Read => requested.read.contains_key(&schema.name),
        Verb::Insert | Verb::Update | Verb::Delete => requested.write.contains_key(&schema.name),
    };
    let stated = stated(requested, &schema.name, verb);
    let columns = stated.is_some_and(|(columns, _)| matches!(columns, Columns::All)) && verb != Verb::Delete;
    Open { table: stated.is_some() && !named, columns }
}

fn stated<'c>(contract: &'c Contract, table: &str, verb: Verb) -> Option<(&'c Columns, Option<&'c Filter>)> {
    if verb == Verb::Read {
        return contract.read_of(table).map(|grant| (&grant.columns, grant.rows.as_ref()));
    }
    let WriteGrant { columns, rows } = contract.write_of(table)?.get(&verb)?;
    Some((columns, rows.as_ref()))
}

/// UPDATE and DELETE need rows that can be seen.
fn sees_rows(effective: &Contract, schema: &TableSchema, verb: Verb) -> bool {
    matches!(verb, Verb::Read | Verb::Insert) || reach(effective, schema, Verb::Read).is_some()
}

/// What is requested of tables and columns that are not there.
fn unknown(requested: &Contract, schemas: &[TableSchema]) -> Vec<Refusal> {
    let nothing = |what: String, remedy: String| Refusal { what, granted: "no such thing".to_owned(), remedy };
    let mut refusals = Vec::new();
    let reads = requested.read.iter().map(|(table, grant)| (table, Verb::Read, &grant.columns));
    let writes = requested
        .write
        .iter()
        .flat_map(|(table, verbs)| verbs.iter().map(move |(verb, grant)| (table, *verb, &grant.columns)));
    for (table, verb, columns) in reads.chain(writes).filter(|(table, ..)| *table != ANY) {
        let Some(schema) = schemas.iter().find(|schema| schema.name == *table) else {
            let known = listed(table, schemas.iter().map(|schema| schema.name.as_str()));
            let remedy = format!("correct the request: the database has {known}");
            refusals.push(nothing(format!("{} of {table}", verb.name()), remedy));
            continue;
        };
        let Columns::Only(names) = columns else { continue };
        for name in names.iter().filter(|name| schema.column_index(name).is_none()) {
            let known = listed(name, schema.columns.iter().map(|column| column.name.as_str()));
            let remedy = format!("correct the request: {table} has {known}");
            refusals.push(nothing(format!("{} of {table}.{name}", verb.name()), remedy));
        }
    }
    refusals
}

fn amounts(requested: &Contract, granted: &Contract, effective: &Contract) -> Vec<Amount> {
    let allowance = Allowance::from(&effective.budget);
    let applied = [
        Some(allowance.statements),
        Some(allowance.rows_scanned),
        Some(allowance.rows_returned),
        Some(allowance.bytes_returned),
        Some(allowance.rows_written),
        Some(allowance.statement_work),
        Some(allowance.statement_memory),
        allowance.fuel,
        allowance.memory,
    ];
    let stated = requested.budget.parts().into_iter().zip(granted.budget.parts());
    stated
        .zip(applied)
        .map(|(((name, requested), (_, granted)), effective)| Amount { name, requested, granted, effective })
        .collect()
}

impl Amount {
    fn refusal(&self) -> Option<Refusal> {
        let requested = self.requested?;
        let effective = self.effective.filter(|effective| *effective < requested)?;
        let remedy = match self.granted.filter(|granted| *granted < requested) {
            Some(_) => format!("to allow it, write {} = {requested} under [budget]", self.name),
            None => "this is the limit of every plugin; no contract widens it".to_owned(),
        };
        Some(Refusal { what: format!("{} = {requested}", self.name), granted: effective.to_string(), remedy })
    }
}

impl Access {
    /// What of this is requested and not granted.
    fn refusals(&self, granted: &Contract, holder: Holder) -> Vec<Refusal> {
        let Some(requested) = &self.requested else { return Vec::new() };
        let mut refusals = Vec::new();
        let effective = self.effective.as_ref();
        let has = |name: &String| self.open.columns || effective.is_some_and(|reach| reach.columns.contains(name));
        let missing: Vec<&str> = requested.columns.iter().filter(|name| !has(name)).map(String::as_str).collect();
        let writes = holder == Holder::Verifier && self.verb != Verb::Read;
        match effective {
            None if self.open.table && self.granted.is_none() && !writes => {}
            None => refusals.push(self.refusal(&missing, granted, holder)),
            Some(_) if !missing.is_empty() => refusals.push(self.refusal(&missing, granted, holder)),
            Some(_) => {}
        }
        let fewer = effective.filter(|effective| effective.rows != requested.rows && !self.open.table);
        if let Some(effective) = fewer {
            let rows = effective.rows.as_deref().unwrap_or_default();
            let wanted = requested.rows.as_ref().map_or("all rows".to_owned(), |rows| format!("all rows where {rows}"));
            refusals.push(Refusal {
                what: format!("{} of {wanted} of {}", self.verb.name(), self.table),
                granted: format!("rows where {rows}"),
                remedy: to_allow(self.entry(granted), self.verb, &[], true),
            });
        }
        refusals
    }

    fn refusal(&self, missing: &[&str], granted: &Contract, holder: Holder) -> Refusal {
        let what = match missing {
            [] => format!("{} of {}", self.verb.name(), self.table),
            [name] => format!("{} of {}.{name}", self.verb.name(), self.table),
            names => format!("{} of {}: {}", self.verb.name(), self.table, names.join(", ")),
        };
        let reach = self.granted.as_ref().map(|reach| line(self.verb.name(), &reach.columns, reach.rows.as_deref()));
        Refusal {
            what,
            granted: reach.unwrap_or_else(|| format!("no {} of {}", self.verb.name(), self.table)),
            remedy: self.remedy(missing, granted, holder),
        }
    }

    fn remedy(&self, missing: &[&str], granted: &Contract, holder: Holder) -> String {
        let covers = |reach: &Reach| missing.iter().all(|name| reach.columns.iter().any(|column| column == name));
        if holder == Holder::Verifier && self.verb != Verb::Read {
            return "a verifier reads alone; no grant lets it write".to_owned();
        }
        if self.granted.as_ref().is_some_and(covers) {
            // All is granted: what lacks is a row to see.
            return format!(
                "{} needs rows that can be seen: request and grant a column of {} under [[read]]",
                self.verb.name(),
                self.table
            );
        }
        match &self.granted {
            Some(_) => to_allow(self.entry(granted), self.verb, missing, true),
            None => to_allow(&self.table, self.verb, missing, false),
        }
    }

    /// The entry of the grant that speaks for this table.
    fn entry(&self, granted: &Contract) -> &str {
        let own = match self.verb {
            Verb::Read => granted.read.contains_key(&self.table),
            Verb::Insert | Verb::Update | Verb::Delete => granted.write.contains_key(&self.table),
        };
        if own { &self.table } else { ANY }
    }
}
