//! `<schema>.json`: what tables and columns mean.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::cursor::Reading;
use crate::draft::Draft;

/// The file's shape.
#[derive(Debug, Deserialize)]
struct Descriptions {
    #[serde(default)]
    table_metadata: BTreeMap<String, Vec<ColumnText>>,
    #[serde(default)]
    glossary: String,
}

#[derive(Debug, Deserialize)]
struct ColumnText {
    column_name: String,
    #[serde(default)]
    column_description: String,
}

/// Puts the descriptions of a file to the tables that it describes, and gives its glossary.
///
/// # Errors
/// Where the file is not of this shape.
pub(crate) fn read(draft: &mut Draft, file: &str, source: &str) -> Reading<String> {
    let read: Descriptions = serde_json::from_str(source).map_err(|error| error.to_string())?;
    for (name, columns) in read.table_metadata {
        let (_, bare) = name.rsplit_once('.').unwrap_or(("", name.as_str()));
        for text in columns {
            if describe(draft, bare, &text).is_none() && !text.column_description.is_empty() {
                let what = format!("described column `{}` is not there", text.column_name);
                draft.note(file, 1, Some(&name), what);
            }
        }
    }
    Ok(read.glossary)
}

fn describe(draft: &mut Draft, table: &str, text: &ColumnText) -> Option<()> {
    let table = draft.tables.get_mut(&table.to_lowercase())?;
    let mut columns = table.schema.columns.iter_mut();
    let column = columns.find(|c| c.name.eq_ignore_ascii_case(&text.column_name))?;
    column.description.clone_from(&text.column_description);
    Some(())
}
