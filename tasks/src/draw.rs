//! The parameters of a question, drawn from the data's own values.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tribunal_protocol::schema::Dataset;

use crate::condition::Conditions;
use crate::context::period::{self, Unit};
use crate::frame::{self, RowsForm};
use crate::random::Stream;
use crate::render::Renderer;
use crate::trap::row_holds;

/// How one parameter is drawn.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Draw {
    /// A calendar period inside the window, with another of its kind before it.
    Period {
        /// Which units may be drawn.
        of: Vec<Unit>,
    },
    /// A day inside the window: a month's last day.
    MonthEnd {},
    /// An integer between two bounds, both included.
    Integer([i64; 2]),
    /// One of these values.
    OneOf(Vec<toml::Value>),
    /// One item of a list among the carry's terms.
    Choice(String),
    /// A text that the column holds in every instance of the data.
    Value {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// Which rows count.
        #[serde(default, rename = "where")]
        conditions: Conditions,
        /// In how many rows it must stand in each instance.
        #[serde(default = "once")]
        at_least: usize,
    },
    /// One row of the visible data, with the rows it points to.
    Row(RowsForm),
    /// All rows of the visible data that satisfy the conditions.
    Rows(RowsForm),
}

fn once() -> usize {
    1
}

/// What parameters are drawn from.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) renderer: &'a Renderer,
    /// The carry's terms, not yet rendered.
    pub(crate) terms: &'a Json,
    /// The days between which periods lie.
    pub(crate) window: &'a [String; 2],
    /// The instances of the data; the first is the visible one.
    pub(crate) data: &'a [&'a Dataset],
}

/// Draws all parameters: first those that stand alone, then choices among the terms, whose texts
/// may use them, then rows, whose conditions may use both.
pub(crate) fn all(
    draws: &BTreeMap<String, Draw>,
    source: &Source<'_>,
    stream: &dyn Fn(&str) -> Stream,
) -> Result<Json, String> {
    let mut drawn = json!({});
    for stage in [Stage::Alone, Stage::Choice, Stage::Rows] {
        for (name, draw) in draws.iter().filter(|(_, draw)| draw.stage() == stage) {
            let value = one(draw, source, &drawn, &mut stream(name)).map_err(|why| format!("draw {name}: {why}"))?;
            drawn[name] = value;
        }
    }
    Ok(drawn)
}

/// When a parameter is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Alone,
    Choice,
    Rows,
}

impl Draw {
    fn stage(&self) -> Stage {
        match self {
            Draw::Choice(_) => Stage::Choice,
            Draw::Row(_) | Draw::Rows(_) => Stage::Rows,
            Draw::Period { .. } | Draw::MonthEnd {} | Draw::Integer(_) | Draw::OneOf(_) | Draw::Value { .. } => {
                Stage::Alone
            }
        }
    }
}

fn one(draw: &Draw, source: &Source<'_>, drawn: &Json, stream: &mut Stream) -> Result<Json, String> {
    match draw {
        Draw::Period { of } => period::draw(of, source.window, stream),
        Draw::MonthEnd {} => period::month_end(source.window, stream),
        Draw::Integer([low, high]) => Ok(stream.between(*low, *high).into()),
        Draw::OneOf(values) => {
            let value = stream.pick(values).ok_or("no values to draw from")?;
            serde_json::to_value(value).map_err(|fault| fault.to_string())
        }
        Draw::Choice(path) => {
            let list = source.renderer.expression(path, source.terms)?;
            let items = list.as_array().ok_or_else(|| format!("term `{path}` is no list"))?;
            let item = stream.pick(items).ok_or_else(|| format!("term `{path}` is empty"))?;
            source.renderer.json(item, drawn)
        }
        Draw::Value { table, column, conditions, at_least } => {
            let mut common: Option<BTreeSet<String>> = None;
            for dataset in source.data {
                let held = held_values(dataset, table, column, conditions, *at_least)?;
                common = Some(match common {
                    None => held,
                    Some(earlier) => earlier.intersection(&held).cloned().collect(),
                });
            }
            let common: Vec<String> = common.unwrap_or_default().into_iter().collect();
            let value =
                stream.pick(&common).ok_or_else(|| format!("no value of {table}.{column} stands in every instance"))?;
            Ok(value.as_str().into())
        }
        Draw::Row(form) | Draw::Rows(form) => {
            let visible = source.data.first().ok_or("no data")?;
            let form = form.rendered(source.renderer, drawn)?;
            match draw {
                Draw::Row(_) => frame::draw_row(&form, visible, stream),
                _ => frame::draw_rows(&form, visible),
            }
        }
    }
}

fn held_values(
    dataset: &Dataset,
    table: &str,
    column: &str,
    conditions: &Conditions,
    at_least: usize,
) -> Result<BTreeSet<String>, String> {
    let data = frame::table(dataset, table)?;
    let index = data.schema.column_index(column).ok_or_else(|| format!("no column `{column}` in table {table}"))?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in &data.rows {
        if !row[index].is_null() && row_holds(conditions, data, row)? {
            *counts.entry(row[index].to_string()).or_insert(0) += 1;
        }
    }
    let enough = counts.into_iter().filter(|(_, count)| *count >= at_least);
    Ok(enough.map(|(value, _)| value).collect())
}
