//! Which weights a shape has: names, sizes, order and first values.

use crate::Shape;

/// How a weight begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Start {
    /// All ones: norms.
    Ones,
    /// All zeros: biases.
    Zeros,
    /// Normal with mean 0 and this standard deviation.
    Normal(f64),
}

/// One weight of a shape.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) dims: Vec<usize>,
    pub(crate) decays: bool,
    pub(crate) start: Start,
}

/// Places of the weights in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    layers: usize,
    bias: bool,
    tied: bool,
    earlier: usize,
}

/// Places of one block's weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockPlaces {
    pub(crate) attention_norm: usize,
    /// Query, key and value projections, one above the other.
    pub(crate) qkv: usize,
    pub(crate) bias: Option<usize>,
    pub(crate) output: usize,
    pub(crate) feed_norm: usize,
    /// Gate and up projections, one above the other.
    pub(crate) gate_up: usize,
    pub(crate) down: usize,
}

impl Places {
    pub(crate) fn of(shape: &Shape) -> Places {
        Places { layers: shape.layers, bias: shape.bias, tied: shape.tied, earlier: shape.earlier }
    }

    pub(crate) fn embedding(self) -> usize {
        0
    }

    pub(crate) fn block(self, layer: usize) -> BlockPlaces {
        let first = 1 + layer * self.per_block();
        let after = first + 2 + usize::from(self.bias);
        BlockPlaces {
            attention_norm: first,
            qkv: first + 1,
            bias: self.bias.then_some(first + 2),
            output: after,
            feed_norm: after + 1,
            gate_up: after + 2,
            down: after + 3,
        }
    }

    pub(crate) fn norm(self) -> usize {
        1 + self.layers * self.per_block()
    }

    /// The output projection: the embedding itself if they are tied.
    pub(crate) fn head(self) -> usize {
        if self.tied { self.embedding() } else { self.norm() + 1 }
    }

    /// The matrices of earlier tokens, that of the nearest first.
    pub(crate) fn earlier(self) -> std::ops::Range<usize> {
        let first = self.norm() + 1 + usize::from(!self.tied);
        first..first + self.earlier
    }

    fn per_block(self) -> usize {
        6 + usize::from(self.bias)
    }
}

/// All weights of a shape, in the order of [`Places`].
pub(crate) fn entries(shape: &Shape) -> Vec<Entry> {
    // By fan-in, so that narrow models attend as sharply as wide ones from the first step on. Each
    // block adds twice to the residual stream; its outputs begin smaller so that it stays level, and
    // embeddings small enough that at first every token is about as likely as any other.
    let by = |width: usize, scale: f64| Start::Normal(scale / (width as f64).sqrt());
    let normal = by(shape.dim, 0.5);
    let residual = |width: usize| by(width, 0.5 / (2.0 * shape.layers as f64).sqrt());
    let embedding = by(shape.dim, 0.25);
    let entry =
        |name: String, dims: &[usize], start| Entry { name, dims: dims.to_vec(), decays: dims.len() > 1, start };
    let qkv = shape.query() + 2 * shape.key();
    let mut all = vec![entry("embedding".to_owned(), &[shape.vocab, shape.dim], embedding)];
    for layer in 0..shape.layers {
        let name = |part: &str| format!("layers.{layer}.{part}");
        all.push(entry(name("attention.norm"), &[shape.dim], Start::Ones));
        all.push(entry(name("attention.qkv"), &[qkv, shape.dim], normal));
        if shape.bias {
            all.push(entry(name("attention.bias"), &[qkv], Start::Zeros));
        }
        all.push(entry(name("attention.output"), &[shape.dim, shape.query()], residual(shape.query())));
        all.push(entry(name("feed.norm"), &[shape.dim], Start::Ones));
        all.push(entry(name("feed.gate_up"), &[2 * shape.hidden, shape.dim], normal));
        all.push(entry(name("feed.down"), &[shape.dim, shape.hidden], residual(shape.hidden)));
    }
    all.push(entry("norm".to_owned(), &[shape.dim], Start::Ones));
    if !shape.tied {
        all.push(entry("head".to_owned(), &[shape.vocab, shape.dim], normal));
    }
    for distance in 1..=shape.earlier {
        // As large as what it mixes in: at first a token weighs as much as the one before it.
        all.push(entry(format!("earlier.{distance}"), &[shape.dim, shape.dim], by(shape.dim, 1.0)));
    }
    all
}
