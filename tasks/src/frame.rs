//! Picks rows out of a dataset: the subjects of tasks that change the database.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use tribunal_protocol::schema::{Dataset, TableData};
use tribunal_protocol::value::{Kind, Value};

use crate::condition::{Conditions, holds};
use crate::random::Stream;
use crate::render::Renderer;

/// Which rows. Columns of joined tables are named `alias.column`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowsForm {
    pub(crate) table: String,
    /// The rows that each row points to, by alias.
    #[serde(default)]
    pub(crate) joins: Vec<Join>,
    #[serde(default, rename = "where")]
    pub(crate) conditions: Conditions,
    /// The column of its key, given as `id` too.
    #[serde(default)]
    pub(crate) id: Option<String>,
    /// The column of its amount, given as `amount` too.
    #[serde(default)]
    pub(crate) amount: Option<String>,
    /// The column that the instruction calls it by, given as `label`.
    #[serde(default)]
    pub(crate) label: Option<String>,
    /// The column that tells it from its namesakes, given as `identity`.
    #[serde(default)]
    pub(crate) identity: Option<String>,
    /// Tables in which no row may point to it, nor to any of the others.
    #[serde(default)]
    pub(crate) without: Vec<Without>,
    /// Only the row whose first column is the highest among the fitting rows that share the
    /// others; none where several share the highest.
    #[serde(default)]
    pub(crate) latest: Vec<String>,
    /// Other rows of the table that must be there too, by name.
    #[serde(default)]
    pub(crate) others: BTreeMap<String, Other>,
    /// How many rows, between two bounds, of a draw of `rows`.
    #[serde(default)]
    pub(crate) between: Option<[usize; 2]>,
}

/// The row of another table with the same value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Join {
    #[serde(rename = "as")]
    pub(crate) alias: String,
    pub(crate) table: String,
    /// Our column (perhaps `alias.column`) and theirs.
    pub(crate) on: [String; 2],
}

/// A table in which no row may point to a drawn row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Without {
    pub(crate) table: String,
    /// Its pointing column.
    pub(crate) column: String,
    /// The column of ours it points to.
    pub(crate) to: String,
}

/// Another row beside a drawn one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Other {
    /// Columns in which it equals the drawn row.
    #[serde(default)]
    pub(crate) same: Vec<String>,
    /// Columns in which it differs from it.
    #[serde(default)]
    pub(crate) differ: Vec<String>,
    #[serde(default, rename = "where")]
    pub(crate) conditions: Conditions,
}

impl RowsForm {
    /// The form with the templates in its conditions rendered.
    pub(crate) fn rendered(&self, renderer: &Renderer, drawn: &Json) -> Result<RowsForm, String> {
        let mut form = self.clone();
        let text = |text: &str| {
            let value = renderer.json(&Json::String(text.to_owned()), drawn)?;
            toml::Value::try_from(value).map_err(|fault| fault.to_string())
        };
        let render = |conditions: &mut Conditions| {
            for condition in conditions.values_mut() {
                *condition = condition.replaced(&text)?;
            }
            Ok::<(), String>(())
        };
        render(&mut form.conditions)?;
        for other in form.others.values_mut() {
            render(&mut other.conditions)?;
        }
        Ok(form)
    }
}

/// A row with the rows it points to: cells by `column` or `alias.column`.
type Wide = BTreeMap<String, (Kind, Value)>;

/// A table of a dataset.
pub(crate) fn table<'a>(dataset: &'a Dataset, name: &str) -> Result<&'a TableData, String> {
    dataset.tables.iter().find(|table| table.schema.name == name).ok_or_else(|| format!("no table `{name}`"))
}

fn wide_rows(form: &RowsForm, dataset: &Dataset) -> Result<Vec<Wide>, String> {
    let base = table(dataset, &form.table)?;
    let mut rows: Vec<Wide> = base.rows.iter().map(|row| widened("", base, row)).collect();
    for join in &form.joins {
        let other = table(dataset, &join.table)?;
        let key = other
            .schema
            .column_index(&join.on[1])
            .ok_or_else(|| format!("no column `{}` in table {}", join.on[1], join.table))?;
        for row in &mut rows {
            let pointer = cell(row, &join.on[0])?.clone();
            let found = other.rows.iter().find(|there| !pointer.1.is_null() && there[key] == pointer.1);
            let nulls = vec![Value::Null; other.schema.columns.len()];
            row.extend(widened(&join.alias, other, found.unwrap_or(&nulls)));
        }
    }
    Ok(rows)
}

fn widened(alias: &str, table: &TableData, row: &[Value]) -> Wide {
    let dot = if alias.is_empty() { "" } else { "." };
    let columns = table.schema.columns.iter().zip(row);
    columns.map(|(column, cell)| (format!("{alias}{dot}{}", column.name), (column.kind, cell.clone()))).collect()
}

fn cell<'a>(row: &'a Wide, name: &str) -> Result<&'a (Kind, Value), String> {
    row.get(name).ok_or_else(|| format!("no column `{name}` among the drawn rows"))
}

