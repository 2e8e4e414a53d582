//! Muon (Jordan and others, 2024): a matrix of a hidden layer steps along the orthogonal matrix that is
//! nearest to its momentum, so that every direction of the momentum moves it alike. The nearest one is
//! found by five Newton-Schulz iterations. A step is as large as AdamW's by the factor of Liu and others
//! (2025), so that both share a learning rate and a weight decay.

use candle_core::Tensor;

use crate::kernels::matmul::{Into, multiply};
use crate::kernels::panels::{Matrix, Packed};
use crate::kernels::pool::Pool;
use crate::kernels::squares;
use crate::{Parameter, Result};

/// Share of the momentum that is kept.
const MOMENTUM: f64 = 0.95;
/// Newton-Schulz iterations.
const ITERATIONS: usize = 5;
/// The polynomial `a x + b x³ + c x⁵` that draws singular values towards one, fast near zero.
const POLYNOMIAL: [f64; 3] = [3.4445, -4.7750, 2.0315];
/// What the root mean square of AdamW's steps is near to.
const SIZE: f64 = 0.2;

/// Whether a weight is a matrix of a hidden layer: embeddings, norms, biases and adapters are not.
pub(super) fn is_hidden(parameter: &Parameter) -> bool {
    const PARTS: [&str; 4] = [".attention.qkv", ".attention.output", ".feed.gate_up", ".feed.down"];
    parameter.name.starts_with("layers.") && PARTS.iter().any(|part| parameter.name.ends_with(part))
}

/// What a step at learning rate 1 is multiplied with: its root mean square is then that of AdamW's.
fn size(rows: usize, columns: usize) -> f64 {
    SIZE * (rows.max(columns) as f64).sqrt()
}

/// Takes a gradient into the momentum, both row by row; gives the step that the weight takes at learning
/// rate 1. On the caller's thread.
pub(super) fn host_direction(momentum: &mut [f32], gradient: &[f32], columns: usize) -> Vec<f32> {
    let rows = gradient.len() / columns.max(1);
    let kept = MOMENTUM as f32;
    let both = momentum.iter_mut().zip(gradient);
    // Nesterov: as if the next gradient were this one.
    let mut ahead: Vec<f32> = both
        .map(|(momentum, gradient)| {
            *momentum = *momentum * kept + gradient;
            gradient + *momentum * kept
        })
        .collect();
    orthogonal(&mut ahead, rows, columns);
    let size = size(rows, columns) as f32;
    ahead.iter_mut().for_each(|value| *value *= size);
    ahead
}

/// Puts in the place of a matrix the one with the same singular vectors and singular values near one.
fn orthogonal(matrix: &mut Vec<f32>, rows: usize, columns: usize) {
    let tall = rows > columns;
    if tall {
        *matrix = transposed(matrix, rows, columns);
    }
    let (short, long) = (rows.min(columns), rows.max(columns));
    let scale = 1.0 / (squares(matrix).sqrt() + 1e-7);
    matrix.iter_mut().for_each(|value| *value *= scale);
    let [a, b, c] = POLYNOMIAL.map(|factor| factor as f32);
    let (mut square, mut fourth, mut product) =
        (vec![0.0; short * short], vec![0.0; short * short], vec![0.0; short * long]);
    let (mut panels, alone) = (Packed::default(), Pool::alone());
    for _ in 0..ITERATIONS {
        let x = Matrix::rows(matrix, short, long, long);
        panels.fill(&alone, x.transposed());
        multiply(x, panels.view(), &mut square, short, Into::Replace);
        let of_square = Matrix::rows(&square, short, short, short);
        panels.fill(&alone, of_square);
        multiply(of_square, panels.view(), &mut fourth, short, Into::Replace);
        square.iter_mut().zip(&fourth).for_each(|(square, fourth)| *square = b * *square + c * fourth);
        panels.fill(&alone, x);
        multiply(Matrix::rows(&square, short, short, short), panels.view(), &mut product, long, Into::Replace);
        matrix.iter_mut().zip(&product).for_each(|(x, product)| *x = a * *x + product);
    }
    if tall {
        *matrix = transposed(matrix, columns, rows);
    }
}

