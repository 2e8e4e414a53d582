//! Reads a protocol file, and refuses what it does not know by name.

use serde::Deserialize;
use toml::{Table, Value};
use tribunal_protocol::task::Split;

use super::protocol::{Clause, Gain, PROTOCOL_FORMAT, Prices, Protocol};
use crate::metrics::Bootstrap;

/// Why a text is no protocol.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// It is not TOML.
    #[error("protocol: not TOML: {0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// It is of another version.
    #[error("protocol: `format = {PROTOCOL_FORMAT}` expected, {found}; `tribunal evaluate --print-protocol` shows one")]
    Format {
        /// What stands there instead.
        found: String,
    },
    /// A key or a value is not what it should be.
    #[error("protocol, {place}: {why}")]
    Value {
        /// Where: `clause 3 (gain)`, `[prices]`, ..
        place: String,
        /// What is wrong, what was expected.
        why: String,
    },
}

fn wrong(place: impl Into<String>, why: impl ToString) -> ProtocolError {
    // What toml adds below its first line are positions in a text that nobody has written.
    let why = why.to_string();
    let why = why.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    ProtocolError::Value { place: place.into(), why }
}

/// What stands in the file beside clauses.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    #[serde(rename = "format")]
    _format: u32,
    name: String,
    splits: Vec<Split>,
    #[serde(default)]
    bootstrap: Bootstrap,
    prices: Option<Prices>,
}

impl Protocol {
    /// Reads a protocol.
    ///
    /// # Errors
    /// Text that is no TOML, another format, an unknown key, or a value that makes no sense; each
    /// with its place, and what was expected there.
    pub fn read(text: &str) -> Result<Protocol, ProtocolError> {
        let mut table: Table = text.parse().map_err(Box::new)?;
        match table.get("format") {
            Some(Value::Integer(format)) if *format == i64::from(PROTOCOL_FORMAT) => {}
            Some(other) => return Err(ProtocolError::Format { found: format!("{other} found") }),
            None => return Err(ProtocolError::Format { found: "none found".to_owned() }),
        }
        // What may leave a blind evaluation of the same candidate; whoever runs one reads it.
        if table.remove("disclosure").is_some_and(|disclosure| !disclosure.is_table()) {
            return Err(wrong("disclosure", "a table expected: [disclosure]"));
        }
        let clauses = match table.remove("clause") {
            Some(Value::Array(clauses)) if !clauses.is_empty() => clauses,
            _ => return Err(wrong("[[clause]]", "at least one expected: what no clause asks, no candidate can fail")),
        };
        let head: Head = Value::Table(table).try_into().map_err(|why: toml::de::Error| wrong("top", why.message()))?;
        let clauses =
            clauses.into_iter().enumerate().map(|(index, value)| clause(index, value)).collect::<Result<_, _>>()?;
        let protocol = Protocol {
            format: PROTOCOL_FORMAT,
            name: head.name,
            splits: head.splits,
            bootstrap: head.bootstrap,
            clauses,
            prices: head.prices,
        };
        protocol.sensible()?;
        Ok(protocol)
    }

    fn sensible(&self) -> Result<(), ProtocolError> {
        let replicates = self.bootstrap.replicates;
        if !(Bootstrap::FEWEST..=Bootstrap::MOST).contains(&replicates) {
            let why = format!("replicates = {replicates}: {} to {} expected", Bootstrap::FEWEST, Bootstrap::MOST);
            return Err(wrong("[bootstrap]", why));
        }
        if self.splits.is_empty() {
            return Err(wrong("splits", "at least one expected: clauses on correctness look at their tasks"));
        }
        if let Some(prices) = &self.prices {
            let all = super::protocol::CostItem::ALL.map(|item| prices.of(item));
            if all.iter().any(|price| !price.is_finite() || *price < 0.0) {
                return Err(wrong("[prices]", "a price is a number from 0"));
            }
        }
        Ok(())
    }
}

fn clause(index: usize, value: Value) -> Result<Clause, ProtocolError> {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or("no kind").to_owned();
    let place = format!("clause {} ({kind})", index + 1);
    let found: Clause = value.try_into().map_err(|why: toml::de::Error| wrong(&place, why.message()))?;
    checked(&found).map_err(|why| wrong(&place, why))?;
    Ok(found)
}

