//! Rotary position embedding, halves of a head paired: element `i` turns with element `i + half`
//! by the angle `position · theta^(-i / half)`.

/// Cosines and sines for every position of a context.
#[derive(Clone, Debug)]
pub(crate) struct Rope {
    /// `half` cosines, then `half` sines, for each position.
    table: Vec<f32>,
    half: usize,
}

impl Rope {
    pub(crate) fn new(context: usize, head: usize, theta: f32) -> Rope {
        let half = head / 2;
        let mut table = Vec::with_capacity(context * head);
        for position in 0..context {
            let angle = |i: usize| position as f64 * f64::from(theta).powf(-(i as f64) / half as f64);
            table.extend((0..half).map(|i| angle(i).cos() as f32));
            table.extend((0..half).map(|i| angle(i).sin() as f32));
        }
        Rope { table, half }
    }

    /// Cosines and sines of one position.
    fn at(&self, position: usize) -> (&[f32], &[f32]) {
        self.table[position * 2 * self.half..][..2 * self.half].split_at(self.half)
    }

    /// Turns every head of one token, forward or (the gradient) backward.
    pub(crate) fn turn(&self, heads: &mut [f32], position: usize, backward: bool) {
        let (cosines, sines) = self.at(position);
        let sign = if backward { -1.0 } else { 1.0 };
        for head in heads.chunks_exact_mut(2 * self.half) {
            let (first, second) = head.split_at_mut(self.half);
            let angles = cosines.iter().zip(sines);
            for ((a, b), (cos, sin)) in first.iter_mut().zip(second).zip(angles) {
                let sin = sign * sin;
                let turned = *a * cos - *b * sin;
                *b = *b * cos + *a * sin;
                *a = turned;
            }
        }
    }

    /// All cosines and all sines, `[context, half]` each, for the composed path.
    pub(crate) fn tables(&self, positions: impl Iterator<Item = usize>) -> (Vec<f32>, Vec<f32>) {
        let (mut cosines, mut sines) = (Vec::new(), Vec::new());
        for position in positions {
            let (cos, sin) = self.at(position);
            cosines.extend_from_slice(cos);
            sines.extend_from_slice(sin);
        }
        (cosines, sines)
    }
}
