//! Random contracts.

use std::fmt::Write as _;

use tribunal_protocol::Value;
use tribunal_protocol::schema::{Dataset, TableSchema};

use crate::random_queries::{Dice, random_cell};

/// A row filter of one comparison, and what it lets through, told here and by no engine.
#[derive(Clone)]
pub(super) struct Rule {
    pub(super) place: usize,
    comparison: &'static str,
    literal: Value,
}

impl Rule {
    pub(super) fn draw(schema: &TableSchema, dice: &mut Dice) -> Rule {
        loop {
            let place = dice.below(schema.columns.len());
            let literal = random_cell(&schema.columns[place], dice);
            if !literal.is_null() {
                let comparisons: &[&str] =
                    if matches!(literal, Value::Boolean(_)) { &["=", "<>"] } else { &["=", "<>", "<", ">="] };
                return Rule { place, comparison: comparisons[dice.below(comparisons.len())], literal };
            }
        }
    }

    pub(super) fn lets_through(&self, row: &[Value]) -> bool {
        let order = match (&row[self.place], &self.literal) {
            (Value::Null, _) => return false,
            (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            _ => return false,
        };
        match self.comparison {
            "=" => order.is_eq(),
            "<>" => order.is_ne(),
            "<" => order.is_lt(),
            _ => order.is_ge(),
        }
    }

    /// The rule as SQL, and as a filter.
    pub(super) fn text(&self, schema: &TableSchema) -> String {
        format!("\"{}\" {} {}", schema.columns[self.place].name, self.comparison, literal(&self.literal))
    }
}

/// A value as SQL writes it.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Date(_) => format!("DATE '{value}'"),
        Value::Timestamp(_) => format!("TIMESTAMP '{value}'"),
        Value::Null => "NULL".to_owned(),
        Value::Boolean(b) => if *b { "TRUE" } else { "FALSE" }.to_owned(),
        Value::Integer(_) | Value::Float(_) | Value::Decimal(_) => value.to_string(),
    }
}

/// What is granted of one table.
#[derive(Clone, Default)]
pub(super) struct Grant {
    /// The places of the columns that may be read, and which rows; none: nothing may be read.
    pub(super) read: Option<(Vec<usize>, Option<Rule>)>,
    /// The verbs, each with its columns and rule.
    writes: Vec<(&'static str, Vec<usize>, Option<Rule>)>,
}

/// What is granted, table by table in the order of the dataset.
pub(super) struct Grants(pub(super) Vec<Grant>);

impl Grants {
    /// The last table is granted to nobody.
    pub(super) fn draw(dataset: &Dataset, dice: &mut Dice) -> Grants {
        let last = dataset.tables.len() - 1;
        let grant = |(place, table): (usize, &tribunal_protocol::schema::TableData)| {
            if place == last { Grant::default() } else { Grant::draw(&table.schema, dice) }
        };
        Grants(dataset.tables.iter().enumerate().map(grant).collect())
    }

    pub(super) fn to_toml(&self, dataset: &Dataset, dice: &mut Dice) -> String {
        let mut text = String::from("[contract]\nname = \"holder\"\n");
        for (grant, table) in self.0.iter().zip(&dataset.tables) {
            grant.write_toml(&table.schema, &mut text);
        }
        if dice.chance(25) {
            let _ = write!(
                text,
                "[budget]\nstatements = {}\nrows_scanned = {}\nrows_returned = {}\nbytes_returned = {}\n",
                dice.between(1, 8),
                dice.between(0, 120),
                dice.between(0, 40),
                dice.between(0, 4_000)
            );
        }
        text
    }
}

impl Grant {
    fn draw(schema: &TableSchema, dice: &mut Dice) -> Grant {
        let columns = |dice: &mut Dice, percent: usize| -> Vec<usize> {
            (0..schema.columns.len()).filter(|_| dice.chance(percent)).collect()
        };
        let rule = |dice: &mut Dice| dice.chance(55).then(|| Rule::draw(schema, dice));
        let read = dice.chance(85).then(|| (columns(dice, 75), rule(dice)));
        let read = read.filter(|(columns, _)| !columns.is_empty());
        // Rows that cannot be seen are neither updated nor deleted: no contract grants it.
        let verbs: &[&str] = if read.is_some() { &["insert", "update", "delete"] } else { &["insert"] };
        let verbs = verbs.iter().copied();
        let writes = verbs.filter(|_| dice.chance(45)).collect::<Vec<_>>();
        Grant { writes: writes.into_iter().map(|verb| (verb, columns(dice, 80), rule(dice))).collect(), read }
    }

    /// Whether the holder sees a row.
    pub(super) fn shows(&self, row: &[Value]) -> bool {
        let rule = self.read.as_ref().map(|(_, rule)| rule);
        rule.is_some_and(|rule| rule.as_ref().is_none_or(|rule| rule.lets_through(row)))
    }

    /// Whether a column's name stands anywhere in the contract.
    pub(super) fn names(&self, place: usize) -> bool {
        let has = |columns: &[usize], rule: &Option<Rule>| {
            columns.contains(&place) || rule.as_ref().is_some_and(|rule| rule.place == place)
        };
        self.read.as_ref().is_some_and(|(columns, rule)| has(columns, rule))
            || self.writes.iter().any(|(_, columns, rule)| has(columns, rule))
    }

    /// Whether a rule of the contract looks at a column.
    pub(super) fn judges_by(&self, place: usize) -> bool {
        let has = |rule: &Option<Rule>| rule.as_ref().is_some_and(|rule| rule.place == place);
        self.read.as_ref().is_some_and(|(_, rule)| has(rule)) || self.writes.iter().any(|(_, _, rule)| has(rule))
    }

    /// Whether anything at all is granted.
    pub(super) fn is_empty(&self) -> bool {
        self.read.is_none() && self.writes.is_empty()
    }

    fn write_toml(&self, schema: &TableSchema, text: &mut String) {
        let names = |places: &[usize]| {
            let names: Vec<String> =
                places.iter().map(|place| format!("\"{}\"", schema.columns[*place].name)).collect();
            names.join(", ")
        };
        let rows = |rule: &Option<Rule>| match rule {
            Some(rule) => format!("rows = '''{}'''\n", rule.text(schema)),
            None => String::new(),
        };
        if let Some((columns, rule)) = &self.read {
            let _ =
                write!(text, "[[read]]\ntable = \"{}\"\ncolumns = [{}]\n{}", schema.name, names(columns), rows(rule));
        }
        for (verb, columns, rule) in &self.writes {
            let _ = write!(text, "[[write]]\ntable = \"{}\"\nverbs = [\"{verb}\"]\n", schema.name);
            if *verb != "delete" {
                let _ = writeln!(text, "columns = [{}]", names(columns));
            }
            text.push_str(&rows(rule));
        }
    }
}
