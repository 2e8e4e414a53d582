//! Causal attention of one sequence's queries to one key head. Several query heads may share the
//! key head: their queries are `group` rows for each token. No `tokens × tokens` matrix is ever
//! held: a block of queries at a time, and the backward pass computes its probabilities again.

use super::buffer::Buffer;
use super::cache::Cache;
use super::elementwise::exp;
use super::matmul::{Into, multiply};
use super::panels::{Matrix, Packed};
use super::pool::Pool;
use super::{LANES, add_pairwise, sum2, vectorised};

/// Rows of queries in a block.
const ROWS: usize = 48;

/// The queries of consecutive tokens, already divided by the root of the head's width.
#[derive(Clone, Copy)]
pub(crate) struct Queries<'a> {
    /// `group` rows for each token, each as wide as a head.
    pub(crate) rows: &'a [f32],
    pub(crate) head: usize,
    pub(crate) group: usize,
    /// Position of the first token.
    pub(crate) first: usize,
}

/// A block of queries: which rows, and how many keys the last of them sees.
struct Block {
    from: usize,
    rows: usize,
    limit: usize,
    /// Distance between rows of scores.
    stride: usize,
}

impl<'a> Queries<'a> {
    fn blocks(self) -> impl Iterator<Item = Block> {
        let tokens = self.rows.len() / (self.head * self.group);
        let step = (ROWS / self.group).max(1);
        (0..tokens).step_by(step).map(move |from| {
            let to = (from + step).min(tokens);
            let limit = self.first + to;
            let stride = limit.next_multiple_of(LANES);
            Block { from: from * self.group, rows: (to - from) * self.group, limit, stride }
        })
    }

    /// How many keys a row sees.
    fn seen(&self, row: usize) -> usize {
        self.first + row / self.group + 1
    }

    /// A block's rows of something laid out as the queries.
    fn of<'b>(&self, block: &Block, data: &'b [f32]) -> Matrix<'b> {
        Matrix::rows(&data[block.from * self.head..], block.rows, self.head, self.head)
    }
}

/// Attends every query to the keys up to its own position. `out` is laid out as the queries; `lse`
/// gets the logarithm of each row's normaliser.
pub(crate) fn forward(queries: Queries<'_>, cache: &Cache, out: &mut [f32], lse: &mut [f32]) {
    let head = queries.head;
    for block in queries.blocks() {
        let (mut scores, mut sums) = (Buffer::any(block.rows * block.stride), Buffer::any(block.rows));
        let (from, limit, stride) = (block.from, block.limit, block.stride);
        multiply(queries.of(&block, queries.rows), cache.keys(limit), &mut scores, stride, Into::Replace);
        for (row, scores) in scores.chunks_exact_mut(stride).enumerate() {
            let (greatest, sum) = weigh(&mut scores[..limit], queries.seen(from + row));
            lse[from + row] = greatest + f64::from(sum).ln() as f32;
            sums[row] = sum;
        }
        let weights = Matrix::rows(&scores, block.rows, limit, stride);
        let out = &mut out[from * head..][..block.rows * head];
        multiply(weights, cache.values(limit), out, head, Into::Replace);
        for (out, sum) in out.chunks_exact_mut(head).zip(&*sums) {
            let scale = 1.0 / sum;
            out.iter_mut().for_each(|value| *value *= scale);
        }
    }
}

/// Scores become `e^(score - greatest)`, those past the `seen` first zero; gives the greatest score
/// and the sum.
fn weigh(row: &mut [f32], seen: usize) -> (f32, f32) {
    vectorised(
        #[inline(always)]
        || {
            let (row, past) = row.split_at_mut(seen);
            past.fill(0.0);
            let mut most = [f32::NEG_INFINITY; LANES];
            let (chunks, rest) = row.as_chunks::<LANES>();
            for chunk in chunks {
                for lane in 0..LANES {
                    most[lane] = most[lane].max(chunk[lane]);
                }
            }
            let greatest = most.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
            let mut sums = [0.0f32; LANES];
            let (chunks, rest) = row.as_chunks_mut::<LANES>();
            for chunk in chunks {
                for lane in 0..LANES {
                    chunk[lane] = exp(chunk[lane] - greatest);
                    sums[lane] += chunk[lane];
                }
            }
            for (lane, value) in rest.iter_mut().enumerate() {
                *value = exp(*value - greatest);
                sums[lane] += *value;
            }
            (greatest, add_pairwise(sums))
        },
    )
}

