//! A filter meets its table: columns get their places, literals their kinds.

use tribunal_protocol::schema::{ColumnSchema, TableSchema};
use tribunal_protocol::value::{Kind, Value, decimal_of, parse_date, parse_timestamp};

use super::{Bound, Condition, Filter, Literal, Node, Operand, Side};
use crate::names::listed;

impl Filter {
    /// Binds the filter to a table.
    ///
    /// # Errors
    /// A column that the table lacks, with those it has; a literal that its column cannot hold;
    /// two columns of different kinds.
    pub fn bind(&self, schema: &TableSchema) -> Result<Condition<Value>, String> {
        all(&self.conjuncts, schema).map(|bounds| Condition(Bound::And(bounds)))
    }

    /// The columns that the filter reads, in the order of their first mention.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let mut columns = Vec::new();
        self.conjuncts.iter().for_each(|node| mentioned(node, &mut columns));
        columns
    }
}

fn mentioned<'a>(node: &'a Node, columns: &mut Vec<&'a str>) {
    let mut add = |column: &'a str| {
        if !columns.contains(&column) {
            columns.push(column);
        }
    };
    match node {
        Node::Compare { left, right, .. } => {
            for side in [left, right] {
                if let Operand::Column(column) = side {
                    add(column);
                }
            }
        }
        Node::IsNull { column } | Node::In { column, .. } => add(column),
        Node::And(nodes) | Node::Or(nodes) => {
            nodes.iter().for_each(|node| mentioned(node, columns));
        }
        Node::Not(node) => mentioned(node, columns),
    }
}

fn all(nodes: &[Node], schema: &TableSchema) -> Result<Vec<Bound<Value>>, String> {
    nodes.iter().map(|node| bind(node, schema)).collect()
}

fn bind(node: &Node, schema: &TableSchema) -> Result<Bound<Value>, String> {
    match node {
        Node::Compare { left, comparison, right } => {
            let kind = compared_kind(left, right, schema)?;
            Ok(Bound::Compare {
                left: side(left, kind, schema)?,
                comparison: *comparison,
                right: side(right, kind, schema)?,
            })
        }
        Node::IsNull { column } => Ok(Bound::IsNull { column: find(column, schema)?.0 }),
        Node::In { column, list } => {
            let (place, found) = find(column, schema)?;
            let list = list.iter().map(|item| typed(item, found));
            Ok(Bound::In { column: place, list: list.collect::<Result<_, _>>()? })
        }
        Node::And(nodes) => all(nodes, schema).map(Bound::And),
        Node::Or(nodes) => all(nodes, schema).map(Bound::Or),
        Node::Not(node) => bind(node, schema).map(|bound| Bound::Not(Box::new(bound))),
    }
}

/// The column whose kind decides; both columns must have one kind.
fn compared_kind<'a>(left: &Operand, right: &Operand, schema: &'a TableSchema) -> Result<&'a ColumnSchema, String> {
    let column = |operand: &Operand| match operand {
        Operand::Column(name) => find(name, schema).map(|(_, column)| Some(column)),
        Operand::Literal(_) => Ok(None),
    };
    match (column(left)?, column(right)?) {
        (Some(left), Some(right)) if left.kind != right.kind => Err(format!(
            "{} is {} and {} is {}; compare columns of one kind",
            left.name, left.kind, right.name, right.kind
        )),
        (Some(decides), _) | (None, Some(decides)) => Ok(decides),
        (None, None) => Err("two literals are compared; compare a column".to_owned()),
    }
}

fn side(operand: &Operand, column: &ColumnSchema, schema: &TableSchema) -> Result<Side<Value>, String> {
    match operand {
        Operand::Column(name) => find(name, schema).map(|(place, _)| Side::Column(place)),
        Operand::Literal(literal) => typed(literal, column).map(Side::Literal),
    }
}

fn find<'a>(name: &str, schema: &'a TableSchema) -> Result<(usize, &'a ColumnSchema), String> {
    let place = schema.column_index(name).ok_or_else(|| {
        let known = schema.columns.iter().map(|column| column.name.as_str());
        format!("no column {name:?}; the table has {}", listed(name, known))
    })?;
    Ok((place, &schema.columns[place]))
}

fn typed(literal: &Literal, column: &ColumnSchema) -> Result<Value, String> {
    let value = match (column.kind, literal) {
        (Kind::Boolean, Literal::Boolean(truth)) => Some(Value::Boolean(*truth)),
        (Kind::Integer, Literal::Number(digits)) => digits.parse().ok().map(Value::Integer),
        (Kind::Float, Literal::Number(digits)) => digits.parse().ok().map(Value::Float),
        (Kind::Decimal, Literal::Number(digits)) => decimal_of(digits).map(Value::Decimal),
        (Kind::Text, Literal::Text(text)) => Some(Value::Text(text.clone())),
        (Kind::Date, Literal::Text(text)) => parse_date(text).map(Value::Date),
        (Kind::Timestamp, Literal::Text(text)) => parse_timestamp(text).map(Value::Timestamp),
        _ => None,
    };
    value.ok_or_else(|| format!("{} is {}: {literal} is not", column.name, column.kind))
}
