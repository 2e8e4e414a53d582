//! One side of a comparison, and rows of both sides as bags.

use std::ops::Range;

use crate::canon::Canon;
use crate::decimal::Tolerance;
use crate::keys::{Groups, Keyed, group};
use crate::pairing::{Edges, Work, unpaired};

/// The rows of gold or of a submission, columns in gold's order.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) keyed: Keyed,
    pub(crate) rows: usize,
    /// Columns of floats with a tolerance, by place.
    floats: Vec<usize>,
}

/// Rows that found no partner on the other side, in order.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    pub(crate) gold: Vec<u32>,
    pub(crate) pred: Vec<u32>,
}

impl Rest {
    pub(crate) fn is_empty(&self) -> bool {
        self.gold.is_empty() && self.pred.is_empty()
    }
}

impl Side {
    pub(crate) fn new(columns: Vec<Canon>, rows: usize) -> Side {
        let tolerant = |(place, column): (usize, &Canon)| column.tolerance().map(|_| place);
        let floats = columns.iter().enumerate().filter_map(tolerant).collect();
        Side { keyed: Keyed::new(columns, rows), rows, floats }
    }

    /// The columns, in gold's order.
    pub(crate) fn columns(&self) -> &[Canon] {
        &self.keyed.columns
    }

    /// Whether a row equals a row of the other side, cell by cell.
    pub(crate) fn equal(&self, row: usize, other: &Side, at: usize) -> bool {
        self.keyed.same_key(row, &other.keyed, at) && self.floats_equal(row, other, at)
    }

    fn floats_equal(&self, row: usize, other: &Side, at: usize) -> bool {
        let equal = |place: &usize| match (self.columns().get(*place), other.columns().get(*place)) {
            (Some(a), Some(b)) => a.equal(row, b, at),
            _ => false,
        };
        self.floats.iter().all(equal)
    }

    /// The columns in which rows with one key hold finite floats.
    fn finite_columns(&self, row: u32) -> Vec<(usize, Tolerance)> {
        let finite = |place: &usize| {
            let column = self.columns().get(*place)?;
            column.finite(row as usize)?;
            Some((*place, column.tolerance()?))
        };
        self.floats.iter().filter_map(finite).collect()
    }

    fn float(&self, place: usize, row: u32) -> f64 {
        let column = self.columns().get(place);
        column.and_then(|column| column.finite(row as usize)).unwrap_or_default()
    }

    /// Rows by one column of floats, the least first.
    fn by_float(&self, place: usize, rows: &[u32]) -> Vec<(f64, u32)> {
        let mut sorted: Vec<(f64, u32)> = rows.iter().map(|row| (self.float(place, *row), *row)).collect();
        sorted.sort_unstable_by(|(a, i), (b, j)| a.total_cmp(b).then(i.cmp(j)));
        sorted
    }

    fn by_floats(&self, places: &[(usize, Tolerance)], rows: &[u32]) -> Vec<u32> {
        let mut sorted = rows.to_vec();
        sorted.sort_by(|a, b| {
            let by = |(place, _): &(usize, Tolerance)| self.float(*place, *a).total_cmp(&self.float(*place, *b));
            places.iter().map(by).find(|order| order.is_ne()).unwrap_or(a.cmp(b))
        });
        sorted
    }
}

/// Groups some rows of both sides by key.
pub(crate) fn groups(gold: (&Side, Range<usize>), pred: (&Side, Range<usize>)) -> Groups {
    let rows = |range: Range<usize>| {
        let end = |end| u32::try_from(end).unwrap_or(u32::MAX);
        end(range.start)..end(range.end)
    };
    group((&gold.0.keyed, rows(gold.1)), (&pred.0.keyed, rows(pred.1)))
}

/// Compares some rows of gold with some of a submission as bags: gives what is left over, each
/// row standing for itself as often as it occurs. None if the work ran out.
pub(crate) fn bags(gold: (&Side, Range<usize>), pred: (&Side, Range<usize>), work: &mut Work) -> Option<Rest> {
    let (gold_side, pred_side) = (gold.0, pred.0);
    let mut rest = Rest::default();
    for group in groups(gold, pred).iter() {
        if let ([row], [at]) = (group.gold, group.pred)
            && gold_side.floats_equal(*row as usize, pred_side, *at as usize)
        {
            continue;
        }
        rest.gold.extend(alone((gold_side, group.gold), (pred_side, group.pred), work)?);
        rest.pred.extend(alone((pred_side, group.pred), (gold_side, group.gold), work)?);
    }
    rest.gold.sort_unstable();
    rest.pred.sort_unstable();
    Some(rest)
}

/// Compares as sets: gives the first of each distinct row that the other side lacks, and how many
/// distinct rows each side has.
pub(crate) fn sets(gold: &Side, pred: &Side) -> (Rest, [usize; 2]) {
    let (mut rest, mut distinct) = (Rest::default(), [0, 0]);
    for group in groups((gold, 0..gold.rows), (pred, 0..pred.rows)).iter() {
        distinct[0] += usize::from(!group.gold.is_empty());
        distinct[1] += usize::from(!group.pred.is_empty());
        match (group.gold.first(), group.pred.first()) {
            (Some(row), None) => rest.gold.push(*row),
            (None, Some(row)) => rest.pred.push(*row),
            _ => {}
        }
    }
    (rest, distinct)
}

