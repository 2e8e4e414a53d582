//! The weights as slices, for as long as a pass lasts.

use std::borrow::Cow;

use candle_core::{CpuStorage, Storage, StorageRef};

use crate::model::layout::Places;
use crate::model::{Adapter, merge};
use crate::{Error, Model, Result, Shape};

/// Holds the weights against change.
pub(crate) struct Guards<'a>(Vec<StorageRef<'a>>);

impl<'a> Guards<'a> {
    pub(crate) fn new(model: &'a Model) -> Guards<'a> {
        Guards(model.parameters.iter().map(|parameter| parameter.var.storage_and_layout().0).collect())
    }

    /// Every parameter's values.
    fn slices(&self) -> Result<Vec<&[f32]>> {
        self.0
            .iter()
            .map(|storage| match &**storage {
                Storage::Cpu(CpuStorage::F32(values)) => Ok(values.as_slice()),
                _ => Err(Error::Shape("the weights are not f32 numbers on the CPU".to_owned())),
            })
            .collect()
    }
}

/// All weights of a model as slices.
pub(crate) struct Weights<'a> {
    pub(crate) shape: &'a Shape,
    values: Vec<&'a [f32]>,
    adapters: &'a [Adapter],
}

/// One block's weights, adapters added.
pub(crate) struct BlockWeights<'a> {
    pub(crate) attention_norm: &'a [f32],
    pub(crate) qkv: Cow<'a, [f32]>,
    pub(crate) bias: Option<&'a [f32]>,
    pub(crate) output: Cow<'a, [f32]>,
    pub(crate) feed_norm: &'a [f32],
    pub(crate) gate_up: Cow<'a, [f32]>,
    pub(crate) down: Cow<'a, [f32]>,
}

impl<'a> Weights<'a> {
    pub(crate) fn new(model: &'a Model, guards: &'a Guards<'_>) -> Result<Weights<'a>> {
        Ok(Weights { shape: &model.shape, values: guards.slices()?, adapters: &model.adapters })
    }

    pub(crate) fn embedding(&self) -> &'a [f32] {
        self.values[Places::of(self.shape).embedding()]
    }

    pub(crate) fn norm(&self) -> &'a [f32] {
        self.values[Places::of(self.shape).norm()]
    }

    pub(crate) fn head(&self) -> &'a [f32] {
        self.values[Places::of(self.shape).head()]
    }

    /// A parameter's own values, adapters left out.
    pub(crate) fn at(&self, index: usize) -> &'a [f32] {
        self.values[index]
    }

    pub(crate) fn block(&self, layer: usize) -> BlockWeights<'a> {
        let (shape, places) = (self.shape, Places::of(self.shape).block(layer));
        let matrix = |base, width| merge(self.adapters, &self.values, base, width);
        BlockWeights {
            attention_norm: self.values[places.attention_norm],
            qkv: matrix(places.qkv, shape.dim),
            bias: places.bias.map(|place| self.values[place]),
            output: matrix(places.output, shape.query()),
            feed_norm: self.values[places.feed_norm],
            gate_up: matrix(places.gate_up, shape.dim),
            down: matrix(places.down, shape.hidden),
        }
    }
}
