//! Muon (Jordan and others, 2024): a matrix of a hidden layer steps along the orthogonal matrix that is
//! nearest to its momentum, so that every direction of the momentum moves it alike. The nearest one is
//! found by five Newton-Schulz iterations. A step is as large as AdamW's by the factor of Liu and others
//! (2025), so that both share a learning rate and a weight decay.

use candle_core::Tensor;

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

/// The momentum after a gradient, and the step that the weight takes at learning rate 1.
pub(super) fn direction(momentum: &Tensor, gradient: &Tensor) -> Result<(Tensor, Tensor)> {
    let momentum = ((momentum * MOMENTUM)? + gradient)?;
    // Nesterov: as if the next gradient were this one.
    let ahead = (gradient + (&momentum * MOMENTUM)?)?;
    let (rows, columns) = ahead.dims2()?;
    let size = SIZE * (rows.max(columns) as f64).sqrt();
    Ok((momentum, (orthogonal(&ahead)? * size)?))
}

/// The matrix with the same singular vectors and singular values near one.
fn orthogonal(matrix: &Tensor) -> Result<Tensor> {
    let (rows, columns) = matrix.dims2()?;
    let tall = rows > columns;
    let wide = if tall { matrix.t()?.contiguous()? } else { matrix.clone() };
    let norm = f64::from(wide.sqr()?.sum_all()?.sqrt()?.to_scalar::<f32>()?);
    let mut x = (wide / (norm + 1e-7))?;
    let [a, b, c] = POLYNOMIAL;
    for _ in 0..ITERATIONS {
        let square = x.matmul(&x.t()?)?;
        let mixed = ((&square * b)? + (square.matmul(&square)? * c)?)?;
        x = ((&x * a)? + mixed.matmul(&x)?)?;
    }
    Ok(if tall { x.t()?.contiguous()? } else { x })
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::*;

    fn matrix(rows: usize, columns: usize) -> Tensor {
        let values: Vec<f32> = (0..rows * columns).map(|i| ((i * 37 % 23) as f32 - 11.0) / 7.0).collect();
        Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
    }

    /// The largest and the smallest of `vᵀ M Mᵀ v` over unit vectors are squares of singular values; the
    /// diagonal of `M Mᵀ` lies between them, and its other entries near zero only where all are near one.
    #[test]
    fn what_it_gives_is_nearly_orthogonal() {
        for (rows, columns) in [(6, 6), (5, 16), (16, 5)] {
            let found = orthogonal(&matrix(rows, columns)).unwrap();
            assert_eq!(found.dims2().unwrap(), (rows, columns));
            let product =
                if rows > columns { found.t().unwrap().matmul(&found) } else { found.matmul(&found.t().unwrap()) };
            let product: Vec<Vec<f32>> = product.unwrap().to_vec2().unwrap();
            for (i, row) in product.iter().enumerate() {
                for (j, value) in row.iter().enumerate() {
                    let wanted = if i == j { 1.0 } else { 0.0 };
                    assert!((value - wanted).abs() < 0.6, "{rows}x{columns} at {i},{j}: {value}");
                }
            }
        }
    }

    /// By hand: of a diagonal matrix the nearest orthogonal one has the signs, whatever the sizes.
    #[test]
    fn large_and_small_directions_move_alike() {
        let diagonal = Tensor::from_vec(vec![4.0_f32, 0.0, 0.0, -0.5], (2, 2), &Device::Cpu).unwrap();
        let found: Vec<Vec<f32>> = orthogonal(&diagonal).unwrap().to_vec2().unwrap();
        assert!((0.6..1.3).contains(&found[0][0]) && (0.6..1.3).contains(&-found[1][1]), "{found:?}");
        assert_eq!((found[0][1], found[1][0]), (0.0, 0.0));
    }

    #[test]
    fn a_step_has_the_size_of_adamws() {
        let zero = matrix(24, 40).zeros_like().unwrap();
        let gradient = matrix(24, 40);
        let (momentum, step) = direction(&zero, &gradient).unwrap();
        assert_eq!(momentum.to_vec2::<f32>().unwrap(), gradient.to_vec2::<f32>().unwrap());
        let mean = step.sqr().unwrap().mean_all().unwrap().to_scalar::<f32>().unwrap().sqrt();
        assert!((0.1..0.3).contains(&mean), "{mean}");
    }
}
