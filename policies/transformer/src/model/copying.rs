//! A start that can copy. Reading a name and writing it is finding where the same tokens stood before
//! and taking what followed (induction). A model that starts from nothing finds that out late and all
//! at once; here one head of the first block begins with it.
//!
//! With an orthogonal matrix `A`, a token's input is `x_t = e_t + A e_(t-1) + A² e_(t-2)`, so
//! `Aᵀ x_s = e_(s-1) + A e_(s-2) + Aᵀ e_s`. A head whose queries are `P x` and whose keys are
//! `P Aᵀ x` therefore attends to the places that follow what was just read, the more of it the
//! better; with values `V x` and an output `Vᵀ`, it then gives the token that stands there.

use super::layout::Places;
use super::random::Normal;
use crate::Shape;

/// What queries and keys are scaled by: two matching tokens then outweigh a context of chance ones.
const GAIN: f32 = 1.7;
/// What the copied token weighs in the residual stream.
const WEIGHT: f32 = 2.0;
/// A rotation by less than this over the whole context leaves a match a match.
const STILL: f64 = 0.5;

/// Overwrites the matrices of earlier tokens and the first head of the first block.
pub(super) fn ready(shape: &Shape, values: &mut [Vec<f32>], random: &mut Normal) {
    let (dim, head, places) = (shape.dim, shape.head(), Places::of(shape));
    if shape.earlier == 0 || head * 2 > dim {
        return;
    }
    let turn = orthogonal(dim, random);
    let mut power = turn.clone();
    for place in places.earlier() {
        values[place].clone_from(&power);
        power = times(&turn, &power, dim);
    }
    let rows = orthogonal(dim, random);
    let (matched, taken) = rows[..2 * head * dim].split_at(head * dim);
    let keys = times_transposed(matched, &turn, dim);
    let block = places.block(0);
    let (key_row, value_row) = (shape.query(), shape.query() + shape.key());
    for row in (0..head).filter(|row| is_still(shape, *row)) {
        let own = row * dim..(row + 1) * dim;
        let mut put = |at: usize, values_of: &[f32], scale: f32| {
            let to = &mut values[block.qkv][at * dim..(at + 1) * dim];
            to.iter_mut().zip(values_of).for_each(|(to, value)| *to = scale * value);
        };
        put(row, &matched[own.clone()], GAIN);
        put(key_row + row, &keys[own], GAIN);
    }
    values[block.qkv][value_row * dim..(value_row + head) * dim].copy_from_slice(taken);
    let width = shape.query();
    for (row, out) in values[block.output].chunks_exact_mut(width).enumerate() {
        (0..head).for_each(|column| out[column] = WEIGHT * taken[column * dim + row]);
    }
}

/// Whether the rotary embedding hardly turns a row of a head within the context.
fn is_still(shape: &Shape, row: usize) -> bool {
    let half = shape.head() / 2;
    let angle = f64::from(shape.theta).powf(-((row % half) as f64) / half as f64);
    angle * (shape.context as f64) < STILL
}

/// A random orthogonal matrix: normal rows, made orthogonal one after the other (Gram and Schmidt).
fn orthogonal(dim: usize, random: &mut Normal) -> Vec<f32> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(dim);
    while rows.len() < dim {
        let mut row: Vec<f64> = (0..dim).map(|_| random.next()).collect();
        // Twice, against what rounding leaves.
        for _ in 0..2 {
            for before in &rows {
                let along: f64 = row.iter().zip(before).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(before).for_each(|(value, other)| *value -= along * other);
            }
        }
        let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        if norm > 1e-6 {
            rows.push(row.into_iter().map(|value| value / norm).collect());
        }
    }
    rows.into_iter().flatten().map(|value| value as f32).collect()
}

/// `a · b`, of rows this wide; `b` is square.
fn times(a: &[f32], b: &[f32], dim: usize) -> Vec<f32> {
    let cell = |row: &[f32], column: usize| (0..dim).map(|k| row[k] * b[k * dim + column]).sum::<f32>();
    a.chunks_exact(dim).flat_map(|row| (0..dim).map(move |column| cell(row, column))).collect()
}

/// `a · bᵀ`.
fn times_transposed(a: &[f32], b: &[f32], dim: usize) -> Vec<f32> {
    let cell = |row: &[f32], other: &[f32]| row.iter().zip(other).map(|(x, y)| x * y).sum::<f32>();
    a.chunks_exact(dim).flat_map(|row| b.chunks_exact(dim).map(move |other| cell(row, other))).collect()
}
