//! A model as one file: its weights in safetensors, with its shape and further texts in the header.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use candle_core::{Device, Tensor};
use safetensors::SafeTensors;

use super::files::take;
use super::{Model, layout};
use crate::{Error, Result, Shape};

/// The key of the header that holds all texts. One key: a header is a map without an order, and the
/// same model must give the same bytes.
const KEY: &str = "tribunal";
/// The text that is the shape.
const SHAPE: &str = "shape";
/// Stands for the file in messages: its bytes lie in memory.
const FILE: &str = "the policy's bytes";

impl Model {
    /// The model as the bytes of one safetensors file, with texts of the caller's. Adapters are left
    /// out, as in [`Model::save`].
    ///
    /// # Errors
    /// [`Error::File`] if the header grows larger than the format allows.
    pub fn to_bytes(&self, texts: &BTreeMap<String, String>) -> Result<Vec<u8>> {
        let failed = |why: &dyn std::fmt::Display| Error::file(Path::new(FILE), why);
        let mut texts = texts.clone();
        texts.insert(SHAPE.to_owned(), serde_json::to_string(&self.shape).map_err(|why| failed(&why))?);
        let header = serde_json::to_string(&texts).map_err(|why| failed(&why))?;
        let count = layout::entries(&self.shape).len();
        let tensors = self.parameters[..count].iter();
        let tensors: BTreeMap<&str, Tensor> =
            tensors.map(|parameter| (parameter.name.as_str(), parameter.var.as_detached_tensor())).collect();
        safetensors::serialize(&tensors, Some(HashMap::from([(KEY.to_owned(), header)]))).map_err(|why| failed(&why))
    }

    /// Reads what [`Model::to_bytes`] gave: the model, and the caller's texts.
    ///
    /// # Errors
    /// [`Error::File`] for other bytes, a missing weight, or one of the wrong size.
    pub fn from_bytes(bytes: &[u8], device: &Device) -> Result<(Model, BTreeMap<String, String>)> {
        let path = Path::new(FILE);
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|why| Error::file(path, why))?;
        let texts = header.metadata().as_ref().and_then(|texts| texts.get(KEY));
        let texts = texts.ok_or_else(|| Error::file(path, "safetensors, but no policy of ours: no shape in it"))?;
        let mut texts: BTreeMap<String, String> = serde_json::from_str(texts).map_err(|why| Error::file(path, why))?;
        let shape = texts.remove(SHAPE).ok_or_else(|| Error::file(path, "no shape in it"))?;
        let shape: Shape = serde_json::from_str(&shape).map_err(|why| Error::file(path, why))?;
        shape.check().map_err(|why| Error::file(path, why))?;
        let read = candle_core::safetensors::load_buffer(bytes, &Device::Cpu).map_err(|why| Error::file(path, why))?;
        let mut tensors: BTreeMap<String, Tensor> = read.into_iter().collect();
        let mut values = Vec::new();
        for entry in layout::entries(&shape) {
            values.push(take(&mut tensors, path, &entry.name, &entry.dims)?);
        }
        Ok((Model::from_values(shape, values, device)?, texts))
    }
}
