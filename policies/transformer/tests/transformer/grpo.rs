use candle_core::Var;
use tribunal_transformer::Device;
use tribunal_transformer::losses::grpo::{Aggregation, Batch, Counters, Settings, Whole, loss};

use crate::fixture::{near, numbers};

/// Ratios 1, 1.5, 0.5, 12, 1.1 and 0.7 over two sequences, and an empty one between them.
const RATIOS: [f64; 6] = [1.0, 1.5, 0.5, 12.0, 1.1, 0.7];
const ADVANTAGES: [f32; 6] = [1.0, 2.0, -1.0, -1.0, -2.0, 1.0];
const BEHAVIOUR: [f32; 6] = [-3.0; 6];
const OFFSETS: [usize; 4] = [0, 2, 2, 6];

fn batch() -> Batch<'static> {
    Batch {
        behaviour: &BEHAVIOUR,
        advantages: &ADVANTAGES,
        reference: None,
        offsets: &OFFSETS,
        rollouts: None,
        whole: None,
    }
}

/// Loss, gradient by the log-probabilities, counters.
fn run(batch: &Batch<'_>, settings: Settings) -> (f64, Vec<f32>, Counters) {
    let log_probs: Vec<f32> = RATIOS.iter().map(|ratio| (ratio.ln() - 3.0) as f32).collect();
    let log_probs = Var::from_vec(log_probs, 6, &Device::Cpu).unwrap();
    let (loss, counters) = loss(log_probs.as_tensor(), batch, &settings).unwrap();
    let gradient = loss.backward().unwrap();
    let gradient = gradient.get(log_probs.as_tensor()).map(numbers).unwrap();
    (f64::from(loss.to_scalar::<f32>().unwrap()), gradient, counters)
}

fn settings(aggregation: Aggregation) -> Settings {
    Settings { clip_low: 0.2, clip_high: 0.28, dual_clip: Some(10.0), kl: 0.0, aggregation }
}

/// Each token's loss: the second is cut at 1.28, the third at 0.8, the fourth at 10.
const LOSSES: [f64; 6] = [-1.0, -2.56, 0.8, 10.0, 2.2, -0.7];
/// And its slope, `-A ρ` where nothing is cut.
const SLOPES: [f64; 6] = [-1.0, 0.0, 0.0, 0.0, 2.2, -0.7];

#[test]
fn every_aggregation_worked_by_hand() {
    let sums = (LOSSES[..2].iter().sum::<f64>(), LOSSES[2..].iter().sum::<f64>());
    near(sums.0, -3.56);
    near(sums.1, 12.3);
    let rollouts = [5, 5, 5];
    for (aggregation, wanted, first, last) in [
        (Aggregation::TokenMean, (sums.0 + sums.1) / 6.0, 1.0 / 6.0, 1.0 / 6.0),
        (Aggregation::SeqMeanTokenMean, (sums.0 / 2.0 + sums.1 / 4.0) / 3.0, 1.0 / 6.0, 1.0 / 12.0),
        (Aggregation::SeqMeanTokenSum, (sums.0 + sums.1) / 3.0, 1.0 / 3.0, 1.0 / 3.0),
        (Aggregation::SeqMeanTokenSumNorm(50.0), (sums.0 + sums.1) / 150.0, 1.0 / 150.0, 1.0 / 150.0),
        (Aggregation::RolloutMean, (sums.0 + sums.1) / 6.0, 1.0 / 6.0, 1.0 / 6.0),
    ] {
        let (loss, gradient, _) = run(&Batch { rollouts: Some(&rollouts), ..batch() }, settings(aggregation));
        near(loss, wanted);
        for (token, (found, slope)) in gradient.iter().zip(SLOPES).enumerate() {
            near(f64::from(*found), slope * if token < 2 { first } else { last });
        }
    }
    // One rollout for each sequence: as the mean over sequences.
    let (loss, ..) = run(&batch(), settings(Aggregation::RolloutMean));
    near(loss, (sums.0 / 2.0 + sums.1 / 4.0) / 3.0);
}

