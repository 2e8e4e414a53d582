//! Pairing things of two sides, each at most once: bipartite matching with bounded work.

use std::collections::VecDeque;

/// How much work a verdict may take, in looks at a pair of rows. Whoever runs out is not matched:
/// a submission is never accepted for want of time.
#[derive(Debug)]
pub(crate) struct Work {
    left: u32,
}

impl Work {
    pub(crate) fn new() -> Work {
        Work { left: 4_000_000 }
    }

    /// Takes some; none where there is not enough.
    pub(crate) fn take(&mut self, amount: usize) -> Option<()> {
        let amount = u32::try_from(amount).ok()?;
        self.left = self.left.checked_sub(amount)?;
        Some(())
    }
}

/// Which right each left may take.
pub(crate) type Edges = Vec<Vec<u32>>;

/// Pairs as many lefts as possible. Gives the lefts that found no partner; none if the work ran
/// out. Augmenting paths by breadth, after a greedy start.
pub(crate) fn unpaired(edges: &Edges, rights: usize, work: &mut Work) -> Option<Vec<usize>> {
    let mut pairs = Pairs { of_right: vec![None; rights], of_left: vec![None; edges.len()] };
    for (left, wanted) in edges.iter().enumerate() {
        work.take(wanted.len() + 1)?;
        let open = wanted.iter().find(|right| pairs.is_open(**right));
        if let Some(right) = open {
            pairs.join(u32::try_from(left).ok()?, *right);
        }
    }
    let mut alone = Vec::new();
    for left in 0..edges.len() {
        let free = pairs.of_left.get(left).is_some_and(Option::is_none);
        if free && !pairs.augment(u32::try_from(left).ok()?, edges, work)? {
            alone.push(left);
        }
    }
    Some(alone)
}

struct Pairs {
    of_right: Vec<Option<u32>>,
    of_left: Vec<Option<u32>>,
}

impl Pairs {
    fn is_open(&self, right: u32) -> bool {
        self.of_right.get(right as usize).is_some_and(Option::is_none)
    }

    fn join(&mut self, left: u32, right: u32) {
        if let Some(slot) = self.of_right.get_mut(right as usize) {
            *slot = Some(left);
        }
        if let Some(slot) = self.of_left.get_mut(left as usize) {
            *slot = Some(right);
        }
    }

    /// Looks for a path from a free left to an open right along which every pair can be changed.
    fn augment(&mut self, start: u32, edges: &Edges, work: &mut Work) -> Option<bool> {
        // Clearing a word costs far less than a look at a pair.
        work.take(self.of_right.len() / 16)?;
        // From which left each right was reached.
        let mut reached: Vec<Option<u32>> = vec![None; self.of_right.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(left) = queue.pop_front() {
            let wanted = edges.get(left as usize)?;
            work.take(wanted.len() + 1)?;
            for right in wanted {
                let slot = reached.get_mut(*right as usize)?;
                if slot.is_some() {
                    continue;
                }
                *slot = Some(left);
                match self.of_right.get(*right as usize)? {
                    Some(next) => queue.push_back(*next),
                    None => {
                        self.turn(*right, &reached);
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    }

    /// Gives every right on the path to the left that reached it.
    fn turn(&mut self, end: u32, reached: &[Option<u32>]) {
        let mut right = Some(end);
        while let Some(at) = right {
            let Some(left) = reached.get(at as usize).copied().flatten() else { return };
            right = self.of_left.get(left as usize).copied().flatten();
            self.join(left, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The greatest number of pairs, by trying everything.
    fn most(edges: &Edges, left: usize, taken: &mut Vec<bool>) -> usize {
        let Some(wanted) = edges.get(left) else { return 0 };
        let mut best = most(edges, left + 1, taken);
        for right in wanted {
            if !taken[*right as usize] {
                taken[*right as usize] = true;
                best = best.max(1 + most(edges, left + 1, taken));
                taken[*right as usize] = false;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn as_many_are_paired_as_can_be(bits in prop::collection::vec(0_u8..64, 0..7)) {
            let edges: Edges = bits
                .iter()
                .map(|bits| (0..6).filter(|right| bits >> right & 1 == 1).collect())
                .collect();
            let alone = unpaired(&edges, 6, &mut Work::new()).unwrap();
            prop_assert_eq!(edges.len() - alone.len(), most(&edges, 0, &mut vec![false; 6]));
        }
    }

    #[test]
    fn work_is_bounded() {
        let edges: Edges = vec![(0..3_000).collect(); 3_001];
        assert_eq!(unpaired(&edges, 3_000, &mut Work::new()), None);
        let chain: Edges = (0..20_000).map(|left| vec![left, (left + 1) % 20_000]).collect();
        assert_eq!(unpaired(&chain, 20_000, &mut Work::new()), Some(vec![]));
    }
}
