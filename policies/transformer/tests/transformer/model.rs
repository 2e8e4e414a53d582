use std::collections::BTreeMap;

use tribunal_transformer::{Device, Error, Mask, Model, Packed, Shape};

use crate::fixture::{model, shape, weights};

fn batch() -> Packed {
    let mut batch = Packed::new();
    batch.push(&[1, 2, 3, 4, 5], [(1, None), (4, None)]).unwrap();
    batch
}

#[test]
fn a_seed_decides_every_weight() {
    let new = |seed| weights(&Model::new(shape(), seed, &Device::Cpu).unwrap());
    assert!(new(1) == new(1) && new(1) != new(2));
    let count: usize = new(1).iter().map(Vec::len).sum();
    assert_eq!(count, shape().parameters());
    let untied = Shape { tied: false, bias: false, head_dim: Some(8), ..shape() };
    let model = Model::new(untied.clone(), 1, &Device::Cpu).unwrap();
    assert_eq!(weights(&model).iter().map(Vec::len).sum::<usize>(), untied.parameters());
    // Untrained, every token is about as likely as any other.
    let entropy = model.measure(&batch()).unwrap().entropy;
    assert!(entropy.iter().all(|entropy| (entropy - 61f32.ln()).abs() < 0.2), "{entropy:?}");
}

#[test]
fn a_copy_stays_when_the_model_moves() {
    let model = model(1);
    let (copy, clone) = (model.copy().unwrap(), model.clone());
    let before = model.measure(&batch()).unwrap();
    let var = &model.parameter("norm").unwrap().var;
    var.set(&(var.as_tensor() * 2.0).unwrap()).unwrap();
    assert_eq!(copy.measure(&batch()).unwrap(), before);
    assert_ne!(model.measure(&batch()).unwrap(), before);
    assert_eq!(clone.measure(&batch()).unwrap(), model.measure(&batch()).unwrap(), "a clone shares its weights");
}

#[test]
fn impossible_shapes_are_refused() {
    for (shape, wanted) in [
        (Shape { layers: 0, ..shape() }, "layers is 0"),
        (Shape { kv_heads: 4, ..shape() }, "multiple of kv_heads"),
        (Shape { dim: 37, ..shape() }, "multiple of heads"),
        (Shape { head_dim: Some(7), ..shape() }, "even"),
        (Shape { eps: 0.0, ..shape() }, "eps"),
        (Shape { theta: f32::NAN, ..shape() }, "theta"),
    ] {
        let error = Model::new(shape, 1, &Device::Cpu).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let mut batch = Packed::new();
    let other = Mask::of(&[9], 61).unwrap();
    for (scored, wanted) in [
        (vec![(0, None)], "token 0 cannot be scored"),
        (vec![(5, None)], "sequence of 5"),
        (vec![(2, None), (2, None)], "ascend"),
        (vec![(3, Some(other))], "forbids that token itself"),
    ] {
        let error = batch.push(&[1, 2, 3, 4, 5], scored).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    // What was refused left nothing behind.
    assert_eq!((batch.sequences(), batch.tokens(), batch.scored()), (0, 0, 0));
    let model = model(1);
    assert!(matches!(model.measure(&batch), Err(Error::Batch(problem)) if problem.contains("no token is scored")));
    batch.push(&[1, 61, 2], [(2, None)]).unwrap();
    assert!(matches!(model.measure(&batch), Err(Error::Batch(problem)) if problem.contains("token 61")));
    let mut long = Packed::new();
    long.push(&[1; 202], [(201, None)]).unwrap();
    assert!(matches!(model.measure(&long), Err(Error::Context { tokens: 201, context: 200 })));
    // What follows the last scored token is not read, and one without any scored token not at all.
    let mut short = Packed::new();
    short.push(&[1; 202], [(200, None)]).unwrap();
    short.push(&[1, 2], []).unwrap();
    assert_eq!((short.tokens(), short.offsets()), (200, [0, 1, 1].as_slice()));
    model.measure(&short).unwrap();
}

#[test]
fn masks_are_sets_of_tokens() {
    let mask = Mask::of(&[0, 31, 32, 60], 61).unwrap();
    assert_eq!((mask.count(), mask.words()), (4, [1 | 1 << 31, 1 | 1 << 28].as_slice()));
    assert!(mask.allows(31) && mask.allows(60) && !mask.allows(1) && !mask.allows(61) && !mask.allows(5000));
    // Bits past the vocabulary are dropped, missing words are empty.
    assert_eq!(Mask::from_words(&[1, u32::MAX, 7], 33).unwrap().count(), 2);
    assert_eq!(Mask::from_words(&[6], 61).unwrap().words(), [6, 0]);
    assert!(Mask::of(&[61], 61).is_err() && Mask::of(&[], 61).is_err() && Mask::from_words(&[0, 1 << 29], 61).is_err());
}

/// Mean log-probability of the second half of tokens that stand twice, for a fresh model.
fn of_what_stands_twice(earlier: usize) -> f64 {
    let sizes = Shape { vocab: 300, dim: 128, layers: 2, heads: 2, kv_heads: 2, hidden: 64, context: 200, ..shape() };
    let shape = Shape { theta: 1e10, bias: false, earlier, ..sizes };
    let model = Model::new(shape, 5, &Device::Cpu).unwrap();
    // Every token at most once in a half, in an order without a pattern.
    let half: Vec<u32> = (0..60).map(|place| (place * 163 + 7) % 300).collect();
    let twice = [half.clone(), half].concat();
    let mut batch = Packed::new();
    batch.push(&twice, (62..120).map(|place| (place, None))).unwrap();
    let measured = model.measure(&batch).unwrap();
    measured.log_probs.iter().map(|value| f64::from(*value)).sum::<f64>() / measured.log_probs.len() as f64
}

#[test]
fn a_fresh_model_with_earlier_tokens_can_copy() {
    let chance = -(300.0_f64).ln();
    let (with, without) = (of_what_stands_twice(2), of_what_stands_twice(0));
    assert!(with > chance + 1.0, "{with} against {chance}");
    assert!(without < chance + 0.2, "{without} against {chance}");
}

#[test]
fn a_model_comes_back_from_its_bytes_and_nothing_else_does() {
    let model = Model::new(shape(), 3, &Device::Cpu).unwrap();
    let texts = BTreeMap::from([("a".to_owned(), "é\n\"".to_owned()), ("b".to_owned(), String::new())]);
    let bytes = model.to_bytes(&texts).unwrap();
    assert_eq!(bytes, model.to_bytes(&texts).unwrap(), "the same bytes each time");
    let (read, found) = Model::from_bytes(&bytes, &Device::Cpu).unwrap();
    assert_eq!(found, texts);
    assert_eq!(read.to_bytes(&texts).unwrap(), bytes);
    for broken in [&bytes[..bytes.len() - 1], &bytes[..40], b"", b"a text"] {
        let why = Model::from_bytes(broken, &Device::Cpu).unwrap_err().to_string();
        assert!(why.starts_with("the policy's bytes: "), "{why}");
    }
    // Safetensors of somebody else's, without any tensor.
    let why = Model::from_bytes(b"\x02\0\0\0\0\0\0\0{}", &Device::Cpu).unwrap_err().to_string();
    assert!(why.contains("no policy of ours"), "{why}");
}
