use tribunal_transformer::{Device, Mask, Model, Shape, Tensor};

/// A small model with shared key heads and sizes that no vector divides.
pub fn shape() -> Shape {
    Shape {
        vocab: 61,
        dim: 36,
        layers: 3,
        heads: 6,
        kv_heads: 2,
        hidden: 50,
        context: 200,
        theta: 10_000.0,
        eps: 1e-5,
        tied: true,
        bias: true,
        earlier: 2,
        head_dim: None,
    }
}

/// A model far from the flat distribution that random weights begin with.
pub fn model(seed: u64) -> Model {
    model_of(shape(), seed)
}

/// The same of another shape.
pub fn model_of(shape: Shape, seed: u64) -> Model {
    let model = Model::new(shape, seed, &Device::Cpu).unwrap();
    for parameter in model.parameters().iter().filter(|parameter| parameter.decays) {
        let larger = (parameter.var.as_tensor() * 8.0).unwrap();
        parameter.var.set(&larger).unwrap();
    }
    model
}

/// All weights, to be compared bit for bit.
pub fn weights(model: &Model) -> Vec<Vec<f32>> {
    model.parameters().iter().map(|parameter| numbers(parameter.var.as_tensor())).collect()
}

pub fn numbers(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

/// Every token whose number leaves `rest` when divided by `by`.
pub fn residues(by: u32, rest: u32) -> Mask {
    let tokens: Vec<u32> = (0..61).filter(|token| token % by == rest).collect();
    Mask::of(&tokens, 61).unwrap()
}

/// Holds two numbers against each other.
pub fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-6 * wanted.abs().max(1.0), "{found} is not {wanted}");
}