/// The lefts, all of one key, that find no partner among the rights of the same key, each right
/// serving once. None if the work ran out.
pub(crate) fn alone(left: (&Side, &[u32]), right: (&Side, &[u32]), work: &mut Work) -> Option<Vec<u32>> {
    let ((left_side, lefts), (right_side, rights)) = (left, right);
    let (Some(first), false) = (lefts.first(), rights.is_empty()) else {
        return Some(lefts.to_vec());
    };
    match left_side.finite_columns(*first).as_slice() {
        [] => Some(lefts.get(rights.len()..).unwrap_or_default().to_vec()),
        [(place, tolerance)] => {
            let (a, b) = (left_side.by_float(*place, lefts), right_side.by_float(*place, rights));
            work.take(a.len() + b.len())?;
            Some(alone_on_a_line(&a, &b, *tolerance))
        }
        columns => {
            work.take(lefts.len())?;
            let sorted = left_side.by_floats(columns, lefts);
            let wanted = right_side.by_floats(columns, rights);
            let mut pairs = sorted.iter().zip(&wanted);
            let fits = |(a, b): (&u32, &u32)| left_side.floats_equal(*a as usize, right_side, *b as usize);
            if sorted.len() <= wanted.len() && pairs.all(fits) {
                return Some(Vec::new());
            }
            let edges = edges((left_side, &sorted), (right_side, &wanted), columns, work)?;
            let alone = unpaired(&edges, wanted.len(), work)?;
            Some(alone.into_iter().filter_map(|at| sorted.get(at).copied()).collect())
        }
    }
}

/// With one column of floats, the rights that a left may take are a run in sorted order, and the
/// runs move up with the lefts: so the first that is open is always a best choice.
fn alone_on_a_line(lefts: &[(f64, u32)], rights: &[(f64, u32)], tolerance: Tolerance) -> Vec<u32> {
    let mut alone = Vec::new();
    let mut rights = rights.iter().peekable();
    for (x, row) in lefts {
        while rights.next_if(|(y, _)| y < x && !tolerance.covers(*x, *y)).is_some() {}
        if rights.next_if(|(y, _)| tolerance.covers(*x, *y)).is_none() {
            alone.push(*row);
        }
    }
    alone
}

/// Which rights each left may take. Only rights inside the tolerance of the column that leaves
/// the fewest are looked at.
fn edges(
    left: (&Side, &[u32]),
    right: (&Side, &[u32]),
    columns: &[(usize, Tolerance)],
    work: &mut Work,
) -> Option<Edges> {
    let ((left_side, lefts), (right_side, rights)) = (left, right);
    work.take(columns.len() * (lefts.len() + rights.len()))?;
    let windows = columns
        .iter()
        .map(|(place, tolerance)| {
            let index = |side: &Side, rows: &[u32]| {
                let mut sorted: Vec<(f64, usize)> = rows.iter().map(|row| side.float(*place, *row)).zip(0..).collect();
                sorted.sort_by(|(a, _), (b, _)| a.total_cmp(b));
                sorted
            };
            Windows::new(index(left_side, lefts), index(right_side, rights), *tolerance)
        })
        .min_by_key(Windows::size)?;
    work.take(windows.size())?;
    let mut edges = vec![Vec::new(); lefts.len()];
    for ((_, left), window) in windows.lefts.iter().zip(&windows.ranges) {
        let (Some(row), Some(wanted)) = (lefts.get(*left), edges.get_mut(*left)) else { continue };
        for (_, right) in windows.rights.get(window.clone()).unwrap_or_default() {
            let at = rights.get(*right).copied()?;
            if left_side.floats_equal(*row as usize, right_side, at as usize) {
                wanted.push(u32::try_from(*right).ok()?);
            }
        }
    }
    Some(edges)
}

/// For every left in order of one column, the run of rights inside its tolerance.
struct Windows {
    lefts: Vec<(f64, usize)>,
    rights: Vec<(f64, usize)>,
    ranges: Vec<Range<usize>>,
}

impl Windows {
    fn new(lefts: Vec<(f64, usize)>, rights: Vec<(f64, usize)>, tolerance: Tolerance) -> Windows {
        let (mut start, mut end) = (0, 0);
        let ranges = lefts
            .iter()
            .map(|(x, _)| {
                let below = |y: f64| y < *x && !tolerance.covers(*x, y);
                let reached = |y: f64| y < *x || tolerance.covers(*x, y);
                while rights.get(start).is_some_and(|(y, _)| below(*y)) {
                    start += 1;
                }
                end = end.max(start);
                while rights.get(end).is_some_and(|(y, _)| reached(*y)) {
                    end += 1;
                }
                start..end
            })
            .collect();
        Windows { lefts, rights, ranges }
    }

    fn size(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }
}
