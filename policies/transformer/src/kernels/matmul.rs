//! The matrix product. Every element is one chain of fused multiply-adds in each block of rows of
//! the right-hand side, and the blocks are added in order: the bits of a row of the result depend
//! on that row and the right-hand side alone.

use std::cell::RefCell;

use pulp::{Arch, Simd, WithSimd};

use super::LANES;
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
        if self.a.rows == 1 && self.a.col == 1 {
            return self.single(simd);
        }
        // Accumulators, two vectors of the right-hand side and one broadcast must fit the registers.
        if S::REGISTER_COUNT >= 32 { self.run::<S, 8>(simd) } else { self.run::<S, 6>(simd) }
    }
}

impl Product<'_> {
    #[inline(always)]
    fn run<S: Simd, const M: usize>(self, simd: S) {
        let Product { a, b, c, stride, mut into, left } = self;
        let width = 2 * S::F32_LANES;
        for (block, from) in (0..b.k).step_by(b.block).enumerate() {
            let depth = b.block.min(b.k - from);
            if a.col != 1 {
                pack_left::<M>(left, a, from, depth);
            }
            for panel in 0..b.n.div_ceil(width) {
                let first = panel * width;
                let cols = width.min(b.n - first);
                let right = b.part(block, panel, depth, width);
                for row in (0..a.rows).step_by(M) {
                    let rows = M.min(a.rows - row);
                    let tile = Tile { c: &mut c[row * stride + first..], stride, rows, cols, into };
                    if a.col == 1 {
                        let left = &a.data[row * a.row + from..];
                        match tall::<M>(rows) {
                            1 => tile.of_rows::<S, 1>(simd, left, a.row, depth, right),
                            2 => tile.of_rows::<S, 2>(simd, left, a.row, depth, right),
                            4 => tile.of_rows::<S, 4>(simd, left, a.row, depth, right),
                            _ => tile.of_rows::<S, M>(simd, left, a.row, depth, right),
                        }
                    } else {
                        tile.of_columns::<S, M>(simd, &left[row / M * tile_room::<M>(depth)..][..M * depth], right);
                    }
                }
            }
            into = Into::Add;
        }
    }
}

/// A single row, as every row that draws has in attention. One panel gives but two chains of sums, each
/// waiting for itself, so several panels go abreast, or two blocks of two panels.
impl Product<'_> {
    #[inline(always)]
    fn single<S: Simd>(mut self, simd: S) {
        let width = 2 * S::F32_LANES;
        let panels = self.b.n.div_ceil(width);
        let (size, mut block) = (self.b.block, 0);
        while block * size < self.b.k {
            let left = self.b.k - block * size;
            if panels == 2 && left >= 2 * size {
                self.abreast::<S, 2, 2>(simd, block, 0, size);
                block += 2;
                continue;
            }
            let depth = size.min(left);
            let mut panel = 0;
            while panel < panels {
                panel += match panels - panel {
                    1 => self.abreast::<S, 1, 1>(simd, block, panel, depth),
                    2 => self.abreast::<S, 1, 2>(simd, block, panel, depth),
                    3 | 5 | 6 => self.abreast::<S, 1, 3>(simd, block, panel, depth),
                    _ => self.abreast::<S, 1, 4>(simd, block, panel, depth),
                };
            }
            self.into = Into::Add;
            block += 1;
        }
    }

    /// The row times `P` panels of each of `B` blocks, all of them `depth` deep; gives `P`.
    #[inline(always)]
    fn abreast<S: Simd, const B: usize, const P: usize>(
        &mut self,
        simd: S,
        block: usize,
        panel: usize,
        depth: usize,
    ) -> usize {
        let (b, width) = (self.b, 2 * S::F32_LANES);
        let left: [&[f32]; B] = std::array::from_fn(|next| &self.a.data[(block + next) * b.block..][..depth]);
        let right: [[&[[S::f32s; 2]]; P]; B] = std::array::from_fn(|down| {
            std::array::from_fn(|next| {
                let part = b.part(block + down, panel + next, depth, width);
                &S::as_simd_f32s(part).0.as_chunks::<2>().0[..depth]
            })
        });
        let mut sums = [[[simd.splat_f32s(0.0); 2]; P]; B];
        for step in 0..depth {
            for down in 0..B {
                let value = simd.splat_f32s(left[down][step]);
                for next in 0..P {
                    let (sums, right) = (&mut sums[down][next], right[down][next][step]);
                    sums[0] = simd.mul_add_f32s(value, right[0], sums[0]);
                    sums[1] = simd.mul_add_f32s(value, right[1], sums[1]);
                }
            }
        }
        let columns = panel * width..b.n.min((panel + P) * width);
        for sums in sums {
            for (c, sums) in self.c[columns.clone()].chunks_mut(width).zip(sums) {
                let cols = c.len();
                Tile { c, stride: cols, rows: 1, cols, into: self.into }.write::<S, 1>(simd, &[sums]);
            }
            self.into = if B > 1 { Into::Add } else { self.into };
        }
        P
    }
}

