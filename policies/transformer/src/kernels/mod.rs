//! Arithmetic over slices of f32, forward and backward, on the CPU.
//!
//! Two rules hold everywhere. Every sum has one fixed order that depends neither on the number of
//! threads nor on what else is in the batch, so a token's numbers are the same bits whether it is
//! read alone, in a batch, or through the cache. And the order does not depend on the width of the
//! machine's vectors: a product is a chain of fused multiply-adds, other sums run over [`LANES`]
//! interleaved partial sums.

pub(crate) mod attention;
pub(crate) mod buffer;
pub(crate) mod cache;
pub(crate) mod elementwise;
pub(crate) mod head;
pub(crate) mod matmul;
pub(crate) mod norm;
pub(crate) mod panels;
pub(crate) mod pool;
pub(crate) mod rope;

/// Interleaved partial sums of a reduction: one widest vector of f32.
pub(crate) const LANES: usize = 16;

/// Runs a loop with the widest vectors that this processor has.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// `Σ term(a_i, b_i)` in [`LANES`] interleaved sums that are then added pairwise.
#[inline(always)]
pub(crate) fn sum2(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane], b[lane]);
        }
    }
    for (lane, (a, b)) in a_rest.iter().zip(b_rest).enumerate() {
        sums[lane] += term(*a, *b);
    }
    add_pairwise(sums)
}

/// The sum of all lanes, halves added to each other.
#[inline(always)]
pub(crate) fn add_pairwise(mut sums: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}

/// Sum of squares.
pub(crate) fn squares(values: &[f32]) -> f32 {
    vectorised(
        #[inline(always)]
        || {
            sum2(
                values,
                values,
                #[inline(always)]
                |a, b| a * b,
            )
        },
    )
}