/// Refuses numbers that make a clause mean nothing.
fn checked(clause: &Clause) -> Result<(), String> {
    let within = |name: &str, value: f64, low: f64, high: f64| {
        let fits = (low..=high).contains(&value);
        if fits { Ok(()) } else { Err(format!("{name} = {value}: a number from {low} to {high} expected")) }
    };
    match clause {
        Clause::Violations(clause) if clause.episodes == 0 => Err("episodes = 0: at least 1 expected".to_owned()),
        Clause::Violations(_) | Clause::Coverage(_) => Ok(()),
        Clause::Voids(clause) => within("below", clause.below, 0.0, 100.0),
        Clause::Gain(Gain { above: Some(limit), at_least: None, .. }) => within("above", *limit, -100.0, 100.0),
        Clause::Gain(Gain { above: None, at_least: Some(limit), .. }) => within("at_least", *limit, -100.0, 100.0),
        Clause::Gain(_) => Err("exactly one of `above` and `at_least` expected".to_owned()),
        Clause::Level(clause) => within("at_least", clause.at_least, 0.0, 100.0),
        Clause::Recheck(clause) => within("within", clause.within, 0.0, 100.0),
        Clause::Cost(clause) if clause.ratio_at_most > 0.0 && clause.ratio_at_most.is_finite() => Ok(()),
        Clause::Cost(clause) => Err(format!("ratio_at_most = {}: a number above 0 expected", clause.ratio_at_most)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{Bound, DEFAULT_PROTOCOL};
    use super::*;

    fn refused(from: &str, to: &str) -> String {
        assert!(DEFAULT_PROTOCOL.contains(from), "{from}");
        Protocol::read(&DEFAULT_PROTOCOL.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn the_default_protocol_reads_and_is_what_its_comments_say() {
        let found = Protocol::read(DEFAULT_PROTOCOL).unwrap();
        assert_eq!((found.clauses.len(), found.splits.len(), found.prices), (8, 4, None));
        assert_eq!(found.bootstrap, Bootstrap::default());
        let Clause::Gain(gain) = &found.clauses[3] else { unreachable!() };
        assert_eq!((gain.measure.to_string().as_str(), gain.bound, gain.above), ("pass@1", Bound::Lower, Some(0.0)));
        // What it says in comments is a protocol too.
        let example = DEFAULT_PROTOCOL.replace("# [[clause]]\n# kind", "[[clause]]\nkind").replace("# item", "item");
        let example = example.replace("# ratio", "ratio").replace("# [prices]\n# currency", "[prices]\ncurrency");
        let example = example.replace("# million", "million").replace("# billion", "billion").replace("# hour", "hour");
        let found = Protocol::read(&example).unwrap();
        assert_eq!((found.clauses.len(), found.prices.unwrap().currency.as_str()), (9, "EUR"));
    }

    #[test]
    fn what_is_unknown_is_refused_by_name_and_place() {
        for (from, to, expected) in [
            ("format = 1", "format = 2", "`format = 1` expected, 2 found"),
            ("format = 1\n", "", "`format = 1` expected, none found"),
            ("name = ", "title = ", "protocol, top: unknown field `title`"),
            ("above = 0.0", "abov = 0.0", "protocol, clause 4 (gain): unknown field `abov`"),
            ("kind = \"voids\"", "kind = \"void\"", "protocol, clause 3 (void): unknown variant `void`"),
            ("measure = \"pass^8\"", "measure = \"pas^8\"", "`pas^8` is no measure"),
            ("bound = \"lower\"", "bound = \"upper\"", "unknown variant `upper`"),
            ("seed = 1", "sead = 1", "unknown field `sead`"),
            ("\"new-data\"", "\"newdata\"", "unknown variant `newdata`"),
            ("each = \"split\"", "each = \"word\"", "unknown variant `word`"),
        ] {
            let why = refused(from, to);
            assert!(why.contains(expected), "{why}");
            assert!(!why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (from, to, expected) in [
            ("replicates = 10_000", "replicates = 10", "replicates = 10: 200 to 1000000 expected"),
            ("above = 0.0", "above = 0.0\nat_least = 1.0", "clause 4 (gain): exactly one of `above` and `at_least`"),
            ("above = 0.0\n", "\n", "clause 4 (gain): exactly one of"),
            ("below = 2.0", "below = -1.0", "clause 3 (voids): below = -1: a number from 0 to 100"),
            ("within = 2.0", "within = nan", "within = NaN: a number from 0"),
            ("episodes = 3000", "episodes = 0", "at least 1 expected"),
        ] {
            let why = refused(from, to);
            assert!(why.contains(expected), "{why}");
        }
        let why = Protocol::read("format = 1\nname = \"none\"\nsplits = [\"train\"]").unwrap_err().to_string();
        assert!(why.contains("[[clause]]: at least one expected"), "{why}");
        assert!(Protocol::read("format = ").unwrap_err().to_string().starts_with("protocol: not TOML"));
    }
}
