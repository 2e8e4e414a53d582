use tribunal_transformer::losses::sft;
use tribunal_transformer::{Device, Tensor};

use crate::fixture::near;

#[test]
fn worked_by_hand() {
    let log_probs = Tensor::new(&[-1.0f32, -2.0, -4.0], &Device::Cpu).unwrap();
    // (1 · 1 + 2 · 3) / 4; the last token weighs nothing.
    let loss = sft::loss(&log_probs, &[1.0, 3.0, 0.0]).unwrap();
    near(f64::from(loss.to_scalar::<f32>().unwrap()), 7.0 / 4.0);
    let parts = [sft::part(&log_probs, &[1.0, 0.0, 0.0], 4.0), sft::part(&log_probs, &[0.0, 3.0, 0.0], 4.0)];
    let sum: f32 = parts.into_iter().map(|part| part.unwrap().to_scalar::<f32>().unwrap()).sum();
    near(f64::from(sum), 7.0 / 4.0);
}

#[test]
fn what_has_no_meaning_is_refused() {
    let log_probs = Tensor::new(&[-1.0f32, -2.0], &Device::Cpu).unwrap();
    for (weights, wanted) in [(vec![1.0], "1 entries"), (vec![0.0, 0.0], "sum to 0"), (vec![1.0, -1.0], "negative")] {
        let error = sft::loss(&log_probs, &weights).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
