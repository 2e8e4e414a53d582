//! The right-hand side of a product, laid out as the inner loop reads it.
//!
//! A `k × n` matrix is cut into blocks of `block` rows and panels of `width` columns; a panel's
//! block lies in one piece, row after row. What is missing at the edges is zero.

use pulp::{Arch, Simd, WithSimd};

use super::buffer::Buffer;
use super::pool::Pool;

/// A matrix by its strides; a transpose is free.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Distance between rows.
    pub(crate) row: usize,
    /// Distance between columns.
    pub(crate) col: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix whose rows lie `stride` apart.
    pub(crate) fn rows(data: &'a [f32], rows: usize, cols: usize, stride: usize) -> Matrix<'a> {
        Matrix { data, rows, cols, row: stride, col: 1 }
    }

    /// The same numbers with rows and columns swapped.
    pub(crate) fn transposed(self) -> Matrix<'a> {
        Matrix { data: self.data, rows: self.cols, cols: self.rows, row: self.col, col: self.row }
    }

    /// Some of its rows.
    pub(crate) fn slice_rows(self, from: usize, rows: usize) -> Matrix<'a> {
        Matrix { data: self.data.get(from * self.row..).unwrap_or_default(), rows, ..self }
    }
}

/// Longest block of rows: with a panel's width it fits the first-level cache.
const LONGEST_BLOCK: usize = 256;

/// Rows in a block of a matrix of `k` rows: blocks of nearly equal length.
pub(crate) fn block_of(k: usize) -> usize {
    k.div_ceil(k.div_ceil(LONGEST_BLOCK).max(1)).max(1)
}

/// Columns in a panel: two vectors of this processor.
pub(crate) fn width() -> usize {
    struct Lanes;
    impl WithSimd for Lanes {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            2 * S::F32_LANES
        }
    }
    Arch::new().dispatch(Lanes)
}

/// Borrowed panels of a `k × n` matrix.
#[derive(Clone, Copy)]
pub(crate) struct Panels<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) k: usize,
    pub(crate) n: usize,
    pub(crate) block: usize,
}

impl<'a> Panels<'a> {
    /// The part of a panel that belongs to one block: `rows × width` numbers.
    #[inline(always)]
    pub(crate) fn part(&self, block: usize, panel: usize, rows: usize, width: usize) -> &'a [f32] {
        let start = (block * self.n.div_ceil(width) + panel) * self.block * width;
        &self.data[start..start + rows * width]
    }
}

/// Panels that are kept: a weight that many products share, or scratch space.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    data: Buffer,
    k: usize,
    n: usize,
    block: usize,
}

impl Packed {
    /// Fills the panels with a matrix, all threads together.
    pub(crate) fn fill(&mut self, pool: &Pool, matrix: Matrix<'_>) {
        let width = width();
        (self.k, self.n, self.block) = (matrix.rows, matrix.cols, block_of(matrix.rows));
        let panels = self.n.div_ceil(width);
        let size = self.block * width;
        let len = self.k.div_ceil(self.block) * panels * size;
        if self.data.len() != len {
            self.data = Buffer::any(len);
        }
        // A handful of panels to a task: packing one takes microseconds.
        let group = (panels * self.k.div_ceil(self.block)).div_ceil(4 * pool.threads()).max(1);
        let tasks: Vec<_> = self.data.chunks_mut(size * group).enumerate().collect();
        let block = self.block;
        pool.each(tasks, |(task, parts)| {
            for (index, part) in parts.chunks_mut(size).enumerate() {
                let index = task * group + index;
                fill_part(part, matrix, index / panels * block, index % panels * width, width);
            }
        });
    }

    pub(crate) fn view(&self) -> Panels<'_> {
        Panels { data: &self.data, k: self.k, n: self.n, block: self.block }
    }
}

/// Copies the rows from `first_row` and the columns from `first_col` into one part.
fn fill_part(part: &mut [f32], matrix: Matrix<'_>, first_row: usize, first_col: usize, width: usize) {
    let rows = (part.len() / width).min(matrix.rows - first_row);
    let cols = width.min(matrix.cols - first_col);
    let start = first_row * matrix.row + first_col * matrix.col;
    let source = &matrix.data[start..];
    if cols < width {
        part.fill(0.0);
    }
    if matrix.col == 1 {
        for (row, part) in part.chunks_exact_mut(width).take(rows).enumerate() {
            part[..cols].copy_from_slice(&source[row * matrix.row..][..cols]);
        }
    } else if matrix.row == 1 {
        transpose_into(part, source, rows, cols, matrix.col, width);
    } else {
        for (row, part) in part.chunks_exact_mut(width).take(rows).enumerate() {
            for (col, part) in part[..cols].iter_mut().enumerate() {
                *part = source[row * matrix.row + col * matrix.col];
            }
        }
    }
}

/// Columns are contiguous in the source: read eight of each at a time.
fn transpose_into(part: &mut [f32], source: &[f32], rows: usize, cols: usize, stride: usize, width: usize) {
    const STEP: usize = 8;
    let whole = rows / STEP * STEP;
    for from in (0..whole).step_by(STEP) {
        for col in 0..cols {
            let Some(read) = source[col * stride + from..].first_chunk::<STEP>() else { continue };
            for (row, value) in read.iter().enumerate() {
                part[(from + row) * width + col] = *value;
            }
        }
    }
    for row in whole..rows {
        for col in 0..cols {
            part[row * width + col] = source[col * stride + row];
        }
    }
}