fn fits(conditions: &Conditions, row: &Wide) -> Result<bool, String> {
    for (name, condition) in conditions {
        let (kind, value) = cell(row, name)?;
        if !holds(condition, *kind, value).map_err(|why| format!("condition on {name}: {why}"))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal(a: &Wide, b: &Wide, columns: &[String]) -> Result<bool, String> {
    for name in columns {
        let (a, b) = (cell(a, name)?, cell(b, name)?);
        if a.1.is_null() || a != b {
            return Ok(false);
        }
    }
    Ok(true)
}

fn beside(other: &Other, row: &Wide, candidate: &Wide) -> Result<bool, String> {
    for name in &other.differ {
        if cell(row, name)? == cell(candidate, name)? {
            return Ok(false);
        }
    }
    Ok(equal(row, candidate, &other.same)? && fits(&other.conditions, candidate)?)
}

/// Draws one fitting row. Its cells stand under their names, those of joined rows under their
/// alias, and the other rows under theirs.
pub(crate) fn draw_row(form: &RowsForm, dataset: &Dataset, stream: &mut Stream) -> Result<Json, String> {
    let rows = wide_rows(form, dataset)?;
    let free = rows.iter().map(|row| free(form, dataset, row)).collect::<Result<Vec<bool>, _>>()?;
    let mut fitting = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let mut fit = free[index] && latest(form, &rows, index)? && fits(&form.conditions, row)?;
        for other in form.others.values() {
            fit = fit && !candidates(other, &rows, &free, index)?.is_empty();
        }
        if fit {
            fitting.push(index);
        }
    }
    let index = *stream.pick(&fitting).ok_or_else(|| format!("no row of {} fits", form.table))?;
    let mut json = named(form, &rows[index])?;
    for (name, other) in &form.others {
        let found = candidates(other, &rows, &free, index)?;
        let chosen = stream.pick(&found).ok_or("another row is gone")?;
        json.insert(name.clone(), Json::Object(named(form, chosen)?));
    }
    Ok(Json::Object(json))
}

/// The rows that may be another one beside the row at `index`. They must be as free as that one:
/// what is done to the wrong row must be possible, or a wrong way ends where the right one does.
fn candidates<'r>(other: &Other, rows: &'r [Wide], free: &[bool], index: usize) -> Result<Vec<&'r Wide>, String> {
    let mut found = Vec::new();
    for (place, candidate) in rows.iter().enumerate() {
        if place != index && free[place] && beside(other, &rows[index], candidate)? {
            found.push(candidate);
        }
    }
    Ok(found)
}

fn free(form: &RowsForm, dataset: &Dataset, row: &Wide) -> Result<bool, String> {
    for without in &form.without {
        let other = table(dataset, &without.table)?;
        let place = other
            .schema
            .column_index(&without.column)
            .ok_or_else(|| format!("no column `{}` in table {}", without.column, without.table))?;
        let own = &cell(row, &without.to)?.1;
        if other.rows.iter().any(|there| there[place] == *own) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn latest(form: &RowsForm, rows: &[Wide], index: usize) -> Result<bool, String> {
    let Some((by, within)) = form.latest.split_first() else {
        return Ok(true);
    };
    let own = &cell(&rows[index], by)?.1;
    for (place, row) in rows.iter().enumerate() {
        let rival = place != index && equal(&rows[index], row, within)? && fits(&form.conditions, row)?;
        if rival && !cell(row, by)?.1.total_cmp(own).is_lt() {
            return Ok(false);
        }
    }
    Ok(!own.is_null())
}

/// All fitting rows, in the table's order, if there are as many as the form says.
pub(crate) fn draw_rows(form: &RowsForm, dataset: &Dataset) -> Result<Json, String> {
    let rows = wide_rows(form, dataset)?;
    let mut fitting = Vec::new();
    for row in &rows {
        if fits(&form.conditions, row)? {
            fitting.push(Json::Object(shown(row)));
        }
    }
    let [low, high] = form.between.unwrap_or([1, 8]);
    if (low..=high).contains(&fitting.len()) {
        Ok(fitting.into())
    } else {
        let table = &form.table;
        Err(format!("{low} to {high} rows of {table} expected, {} fit", fitting.len()))
    }
}

/// A row's cells, some of them under the names that families use too.
fn named(form: &RowsForm, row: &Wide) -> Result<Map<String, Json>, String> {
    let mut json = shown(row);
    let names = [("id", &form.id), ("amount", &form.amount), ("label", &form.label), ("identity", &form.identity)];
    for (name, column) in names {
        if let Some(column) = column {
            json.insert(name.to_owned(), cell(row, column)?.1.to_json());
        }
    }
    Ok(json)
}

fn shown(row: &Wide) -> Map<String, Json> {
    let mut json = Map::new();
    for (name, (_, value)) in row {
        match name.split_once('.') {
            None => {
                json.insert(name.clone(), value.to_json());
            }
            Some((alias, column)) => {
                let inner = json.entry(alias).or_insert_with(|| Json::Object(Map::new()));
                inner[column] = value.to_json();
            }
        }
    }
    json
}

#[cfg(test)]
mod tests;
