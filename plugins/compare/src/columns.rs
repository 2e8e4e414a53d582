//! Which submitted column stands for which gold column.

use crate::canon::{Canon, CanonCells, canonical};
use crate::contract::{Contract, Matching};
use crate::keys::{Keyed, group};
use crate::table::Table;
use crate::text;
use crate::verdict::{Difference, Reason, Verdict};

/// For each gold column the place of a submitted one.
pub(crate) type Map = Vec<usize>;

/// The map by name or by place.
///
/// # Errors
/// The verdict where there is none.
pub(crate) fn fixed_map(contract: &Contract, pred: &Table) -> Result<Map, Verdict> {
    if contract.matching != Matching::Name {
        return Ok((0..pred.columns.len()).collect());
    }
    let names: Vec<String> = pred.columns.iter().map(|column| text::name(&column.name)).collect();
    let place = |wanted: &str| {
        let wanted = text::name(wanted);
        names.iter().position(|name| *name == wanted)
    };
    let missing =
        |name: &str| Verdict::fail(Reason::ColumnMissing, Difference::whole(name, pred.names()).at_column(name));
    let columns = contract.columns.iter();
    columns.map(|rule| place(&rule.name).ok_or_else(|| missing(&rule.name))).collect()
}

/// Reads the submitted columns by gold's types, in gold's order.
///
/// # Errors
/// The verdict on the first cell of the wrong type, by column and row.
pub(crate) fn read(contract: &Contract, pred: &Table, map: &Map) -> Result<Vec<Canon>, Verdict> {
    let iso_text = contract.matching != Matching::Injective;
    let mut columns = Vec::with_capacity(map.len());
    for (rule, place) in contract.columns.iter().zip(map) {
        let Some(column) = pred.columns.get(*place) else { continue };
        match canonical(rule.kind, column, pred.rows, iso_text) {
            Ok(canon) => columns.push(canon),
            Err(wrong) => {
                let found = format!("{} {}", column.cells.kind(), column.shown(wrong.row));
                let difference = Difference::whole(rule.kind.name(), found);
                return Err(Verdict::fail(Reason::Type, difference.at_row(wrong.row).at_column(&rule.name)));
            }
        }
    }
    Ok(columns)
}

/// The maps that give every gold column a submitted one of its own, of its type and, where exact,
/// of its content: at most as many as a valid contract can need.
pub(crate) struct InjectiveMaps {
    /// By gold column and submitted column: readable so, and with the same cells.
    fits: Vec<Vec<Fit>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    None,
    Type,
    Content,
}

/// More tries than any valid contract needs; submitted columns of nothing but NULL fit everywhere.
const MAX_TRIES: u32 = 20_000;

impl InjectiveMaps {
    pub(crate) fn new(contract: &Contract, gold: &[Canon], pred: &Table) -> InjectiveMaps {
        let mut fits = Vec::new();
        for (rule, gold) in contract.columns.iter().zip(gold) {
            let fit = |column| match canonical(rule.kind, column, pred.rows, false) {
                Err(_) => Fit::None,
                Ok(canon) if same_cells(gold, &canon, pred.rows) => Fit::Content,
                Ok(_) => Fit::Type,
            };
            fits.push(pred.columns.iter().map(fit).collect());
        }
        InjectiveMaps { fits }
    }

    /// Up to `limit` maps in which contents fit; where there is none, one in which types fit.
    pub(crate) fn maps(&self, limit: usize) -> Vec<Map> {
        for (fit, limit) in [(Fit::Content, limit), (Fit::Type, 1)] {
            let mut search = Search { fits: &self.fits, fit, limit, tries: 0, found: Vec::new() };
            search.extend(&mut Vec::new());
            if !search.found.is_empty() {
                return search.found;
            }
        }
        Vec::new()
    }
}

struct Search<'a> {
    fits: &'a [Vec<Fit>],
    fit: Fit,
    limit: usize,
    tries: u32,
    found: Vec<Map>,
}

impl Search<'_> {
    fn extend(&mut self, map: &mut Map) {
        self.tries += 1;
        if self.found.len() >= self.limit || self.tries > MAX_TRIES {
            return;
        }
        let Some(fits) = self.fits.get(map.len()) else {
            self.found.push(map.clone());
            return;
        };
        for (place, fit) in fits.iter().enumerate() {
            if *fit >= self.fit && !map.contains(&place) {
                map.push(place);
                self.extend(map);
                map.pop();
            }
        }
    }
}

/// Whether two columns hold the same cells in any order. Of floats with a tolerance only the
/// NULLs are looked at: the rest is left to the rows.
fn same_cells(gold: &Canon, pred: &Canon, rows: usize) -> bool {
    if gold.rows() != rows {
        return false;
    }
    let (gold, pred) = match gold.cells {
        CanonCells::Floats(..) => (gold.presence(), pred.presence()),
        _ => (gold.clone(), pred.clone()),
    };
    let (gold, pred) = (Keyed::new(vec![gold], rows), Keyed::new(vec![pred], rows));
    let range = 0..u32::try_from(rows).unwrap_or(u32::MAX);
    let groups = group((&gold, range.clone()), (&pred, range));
    groups.iter().all(|group| group.gold.len() == group.pred.len())
}