#[test]
fn counters_say_what_was_cut() {
    let (.., counters) = run(&batch(), settings(Aggregation::TokenMean));
    near(counters.clipped_high, 1.0 / 6.0);
    near(counters.clipped_low, 1.0 / 6.0);
    near(counters.clipped_dual, 1.0 / 6.0);
    near(counters.largest_ratio, 12.0);
    let moved: f64 = RATIOS.iter().map(|ratio| ratio.ln()).sum();
    near(counters.behaviour_kl, -moved / 6.0);
    // Without dual clip the fourth token costs 12, and pushes.
    let (loss, gradient, counters) = run(&batch(), Settings { dual_clip: None, ..settings(Aggregation::TokenMean) });
    near(loss, (LOSSES.iter().sum::<f64>() + 2.0) / 6.0);
    near(f64::from(gradient[3]), 12.0 / 6.0);
    near(counters.clipped_dual, 0.0);
}

#[test]
fn reference_pulls_by_k3() {
    let reference = [-2.5f32; 6];
    let with = Batch { reference: Some(&reference), ..batch() };
    let (plain, _, counters) = run(&with, settings(Aggregation::TokenMean));
    let (pulled, gradient, _) = run(&with, Settings { kl: 0.3, ..settings(Aggregation::TokenMean) });
    let far: Vec<f64> = RATIOS.iter().map(|ratio| 0.5 - ratio.ln()).collect();
    let k3 = far.iter().map(|d| d.exp() - d - 1.0).sum::<f64>() / 6.0;
    near(counters.reference_kl.unwrap(), k3);
    near(pulled - plain, 0.3 * k3);
    for ((found, slope), far) in gradient.iter().zip(SLOPES).zip(far) {
        near(f64::from(*found), (slope + 0.3 * (1.0 - far.exp())) / 6.0);
    }
}

#[test]
fn parts_of_a_step_add_up() {
    for aggregation in [Aggregation::TokenMean, Aggregation::SeqMeanTokenMean, Aggregation::RolloutMean] {
        let (whole, gradient, _) = run(&batch(), settings(aggregation));
        // The first sequence without advantage, then the second: what is left out adds nothing.
        let mut sum = (0.0, vec![0.0f32; 6]);
        for part in [0..2, 2..6] {
            let advantages: Vec<f32> =
                ADVANTAGES.iter().enumerate().map(|(i, a)| if part.contains(&i) { *a } else { 0.0 }).collect();
            let counts = Whole { tokens: 6, sequences: 3, rollouts: 3 };
            let (loss, gradient, _) =
                run(&Batch { advantages: &advantages, whole: Some(counts), ..batch() }, settings(aggregation));
            sum.0 += loss;
            sum.1.iter_mut().zip(gradient).for_each(|(sum, gradient)| *sum += gradient);
        }
        near(sum.0, whole);
        assert_eq!(sum.1, gradient);
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    let log_probs = Var::zeros(6, candle_core::DType::F32, &Device::Cpu).unwrap();
    let plain = settings(Aggregation::TokenMean);
    let small = Whole { tokens: 5, sequences: 3, rollouts: 3 };
    for (batch, settings, wanted) in [
        (Batch { behaviour: &BEHAVIOUR[..5], ..batch() }, plain, "behaviour has 5"),
        (Batch { offsets: &[0, 2, 5], ..batch() }, plain, "offsets"),
        (Batch { rollouts: Some(&[1]), ..batch() }, plain, "rollouts"),
        (Batch { whole: Some(small), ..batch() }, plain, "holds less"),
        (batch(), Settings { kl: 0.1, ..plain }, "reference"),
        (batch(), Settings { dual_clip: Some(1.0), ..plain }, "dual_clip"),
        (batch(), Settings { clip_low: 1.5, ..plain }, "clip_low"),
        (batch(), settings(Aggregation::SeqMeanTokenSumNorm(0.0)), "constant"),
        (Batch { behaviour: &[-1e6; 6], ..batch() }, plain, "not finite"),
    ] {
        let error = loss(log_probs.as_tensor(), &batch, &settings).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
