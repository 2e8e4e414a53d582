//! Functions of single numbers: the exponential and the gated unit.

use super::vectorised;

/// Below this the exponential of an f32 is no longer a normal number; it counts as 0.
const LEAST: f32 = -87.336;
/// Above this the result stays at e^88.37: the largest whose power of two is an f32.
const GREATEST: f32 = 88.37;

/// `e^x`, relative error below 2e-7, 0 below -87.3, no larger than e^88.37. Written so that loops over it become vectors:
/// no branch, no table. `x = n ln 2 + r` with `|r| <= ln 2 / 2`; `e^r` by its Taylor series.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding and taking away 1.5 · 2^23 rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let inside = x.clamp(LEAST, GREATEST);
    let shifted = inside.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, inside));
    let series = r.mul_add(1.0 / 5040.0, 1.0 / 720.0);
    let series = r.mul_add(series, 1.0 / 120.0);
    let series = r.mul_add(series, 1.0 / 24.0);
    let series = r.mul_add(series, 1.0 / 6.0);
    let series = r.mul_add(series, 0.5);
    let series = r.mul_add(series, 1.0);
    let series = r.mul_add(series, 1.0);
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    let value = series * f32::from_bits(exponent);
    if x < LEAST { 0.0 } else { value }
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// `out = silu(gate) · up` for rows `[gate | up]`, both `hidden` wide.
pub(crate) fn swiglu(gate_up: &[f32], hidden: usize, out: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            for (row, out) in gate_up.chunks_exact(2 * hidden).zip(out.chunks_exact_mut(hidden)) {
                let (gate, up) = row.split_at(hidden);
                for ((gate, up), out) in gate.iter().zip(up).zip(out) {
                    *out = gate * sigmoid(*gate) * up;
                }
            }
        },
    );
}

/// Gradients of [`swiglu`]'s two inputs, laid out like them.
pub(crate) fn swiglu_backward(gate_up: &[f32], hidden: usize, grad: &[f32], out: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            let rows = gate_up.chunks_exact(2 * hidden).zip(grad.chunks_exact(hidden));
            for ((row, grad), out) in rows.zip(out.chunks_exact_mut(2 * hidden)) {
                let (gate, up) = row.split_at(hidden);
                let (d_gate, d_up) = out.split_at_mut(hidden);
                let inputs = gate.iter().zip(up).zip(grad);
                for (((gate, up), grad), (d_gate, d_up)) in inputs.zip(d_gate.iter_mut().zip(d_up)) {
                    let s = sigmoid(*gate);
                    *d_up = grad * gate * s;
                    *d_gate = grad * up * s * (1.0 - s).mul_add(*gate, 1.0);
                }
            }
        },
    );
}

/// Adds `b` to `a`.
pub(crate) fn add(a: &mut [f32], b: &[f32]) {
    vectorised(
        #[inline(always)]
        || a.iter_mut().zip(b).for_each(|(a, b)| *a += b),
    );
}

/// Adds one row to each row.
pub(crate) fn add_row(rows: &mut [f32], row: &[f32]) {
    vectorised(
        #[inline(always)]
        || {
            for target in rows.chunks_exact_mut(row.len()) {
                target.iter_mut().zip(row).for_each(|(a, b)| *a += b);
            }
        },
    );
}

/// The sum of all rows, top to bottom.
pub(crate) fn sum_rows(rows: &[f32], out: &mut [f32]) {
    vectorised(
        #[inline(always)]
        || {
            out.fill(0.0);
            for row in rows.chunks_exact(out.len()) {
                out.iter_mut().zip(row).for_each(|(a, b)| *a += b);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_right_over_its_whole_range() {
        let mut values: Vec<f32> = (0..2_000_000).map(|i| -87.3 + i as f32 * (175.6 / 2_000_000.0)).collect();
        values.extend([0.0, -0.0, 1.0, -1.0, 88.3, 1e-30, -1e-30]);
        let mut found = values.clone();
        vectorised(
            #[inline(always)]
            || found.iter_mut().for_each(|x| *x = exp(*x)),
        );
        let mut worst = 0.0f64;
        for (x, found) in values.iter().zip(&found) {
            let exact = f64::from(*x).exp();
            worst = worst.max((f64::from(*found) - exact).abs() / exact);
            assert_eq!(found.to_bits(), exp(*x).to_bits(), "vectors and scalars part at {x}");
        }
        assert!(worst < 2e-7, "{worst}");
        assert_eq!([exp(-88.0), exp(f32::NEG_INFINITY), exp(-1e30)], [0.0; 3]);
        assert!(exp(f32::NAN).is_nan() && exp(1e30) > 2e38);
    }

    #[test]
    fn swiglu_at_points_worked_by_hand() {
        // silu(0) = 0, silu(2) = 2 / (1 + e^-2) = 1.7615942.
        let mut out = [0.0; 2];
        swiglu(&[0.0, 2.0, 5.0, 3.0], 2, &mut out);
        assert!(out[0] == 0.0 && (out[1] - 5.284_782_4).abs() < 1e-6, "{out:?}");
        // d silu(0) = 1/2; d silu(2) = 0.8807971 + 2 · 0.8807971 · 0.1192029 = 1.0907843.
        let mut grad = [0.0; 4];
        swiglu_backward(&[0.0, 2.0, 5.0, 3.0], 2, &[1.0, 10.0], &mut grad);
        let wanted = [2.5, 32.723_53, 0.0, 17.615_942];
        assert!(grad.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{grad:?}");
    }
}
