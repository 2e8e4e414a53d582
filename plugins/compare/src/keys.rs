//! Rows by their exact cells: rows of one group agree in every cell but their finite floats.

use std::cmp::Ordering;

use crate::canon::Canon;

/// Columns with one hash per row over their exact cells. Hashes only sort quickly: rows are of
/// one group where their cells are equal, and no choice of cells makes grouping slow.
#[derive(Debug)]
pub(crate) struct Keyed {
    pub(crate) columns: Vec<Canon>,
    hashes: Vec<u64>,
}

impl Keyed {
    pub(crate) fn new(columns: Vec<Canon>, rows: usize) -> Keyed {
        let mut hashes = vec![0; rows];
        columns.iter().for_each(|column| column.mix(&mut hashes));
        Keyed { columns, hashes }
    }

    /// Whether a row agrees with a row of the other side in every cell but finite floats.
    pub(crate) fn same_key(&self, row: usize, other: &Keyed, at: usize) -> bool {
        self.hashes.get(row) == other.hashes.get(at) && self.compare(row, other, at).is_eq()
    }

    /// Some order in which rows that agree stand side by side.
    fn compare(&self, row: usize, other: &Keyed, at: usize) -> Ordering {
        let columns = self.columns.iter().zip(&other.columns);
        let order = columns.map(|(a, b)| a.compare_key(row, b, at)).find(|order| order.is_ne());
        order.unwrap_or(Ordering::Equal)
    }
}

/// Rows of both sides by group.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Group after group, in each gold's rows before the submission's.
    rows: Vec<u32>,
    /// Where in `rows` each group's gold rows end, and where the group ends.
    ends: Vec<(usize, usize)>,
}

/// Rows of one group on both sides, each in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'r> {
    pub(crate) gold: &'r [u32],
    pub(crate) pred: &'r [u32],
}

/// Marks a row of the submission; no table has that many rows.
const PRED: u32 = 1 << 31;

/// Groups some rows of gold and of a submission.
pub(crate) fn group(gold: (&Keyed, impl Iterator<Item = u32>), pred: (&Keyed, impl Iterator<Item = u32>)) -> Groups {
    let ((gold, gold_rows), (pred, pred_rows)) = (gold, pred);
    let side = |row: u32| if row & PRED == 0 { gold } else { pred };
    let hash = |row: u32| side(row).hashes.get((row & !PRED) as usize).copied().unwrap_or(0);
    let rows = gold_rows.chain(pred_rows.map(|row| row | PRED));
    let mut sorted: Vec<(u64, u32)> = rows.map(|row| (hash(row), row)).collect();
    let compare = |(a_hash, a): &(u64, u32), (b_hash, b): &(u64, u32)| {
        let by_cells = || side(*a).compare((a & !PRED) as usize, side(*b), (b & !PRED) as usize);
        a_hash.cmp(b_hash).then_with(by_cells)
    };
    sorted.sort_unstable_by(|a, b| compare(a, b).then(a.1.cmp(&b.1)));
    let mut ends = Vec::with_capacity(sorted.len());
    let mut end = 0;
    for run in sorted.chunk_by(|a, b| compare(a, b).is_eq()) {
        let of_gold = run.iter().filter(|(_, row)| row & PRED == 0).count();
        ends.push((end + of_gold, end + run.len()));
        end += run.len();
    }
    Groups { rows: sorted.into_iter().map(|(_, row)| row & !PRED).collect(), ends }
}

impl Groups {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Group<'_>> {
        let mut start = 0;
        self.ends.iter().map(move |(middle, end)| {
            let rows = |from: usize, to: usize| self.rows.get(from..to).unwrap_or_default();
            let group = Group { gold: rows(start, *middle), pred: rows(*middle, *end) };
            start = *end;
            group
        })
    }
}

/// Mixes a word into a hash.
pub(crate) fn mixed(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

/// A quick hash of bytes, eight at a time.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let start = bytes.len() as u64;
    let whole = words.iter().fold(start, |hash, word| mixed(hash, u64::from_le_bytes(*word)));
    let last = rest.iter().fold(0, |last, byte| last << 8 | u64::from(*byte));
    mixed(whole, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyed(columns: &[&[&str]]) -> Keyed {
        let rows = columns[0].len();
        Keyed::new(columns.iter().map(|cells| Canon::of_texts(cells)).collect(), rows)
    }

    #[test]
    fn cells_cannot_run_into_each_other() {
        let keys = keyed(&[&["ab", "a", ""], &["c", "bc", "abc"]]);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            assert!(!keys.same_key(a, &keys, b));
        }
    }

    #[test]
    fn groups_pair_equal_keys_and_keep_the_rest() {
        let (gold, pred) = (keyed(&[&["x", "y", "x"]]), keyed(&[&["z", "x", "z"]]));
        let groups = group((&gold, 0..3), (&pred, 0..3));
        let shown: Vec<_> = groups.iter().map(|group| (group.gold.to_vec(), group.pred.to_vec())).collect();
        let mut shown = shown;
        shown.sort();
        assert_eq!(shown, [(vec![], vec![0, 2]), (vec![0, 2], vec![1]), (vec![1], vec![])]);
    }

    #[test]
    fn one_hash_for_all_still_groups_rightly() {
        let texts: Vec<String> = (0..50).map(|n| (n % 7).to_string()).collect();
        let cells: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut gold = keyed(&[&cells]);
        gold.hashes.fill(5);
        let groups = group((&gold, 0..50), (&gold, 0..50));
        let mut sizes: Vec<usize> = groups.iter().map(|group| group.gold.len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [7, 7, 7, 7, 7, 7, 8]);
        assert!(groups.iter().all(|group| group.gold == group.pred));
    }
}