/// The height of the tile that serves so many rows.
#[inline(always)]
fn tall<const M: usize>(rows: usize) -> usize {
    match rows {
        1 | 2 => rows,
        3 | 4 => 4,
        _ => M,
    }
}

/// Distance between interleaved tiles: a cache line more than they need, or else the same row of
/// every tile would fall into the same few places of the first-level cache.
#[inline(always)]
fn tile_room<const M: usize>(depth: usize) -> usize {
    depth * M + LANES
}

/// Interleaves the rows of each tile: one column of a tile after another.
#[inline(always)]
fn pack_left<const M: usize>(left: &mut Vec<f32>, a: Matrix<'_>, from: usize, depth: usize) {
    let room = tile_room::<M>(depth);
    left.resize(a.rows.div_ceil(M) * room, 0.0);
    // One column of the left-hand side after another: they lie far apart, their rows side by side.
    for step in 0..depth {
        let source = &a.data[(from + step) * a.col..];
        for (tile, row) in (0..a.rows).step_by(M).enumerate() {
            let target = &mut left[tile * room + step * M..][..M];
            match source[row * a.row..].first_chunk::<M>() {
                Some(source) if a.row == 1 && row + M <= a.rows => target.copy_from_slice(source),
                _ => {
                    target.fill(0.0);
                    let source = source[row * a.row..].iter().step_by(a.row);
                    target.iter_mut().zip(source).take(a.rows - row).for_each(|(to, from)| *to = *from);
                }
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
    /// The left-hand side is read where it lies, `stride` between rows.
    #[inline(always)]
    fn of_rows<S: Simd, const M: usize>(self, simd: S, left: &[f32], stride: usize, depth: usize, right: &[f32]) {
        let (right, _) = S::as_simd_f32s(right);
        let (right, _) = right.as_chunks::<2>();
        let right = &right[..depth];
        // Rows past the last stand for the last; their sums are thrown away.
        let left: [&[f32]; M] = std::array::from_fn(|row| &left[row.min(self.rows - 1) * stride..][..depth]);
        let mut sums = [[simd.splat_f32s(0.0); 2]; M];
        for (step, right) in right.iter().enumerate() {
            for row in 0..M {
                let value = simd.splat_f32s(left[row][step]);
                sums[row][0] = simd.mul_add_f32s(value, right[0], sums[row][0]);
                sums[row][1] = simd.mul_add_f32s(value, right[1], sums[row][1]);
            }
        }
        self.write::<S, M>(simd, &sums);
    }

    /// The left-hand side was interleaved.
    #[inline(always)]
    fn of_columns<S: Simd, const M: usize>(self, simd: S, left: &[f32], right: &[f32]) {
        let (left, _) = left.as_chunks::<M>();
        let (right, _) = S::as_simd_f32s(right);
        let (right, _) = right.as_chunks::<2>();
        let mut sums = [[simd.splat_f32s(0.0); 2]; M];
        for (left, right) in left.iter().zip(right) {
            for row in 0..M {
                let value = simd.splat_f32s(left[row]);
                sums[row][0] = simd.mul_add_f32s(value, right[0], sums[row][0]);
                sums[row][1] = simd.mul_add_f32s(value, right[1], sums[row][1]);
            }
        }
        self.write::<S, M>(simd, &sums);
    }

    #[inline(always)]
    fn write<S: Simd, const M: usize>(self, simd: S, sums: &[[S::f32s; 2]; M]) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::panels::Packed;
    use crate::kernels::pool::Pool;

    fn numbers(count: usize, salt: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * salt % 211) as f32 - 105.0) / 100.0).collect()
    }

    /// A matrix in each of the layouts that a left-hand side comes in.
    fn layouts(data: &[f32], rows: usize, cols: usize) -> [(Vec<f32>, Matrix<'static>); 3] {
        let empty: &'static [f32] = &[];
        let at = |row: usize, col: usize| data[row * cols + col];
        let across = (0..cols).flat_map(|col| (0..rows).map(move |row| at(row, col))).collect();
        let mut wide = vec![f32::NAN; rows * cols * 6];
        (0..rows * cols).for_each(|i| wide[i / cols * cols * 6 + i % cols * 3] = data[i]);
        let matrix = |row, col| Matrix { data: empty, rows, cols, row, col };
        [(data.to_vec(), matrix(cols, 1)), (across, matrix(1, rows)), (wide, matrix(cols * 6, 3))]
    }

    #[test]
    fn every_size_and_layout_is_right_and_has_the_same_bits() {
        let pool = Pool::new(2).unwrap();
        for (m, n, k) in [
            (1, 1, 1),
            (2, 33, 5),
            (3, 31, 257),
            (5, 64, 300),
            (8, 32, 256),
            (13, 70, 601),
            (29, 5, 48),
            (3, 200, 300),
            (2, 160, 40),
        ] {
            let (a, b) = (numbers(m * k, 37), numbers(k * n, 53));
            let mut packed = Packed::default();
            packed.fill(&pool, Matrix::rows(&b, k, n, n));
            let mut first: Option<Vec<f32>> = None;
            for (data, matrix) in layouts(&a, m, k) {
                let left = Matrix { data: &data, ..matrix };
                // One column more than the product has: it must stay as it was.
                let mut c = vec![7.0; m * (n + 1)];
                multiply(left, packed.view(), &mut c, n + 1, Into::Replace);
                for (row, c) in c.chunks_exact(n + 1).enumerate() {
                    let exact = |col: usize| -> f64 {
                        (0..k).map(|i| f64::from(a[row * k + i]) * f64::from(b[i * n + col])).sum()
                    };
                    let worst = (0..n).map(|col| (f64::from(c[col]) - exact(col)).abs()).fold(0.0, f64::max);
                    assert!(worst < 1e-4 && c[n] == 7.0, "{m} x {n} x {k}, row {row}: {worst}");
                    // Alone a row has the same bits.
                    let mut alone = vec![0.0; n];
                    multiply(left.slice_rows(row, 1), packed.view(), &mut alone, n, Into::Replace);
                    assert_eq!(alone, c[..n], "{m} x {n} x {k}, row {row}");
                }
                let mut twice = c.clone();
                multiply(left, packed.view(), &mut twice, n + 1, Into::Add);
                assert!(twice.iter().zip(&c).all(|(twice, c)| (twice - 2.0 * c).abs() < 1e-4 || *c == 7.0));
                assert_eq!(*first.get_or_insert_with(|| c.clone()), c, "layouts differ");
            }
            // The right-hand side from its transpose.
            let across: Vec<f32> =
                (0..n).flat_map(|col| (0..k).map(|row| b[row * n + col]).collect::<Vec<_>>()).collect();
            packed.fill(&pool, Matrix::rows(&across, n, k, k).transposed());
            let mut c = vec![7.0; m * (n + 1)];
            multiply(Matrix::rows(&a, m, k, k), packed.view(), &mut c, n + 1, Into::Replace);
            assert_eq!(first, Some(c));
        }
    }
}
