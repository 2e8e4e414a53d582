//! What SQL may know of the tables: what the contract shows.

use tribunal_contract::Effective;
use tribunal_protocol::schema::TableSchema;
use tribunal_sql::Catalog;

/// The tables as a query sees them: what may be read.
pub(crate) struct Readable<'a> {
    pub(crate) contract: &'a Effective,
    pub(crate) clock: i32,
}

impl Catalog for Readable<'_> {
    fn table(&self, name: &str) -> Option<&TableSchema> {
        let grant = self.contract.find(name)?;
        (!grant.readable.is_empty()).then_some(&*grant.shown)
    }

    fn clock(&self) -> i32 {
        self.clock
    }
}

/// The tables as a change sees them: what may be read or set, all of it nullable.
pub(crate) struct Changing<'a> {
    pub(crate) contract: &'a Effective,
    pub(crate) clock: i32,
}

impl Catalog for Changing<'_> {
    fn table(&self, name: &str) -> Option<&TableSchema> {
        self.contract.find(name).map(|grant| &*grant.changing)
    }

    fn clock(&self) -> i32 {
        self.clock
    }
}
