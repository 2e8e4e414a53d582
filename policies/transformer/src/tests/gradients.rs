use candle_core::DType;

use super::{batch, lively, tiny};
use crate::{Device, Gradients, Lora, Model, Packed, Tensor, composed};

/// A loss that treats every token differently.
fn loss(log_probs: &Tensor) -> Tensor {
    let count = log_probs.dim(0).unwrap();
    let weights: Vec<f32> = (0..count).map(|i| ((i * 7 % 11) as f32 - 4.0) / count as f32).collect();
    let weights = Tensor::new(weights, &Device::Cpu).unwrap().to_dtype(log_probs.dtype()).unwrap();
    (log_probs * weights).unwrap().sum_all().unwrap()
}

fn flat(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

/// Largest difference between two gradients, relative to the largest entry.
fn distance(a: &[f32], b: &[f32]) -> f64 {
    let largest = b.iter().fold(1e-12f64, |largest, value| largest.max(f64::from(value.abs())));
    a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max) / largest
}

/// Holds the hand-written pass against the composed one in double precision.
fn hold(model: &Model, batch: &Packed) {
    let own = model.forward(batch).unwrap();
    let other = composed::forward(model, batch, DType::F64).unwrap();
    let (a, b) = (flat(&own.log_probs), flat(&other.log_probs.to_dtype(DType::F32).unwrap()));
    assert!(distance(&a, &b) < 2e-6, "log-probabilities: {}", distance(&a, &b));
    assert!(distance(&own.entropy, &other.entropy) < 2e-6, "entropy");
    let removed = own.removed.iter().zip(&other.removed).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(removed < 2e-6, "removed mass: {removed}");
    let measured = model.measure(batch).unwrap();
    assert_eq!((&measured.log_probs, &measured.entropy), (&a, &own.entropy), "measuring gives other bits");
    let (own_loss, other_loss) = (loss(&own.log_probs), loss(&other.log_probs));
    let (own, other) = (own.backward(&own_loss).unwrap(), other.backward(&other_loss).unwrap());
    for parameter in model.parameters().iter().filter(|parameter| parameter.trainable) {
        let found = own.get(&parameter.name).unwrap_or_else(|| panic!("no gradient for {}", parameter.name));
        let wanted = other.get(&parameter.name).unwrap();
        assert_eq!(found.dims(), wanted.dims());
        let distance = distance(&flat(found), &flat(wanted));
        assert!(distance < 1e-5, "{}: {distance}", parameter.name);
    }
}

#[test]
fn by_hand_and_composed_agree() {
    for (tied, lengths) in [(true, vec![7, 2, 130, 1, 33]), (false, vec![150]), (true, vec![3; 40])] {
        hold(&lively(tiny(tied), 3), &batch(37, &lengths, 5));
    }
}

#[test]
fn adapters_by_hand_and_composed_agree() {
    let mut model = lively(tiny(true), 3);
    model.add_adapters(Lora { rank: 3, alpha: 6.0 }, 1).unwrap();
    let before = model.measure(&batch(37, &[20], 5)).unwrap();
    assert_eq!(lively(tiny(true), 3).measure(&batch(37, &[20], 5)).unwrap(), before, "B = 0 changes nothing");
    for parameter in model.parameters().iter().filter(|parameter| parameter.trainable) {
        let values: Vec<f32> = (0..parameter.var.elem_count()).map(|i| ((i * 37 % 19) as f32 - 9.0) / 30.0).collect();
        parameter.var.set(&Tensor::from_vec(values, parameter.var.dims(), &Device::Cpu).unwrap()).unwrap();
    }
    assert_eq!(model.parameters().iter().filter(|parameter| parameter.trainable).count(), 2 * 7 * 2);
    hold(&model, &batch(37, &[20, 100], 5));
}

/// Central differences of the loss by one weight, in double precision sums of f32 passes.
fn slope(model: &Model, batch: &Packed, name: &str, index: usize) -> f64 {
    let var = &model.parameter(name).unwrap().var;
    let values = flat(var);
    let at = |step: f32| {
        let mut moved = values.clone();
        moved[index] += step;
        var.set(&Tensor::from_vec(moved, var.dims(), &Device::Cpu).unwrap()).unwrap();
        let found = model.measure(batch).unwrap().log_probs;
        let count = found.len();
        let weight = |i: usize| f64::from(((i * 7 % 11) as f32 - 4.0) / count as f32);
        found.iter().enumerate().map(|(i, value)| weight(i) * f64::from(*value)).sum::<f64>()
    };
    let step = 2e-3f32;
    // Richardson: the error of the fourth power of the step is left.
    let near = (at(step) - at(-step)) / (2.0 * f64::from(step));
    let far = (at(2.0 * step) - at(-2.0 * step)) / (4.0 * f64::from(step));
    var.set(&Tensor::from_vec(values.clone(), var.dims(), &Device::Cpu).unwrap()).unwrap();
    (4.0 * near - far) / 3.0
}

/// The first parameter whose gradient is missing or is not the slope of the loss.
fn wrong(model: &Model, batch: &Packed, gradients: &Gradients) -> Option<String> {
    for parameter in model.parameters() {
        let Some(gradient) = gradients.get(&parameter.name) else { return Some(parameter.name.clone()) };
        let gradient = flat(gradient);
        let scale = gradient.iter().fold(0.0f64, |scale, value| scale.max(f64::from(value.abs())));
        // The entry with the largest gradient and some others.
        let largest = gradient.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap().0;
        let count = gradient.len();
        for index in [largest, 0, count / 3, count / 2 + 1, count - 1] {
            let slope = slope(model, batch, &parameter.name, index);
            if (slope - f64::from(gradient[index])).abs() > 0.01 * scale + 2e-4 {
                return Some(format!("{}[{index}]: {} is not {slope}", parameter.name, gradient[index]));
            }
        }
    }
    None
}

#[test]
fn every_gradient_is_the_slope_of_the_loss() {
    let (model, batch) = (lively(tiny(false), 11), batch(37, &[6, 9, 14], 2));
    let scores = model.forward(&batch).unwrap();
    let loss = loss(&scores.log_probs);
    let gradients = scores.backward(&loss).unwrap();
    assert_eq!(wrong(&model, &batch, &gradients), None);

    // The failing twins: a gradient that is cut, and one that is a little off.
    let mut cut = gradients.clone();
    cut.remove("layers.0.attention.bias");
    assert_eq!(wrong(&model, &batch, &cut).as_deref(), Some("layers.0.attention.bias"));
    let mut off = gradients.clone();
    for (name, gradient) in &mut off.entries {
        if name == "layers.1.feed.norm" {
            *gradient = Some((gradient.clone().unwrap() * 1.1).unwrap());
        }
    }
    assert!(wrong(&model, &batch, &off).unwrap().starts_with("layers.1.feed.norm["));
}

#[test]
fn threads_change_no_bit() {
    let batch = batch(37, &[70, 5, 110, 40], 9);
    let gradients = |threads: usize| {
        let mut model = lively(tiny(true), 4);
        model.set_threads(threads).unwrap();
        let scores = model.forward(&batch).unwrap();
        let loss = loss(&scores.log_probs);
        scores
            .backward(&loss)
            .unwrap()
            .entries
            .into_iter()
            .map(|(_, tensor)| flat(&tensor.unwrap()))
            .collect::<Vec<_>>()
    };
    let one = gradients(1);
    assert!(one == gradients(2) && one == gradients(3));
}
