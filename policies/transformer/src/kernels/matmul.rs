//! The matrix product. Every element is one chain of fused multiply-adds in each block of rows of
//! the right-hand side, and the blocks are added in order: the bits of a row of the result depend
//! on that row and the right-hand side alone.

use std::cell::RefCell;

use pulp::{Arch, Simd, WithSimd};

use super::panels::{Matrix, Panels};

/// What happens to what the result held before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Into {
    /// It is overwritten.
    Replace,
    /// The product is added to it.
    Add,
}

/// `c = a · b` or `c += a · b`, on this thread. Row `i` of the result begins at `c[i * stride]`.
pub(crate) fn multiply(a: Matrix<'_>, b: Panels<'_>, c: &mut [f32], stride: usize, into: Into) {
    thread_local! {
        static LEFT: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
    }
    if a.rows == 0 || b.n == 0 {
        return;
    }
    LEFT.with_borrow_mut(|left| Arch::new().dispatch(Product { a, b, c, stride, into, left }));
}

struct Product<'a> {
    a: Matrix<'a>,
    b: Panels<'a>,
    c: &'a mut [f32],
    stride: usize,
    into: Into,
    left: &'a mut Vec<f32>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Accumulators, two vectors of the right-hand side and one broadcast must fit the registers.
        if S::REGISTER_COUNT >= 32 { self.run::<S, 12>(simd) } else { self.run::<S, 6>(simd) }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn run<S: Simd, const M: usize>(self, simd: S) {
        let Product { a, b, c, stride, mut into, left } = self;
        let width = 2 * S::F32_LANES;
        for (block, from) in (0..b.k).step_by(b.block).enumerate() {
            let depth = b.block.min(b.k - from);
            pack_left::<M>(left, a, from, depth);
            for panel in 0..b.n.div_ceil(width) {
                let first = panel * width;
                let cols = width.min(b.n - first);
                let right = b.part(block, panel, depth, width);
                for row in (0..a.rows).step_by(M) {
                    let rows = M.min(a.rows - row);
                    let target = Tile { c: &mut c[row * stride + first..], stride, rows, cols, into };
                    let left = &left[row * depth..][..tall::<M>(rows) * depth];
                    match tall::<M>(rows) {
                        1 => target.compute::<S, 1>(simd, left, right),
                        2 => target.compute::<S, 2>(simd, left, right),
                        4 => target.compute::<S, 4>(simd, left, right),
                        8 => target.compute::<S, 8>(simd, left, right),
                        _ => target.compute::<S, M>(simd, left, right),
                    }
                }
            }
            into = Into::Add;
        }
    }
}

/// The height of the tile that serves so many rows.
#[inline(always)]
fn tall<const M: usize>(rows: usize) -> usize {
    match rows {
        1 | 2 => rows,
        3 | 4 => 4,
        5..=8 if M > 8 => 8,
        _ => M,
    }
}

/// Interleaves the rows of each tile: one column of a tile after another.
#[inline(always)]
fn pack_left<const M: usize>(left: &mut Vec<f32>, a: Matrix<'_>, from: usize, depth: usize) {
    left.resize(a.rows.next_multiple_of(M) * depth, 0.0);
    for row in (0..a.rows).step_by(M) {
        let rows = M.min(a.rows - row);
        let tall = tall::<M>(rows);
        let tile = &mut left[row * depth..][..tall * depth];
        if a.row == 1 {
            for (step, tile) in tile.chunks_exact_mut(tall).enumerate() {
                let source = (from + step) * a.col + row;
                tile[..rows].copy_from_slice(&a.data[source..source + rows]);
                tile[rows..].fill(0.0);
            }
            continue;
        }
        for lane in 0..tall {
            let targets = tile[lane..].iter_mut().step_by(tall);
            if lane >= rows {
                targets.for_each(|target| *target = 0.0);
            } else if a.col == 1 {
                let source = &a.data[(row + lane) * a.row + from..][..depth];
                targets.zip(source).for_each(|(target, value)| *target = *value);
            } else {
                let source = a.data[(row + lane) * a.row + from * a.col..].iter().step_by(a.col);
                targets.zip(source).for_each(|(target, value)| *target = *value);
            }
        }
    }
}

/// A piece of the result: `rows × cols`, at most as large as the registers hold.
struct Tile<'a> {
    c: &'a mut [f32],
    stride: usize,
    rows: usize,
    cols: usize,
    into: Into,
}

impl Tile<'_> {
    #[inline(always)]
    fn compute<S: Simd, const M: usize>(self, simd: S, left: &[f32], right: &[f32]) {
        let mut sums = [[simd.splat_f32s(0.0); 2]; M];
        let (left, _) = left.as_chunks::<M>();
        let (right, _) = S::as_simd_f32s(right);
        let (right, _) = right.as_chunks::<2>();
        for (left, right) in left.iter().zip(right) {
            for row in 0..M {
                let value = simd.splat_f32s(left[row]);
                sums[row][0] = simd.mul_add_f32s(value, right[0], sums[row][0]);
                sums[row][1] = simd.mul_add_f32s(value, right[1], sums[row][1]);
            }
        }
        let lanes = S::F32_LANES;
        for (row, sums) in sums.iter().enumerate().take(self.rows) {
            let target = &mut self.c[row * self.stride..][..self.cols];
            if target.len() == 2 * lanes {
                let (target, _) = S::as_mut_simd_f32s(target);
                for (target, sum) in target.iter_mut().zip(sums) {
                    *target = if self.into == Into::Add { simd.add_f32s(*target, *sum) } else { *sum };
                }
            } else {
                let (first, second) = target.split_at_mut(lanes.min(target.len()));
                for (target, sum) in [first, second].into_iter().zip(sums) {
                    let before = simd.partial_load_f32s(target);
                    let after = if self.into == Into::Add { simd.add_f32s(before, *sum) } else { *sum };
                    simd.partial_store_f32s(target, after);
                }
            }
        }
    }
}
