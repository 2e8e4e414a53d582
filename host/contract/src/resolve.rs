//! A contract meets a database.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tribunal_protocol::digest::Hasher;
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::session::Verb;

use crate::budget::Allowance;
use crate::contract::{ANY, Columns, Contract, WriteGrant};
use crate::effective::{Effective, RowRule, TableGrant, WriteRule};
use crate::error::ContractError;
use crate::filter::Filter;
use crate::names::listed;
use crate::read::place;

impl Contract {
    /// Resolves the contract against the tables of a database.
    ///
    /// # Errors
    /// A table or column that does not exist, with what does; a row filter that does not fit its
    /// table; UPDATE or DELETE on a table of which nothing may be read.
    pub fn resolve(&self, schemas: &[TableSchema]) -> Result<Effective, ContractError> {
        self.check_tables(schemas)?;
        let mut tables = BTreeMap::new();
        for schema in schemas {
            if let Some(grant) = self.resolve_table(schema)? {
                tables.insert(schema.name.clone(), grant);
            }
        }
        let allowance = Allowance::from(&self.budget);
        let mut hasher = Hasher::new("effective contract 1");
        tables.values().for_each(|grant| grant.hash(&mut hasher));
        allowance.hash(&mut hasher);
        Ok(Effective { name: self.name(), tables, allowance, digest: hasher.finish() })
    }

    fn check_tables(&self, schemas: &[TableSchema]) -> Result<(), ContractError> {
        let sections = self.read.keys().map(|table| ("read", table));
        for (section, table) in sections.chain(self.write.keys().map(|table| ("write", table))) {
            if table != ANY && schemas.iter().all(|schema| schema.name != *table) {
                let known = schemas.iter().map(|schema| schema.name.as_str());
                return Err(ContractError::UnknownTable { place: place(section, table), known: listed(table, known) });
            }
        }
        Ok(())
    }

    fn resolve_table(&self, schema: &TableSchema) -> Result<Option<TableGrant>, ContractError> {
        let (mut readable, mut rows) = (Vec::new(), None);
        if let Some(grant) = self.read_of(&schema.name) {
            let place = self.read_place(&schema.name);
            readable = places(&place, &grant.columns, schema)?;
            rows = rule(&place, grant.rows.as_ref(), schema)?;
        }
        let mut grant = TableGrant {
            schema: Arc::new(schema.clone()),
            readable,
            rows,
            insert: None,
            update: None,
            delete: None,
            shown: Arc::default(),
            known: Arc::default(),
            changing: Arc::default(),
        };
        for (verb, write) in self.write_of(&schema.name).into_iter().flatten() {
            self.resolve_verb(*verb, write, &mut grant)?;
        }
        Ok((!grant.verbs().is_empty()).then(|| grant.complete()))
    }

    fn resolve_verb(&self, verb: Verb, write: &WriteGrant, grant: &mut TableGrant) -> Result<(), ContractError> {
        let schema = Arc::clone(&grant.schema);
        let place = self.write_place(&schema.name);
        let columns = match verb {
            Verb::Delete => Vec::new(),
            Verb::Read | Verb::Insert | Verb::Update => {
                let columns = places(&place, &write.columns, &schema)?;
                if columns.is_empty() {
                    return Ok(());
                }
                columns
            }
        };
        if verb != Verb::Insert && grant.readable.is_empty() {
            return Err(ContractError::Conflict {
                place,
                message: format!(
                    "{} needs rows that can be seen; grant at least one column of {:?} under \
                     [[read]], or take the verb out",
                    verb.name(),
                    schema.name
                ),
            });
        }
        let rule = Some(WriteRule { columns, rows: rule(&place, write.rows.as_ref(), &schema)? });
        match verb {
            Verb::Read => {}
            Verb::Insert => grant.insert = rule,
            Verb::Update => grant.update = rule,
            Verb::Delete => grant.delete = rule,
        }
        Ok(())
    }

    fn read_place(&self, table: &str) -> String {
        let own = self.read.contains_key(table);
        place("read", if own { table } else { ANY })
    }

    fn write_place(&self, table: &str) -> String {
        let own = self.write.contains_key(table);
        place("write", if own { table } else { ANY })
    }
}

fn places(place: &str, columns: &Columns, schema: &TableSchema) -> Result<Vec<usize>, ContractError> {
    let names: &BTreeSet<String> = match columns {
        Columns::All => return Ok((0..schema.columns.len()).collect()),
        Columns::Only(names) => names,
    };
    let find = |name: &String| {
        schema.column_index(name).ok_or_else(|| {
            let known = schema.columns.iter().map(|column| column.name.as_str());
            ContractError::UnknownColumn { place: place.to_owned(), column: name.clone(), known: listed(name, known) }
        })
    };
    let mut places: Vec<usize> = names.iter().map(find).collect::<Result<_, _>>()?;
    places.sort_unstable();
    Ok(places)
}

fn rule(place: &str, filter: Option<&Filter>, schema: &TableSchema) -> Result<Option<RowRule>, ContractError> {
    filter
        .map(|filter| {
            RowRule::bind(filter, schema).map_err(|message| ContractError::Filter {
                place: place.to_owned(),
                filter: filter.to_string(),
                message,
            })
        })
        .transpose()
}