fn transposed(matrix: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..rows * columns).map(|place| matrix[place % rows * columns + place / rows]).collect()
}

/// The same on another device: the momentum after a gradient, and the step at learning rate 1.
pub(super) fn device_direction(momentum: &Tensor, gradient: &Tensor) -> Result<(Tensor, Tensor)> {
    let momentum = ((momentum * MOMENTUM)? + gradient)?;
    let ahead = (gradient + (&momentum * MOMENTUM)?)?;
    let (rows, columns) = ahead.dims2()?;
    let tall = rows > columns;
    let wide = if tall { ahead.t()?.contiguous()? } else { ahead };
    let norm = (wide.sqr()?.sum_all()?.sqrt()? + 1e-7)?;
    let mut x = wide.broadcast_div(&norm)?;
    let [a, b, c] = POLYNOMIAL;
    for _ in 0..ITERATIONS {
        let square = x.matmul(&x.t()?)?;
        let mixed = ((&square * b)? + (square.matmul(&square)? * c)?)?;
        x = ((&x * a)? + mixed.matmul(&x)?)?;
    }
    let step = if tall { x.t()?.contiguous()? } else { x };
    Ok((momentum, (step * size(rows, columns))?))
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;

    fn values(count: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 % 23) as f32 - 11.0) / 7.0).collect()
    }

    /// Row `i` times row `j`, or column by column where there are more rows than columns.
    fn products(matrix: &[f32], rows: usize, columns: usize) -> Vec<Vec<f32>> {
        let wide = if rows > columns { transposed(matrix, rows, columns) } else { matrix.to_vec() };
        let lines: Vec<&[f32]> = wide.chunks(rows.max(columns)).collect();
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum();
        lines.iter().map(|a| lines.iter().map(|b| dot(a, b)).collect()).collect()
    }

    #[test]
    fn what_it_gives_is_nearly_orthogonal() {
        for (rows, columns) in [(6, 6), (5, 16), (16, 5)] {
            let mut matrix = values(rows * columns);
            orthogonal(&mut matrix, rows, columns);
            for (i, row) in products(&matrix, rows, columns).iter().enumerate() {
                for (j, value) in row.iter().enumerate() {
                    let wanted = if i == j { 1.0 } else { 0.0 };
                    assert!((value - wanted).abs() < 0.6, "{rows}x{columns} at {i},{j}: {value}");
                }
            }
            // What it was made of is not.
            assert!(products(&values(rows * columns), rows, columns)[0][0] > 2.0);
        }
    }

    /// By hand: of a diagonal matrix the nearest orthogonal one has the signs, whatever the sizes.
    #[test]
    fn large_and_small_directions_move_alike() {
        let mut found = vec![4.0_f32, 0.0, 0.0, -0.5];
        orthogonal(&mut found, 2, 2);
        assert!((0.6..1.3).contains(&found[0]) && (0.6..1.3).contains(&-found[3]), "{found:?}");
        assert_eq!((found[1], found[2]), (0.0, 0.0));
    }

    #[test]
    fn both_ways_agree_and_a_step_has_the_size_of_adamws() {
        for (rows, columns) in [(24, 40), (40, 24), (9, 9)] {
            let gradient = values(rows * columns);
            let mut momentum = vec![0.25; rows * columns];
            let tensor = |values: &[f32]| Tensor::from_slice(values, (rows, columns), &Device::Cpu).unwrap();
            let (after, step) = device_direction(&tensor(&momentum), &tensor(&gradient)).unwrap();
            let found = host_direction(&mut momentum, &gradient, columns);
            let near = |tensor: &Tensor, found: &[f32]| {
                let values: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
                values.iter().zip(found).all(|(a, b)| (a - b).abs() < 2e-3)
            };
            assert!(near(&after, &momentum) && near(&step, &found), "{rows}x{columns}");
            // By the formula: the momentum that is kept, and the gradient.
            assert!((momentum[3] - (0.25 * 0.95 + gradient[3])).abs() < 1e-6);
            let mean = (squares(&found) / found.len() as f32).sqrt();
            assert!((0.08..0.3).contains(&mean), "{mean}");
        }
    }
}
