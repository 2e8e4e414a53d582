//! The canonical text of a filter.

use std::fmt;

use super::{Literal, Node, Operand};

/// Writes nodes between separators; an OR or AND inside gets parentheses.
pub(super) fn write_joined(f: &mut fmt::Formatter<'_>, nodes: &[Node], separator: &str) -> fmt::Result {
    for (index, node) in nodes.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        match node {
            Node::And(_) | Node::Or(_) if nodes.len() > 1 => write!(f, "({node})")?,
            _ => write!(f, "{node}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Compare { left, comparison, right } => write!(f, "{left} {} {right}", comparison.symbol()),
            Node::IsNull { column } => write!(f, "{} IS NULL", Name(column)),
            Node::In { column, list } => {
                write!(f, "{} IN (", Name(column))?;
                for (index, literal) in list.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    write!(f, "{separator}{literal}")?;
                }
                f.write_str(")")
            }
            Node::And(nodes) => write_joined(f, nodes, " AND "),
            Node::Or(nodes) => write_joined(f, nodes, " OR "),
            Node::Not(node) => write!(f, "NOT ({node})"),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Column(column) => Name(column).fmt(f),
            Operand::Literal(literal) => literal.fmt(f),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Number(digits) => f.write_str(digits),
            Literal::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Literal::Boolean(true) => f.write_str("TRUE"),
            Literal::Boolean(false) => f.write_str("FALSE"),
        }
    }
}

/// A column's name, quoted where it would not read back as a bare name.
struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if super::lex::is_bare_name(self.0) {
            f.write_str(self.0)
        } else {
            write!(f, "\"{}\"", self.0.replace('"', "\"\""))
        }
    }
}