/// What the backward pass reads: the forward pass's inputs and results, and the result's gradient.
pub(crate) struct Saved<'a> {
    pub(crate) queries: Queries<'a>,
    /// Keys and values, one row for each position, in rows of `head`.
    pub(crate) keys: &'a [f32],
    pub(crate) values: &'a [f32],
    pub(crate) out: &'a [f32],
    pub(crate) lse: &'a [f32],
    pub(crate) grad: &'a [f32],
}

/// Where the backward pass writes, laid out as queries, keys and values.
pub(crate) struct Grads<'a> {
    pub(crate) queries: &'a mut [f32],
    pub(crate) keys: &'a mut [f32],
    pub(crate) values: &'a mut [f32],
}

/// Gradients of the (scaled) queries, the keys and the values of a whole sequence.
pub(crate) fn backward(saved: &Saved<'_>, grads: &mut Grads<'_>) {
    let queries = saved.queries;
    let head = queries.head;
    // `keys · queriesᵀ` wants keys as columns, `scores · keys` wants them as rows; so for values.
    let room = saved.keys.len() / head;
    let (mut forth, mut back) = (Cache::with_room(head, room), Cache::with_room(head, room));
    for (key, value) in saved.keys.chunks_exact(head).zip(saved.values.chunks_exact(head)) {
        forth.push(key, value);
        back.push(value, key);
    }
    grads.keys.fill(0.0);
    grads.values.fill(0.0);
    let alone = Pool::alone();
    let (mut packed_queries, mut packed_grad) = (Packed::default(), Packed::default());
    for block in queries.blocks() {
        let (rows, limit, stride) = (block.rows, block.limit, block.stride);
        let (query, grad) = (queries.of(&block, queries.rows), queries.of(&block, saved.grad));
        let (mut weights, mut pulls) = (Buffer::any(rows * stride), Buffer::any(rows * stride));
        multiply(query, forth.keys(limit), &mut weights, stride, Into::Replace);
        multiply(grad, back.keys(limit), &mut pulls, stride, Into::Replace);
        let both = weights.chunks_exact_mut(stride).zip(pulls.chunks_exact_mut(stride));
        for (row, (weights, pulls)) in both.enumerate() {
            let row = block.from + row;
            let cells = row * head..(row + 1) * head;
            let seen = queries.seen(row);
            let results = (&saved.out[cells.clone()], &saved.grad[cells]);
            pull(&mut weights[..limit], &mut pulls[..limit], seen, saved.lse[row], results);
        }
        packed_queries.fill(&alone, query);
        packed_grad.fill(&alone, grad);
        let (weights, pulls) = (Matrix::rows(&weights, rows, limit, stride), Matrix::rows(&pulls, rows, limit, stride));
        multiply(weights.transposed(), packed_grad.view(), grads.values, head, Into::Add);
        multiply(pulls.transposed(), packed_queries.view(), grads.keys, head, Into::Add);
        let out = &mut grads.queries[block.from * head..];
        multiply(pulls, back.values(limit), out, head, Into::Replace);
    }
}

/// A row of scores becomes probabilities `p`, and a row of `grad · values` becomes the gradient of
/// the scores: `p (grad · value - Σ grad · out)`.
fn pull(weights: &mut [f32], pulls: &mut [f32], seen: usize, lse: f32, (out, grad): (&[f32], &[f32])) {
    vectorised(
        #[inline(always)]
        || {
            let mean = sum2(
                out,
                grad,
                #[inline(always)]
                |a, b| a * b,
            );
            weights[seen..].fill(0.0);
            pulls[seen..].fill(0.0);
            for (weight, pull) in weights[..seen].iter_mut().zip(&mut pulls[..seen]) {
                *weight = exp(*weight - lse);
                *pull = *weight * (*pull - mean);
            }
        },
    );
}
