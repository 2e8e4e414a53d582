//! Keys and values of one sequence and one key head, laid out as attention reads them, so that
//! nothing is copied when a token is added or attended to.

use super::panels::{Panels, width};

/// Positions in a block of values: short sequences should not pay for long ones.
const BLOCK: usize = 64;

/// The keys as panels of a `head × positions` matrix, the values as panels of `positions × head`.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    keys: Vec<f32>,
    values: Vec<f32>,
    head: usize,
    len: usize,
    width: usize,
}

impl Cache {
    pub(crate) fn new(head: usize) -> Cache {
        Cache { keys: Vec::new(), values: Vec::new(), head, len: 0, width: width() }
    }

    /// A cache that will hold so many positions.
    pub(crate) fn with_room(head: usize, positions: usize) -> Cache {
        let mut cache = Cache::new(head);
        cache.keys.reserve(positions.next_multiple_of(cache.width) * head);
        cache.values.reserve(positions.next_multiple_of(BLOCK) * head.next_multiple_of(cache.width));
        cache
    }

    /// Adds one position.
    pub(crate) fn push(&mut self, key: &[f32], value: &[f32]) {
        let (width, head, position) = (self.width, self.head, self.len);
        if position.is_multiple_of(width) {
            self.keys.resize((position / width + 1) * width * head, 0.0);
        }
        let panel = &mut self.keys[position / width * width * head..];
        let column = panel[position % width..].iter_mut().step_by(width);
        column.zip(key).for_each(|(slot, key)| *slot = *key);

        let panels = head.div_ceil(width);
        if position.is_multiple_of(BLOCK) {
            self.values.resize((position / BLOCK + 1) * BLOCK * panels * width, 0.0);
        }
        let block = &mut self.values[position / BLOCK * BLOCK * panels * width..];
        for (panel, value) in value.chunks(width).enumerate() {
            let start = (panel * BLOCK + position % BLOCK) * width;
            block[start..start + value.len()].copy_from_slice(value);
        }
        self.len += 1;
    }

    /// The first `limit` keys as the right-hand side of `queries · keysᵀ`.
    pub(crate) fn keys(&self, limit: usize) -> Panels<'_> {
        Panels { data: &self.keys, k: self.head, n: limit, block: self.head }
    }

    /// The first `limit` values as the right-hand side of `weights · values`.
    pub(crate) fn values(&self, limit: usize) -> Panels<'_> {
        Panels { data: &self.values, k: limit, n: self.head, block: BLOCK }
    }
}
