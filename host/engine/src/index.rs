//! Rows by the content of some of their cells: for keys and references.

use std::collections::HashMap;

use gluesql_core::data::Key;
use gluesql_core::prelude::Value as Cell;

use crate::store::Row;

/// The content of some cells of a row. Numbers that are equal are equal here: 1.50 and 1.5, 0.0
/// and -0.0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    One(Key),
    Many(Vec<Key>),
}

/// The content of the cells at `places`; none where one of them is NULL, since NULL equals
/// nothing.
pub(crate) fn content_of(row: &[Cell], places: &[usize]) -> Option<Content> {
    let key = |place: &usize| {
        let cell = row.get(*place)?;
        Key::try_from(cell).ok().filter(|key| !matches!(key, Key::None))
    };
    match places {
        [place] => key(place).map(Content::One),
        _ => places.iter().map(key).collect::<Option<_>>().map(Content::Many),
    }
}

/// The base rows of a table by the content of the cells at some places.
#[derive(Debug)]
pub(crate) struct Index(HashMap<Content, Vec<u32>>);

impl Index {
    pub(crate) fn over(rows: &[Row], places: &[usize]) -> Index {
        let mut index: HashMap<Content, Vec<u32>> = HashMap::with_capacity(rows.len());
        for (place, row) in rows.iter().enumerate() {
            if let (Some(content), Ok(place)) = (content_of(row, places), u32::try_from(place)) {
                index.entry(content).or_default().push(place);
            }
        }
        Index(index)
    }

    /// The places of the rows with that content.
    pub(crate) fn places(&self, content: &Content) -> &[u32] {
        self.0.get(content).map_or(&[], Vec::as_slice)
    }
}
