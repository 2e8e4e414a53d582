//! Weights on disk.

use std::collections::BTreeMap;
use std::path::Path;

use candle_core::{Device, Tensor};

use super::{Lora, Model, layout};
use crate::{Error, Result, Shape};

const WEIGHTS: &str = "weights.safetensors";
const SHAPE: &str = "shape.json";
const ADAPTERS: &str = "adapters.safetensors";
const LORA: &str = "adapters.json";

impl Model {
    /// Writes `weights.safetensors` and `shape.json` into a folder, which is made if it is missing,
    /// each whole or not at all. Adapters are left out: [`Model::save_adapters`].
    ///
    /// # Errors
    /// [`Error::File`] if a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let count = layout::entries(&self.shape).len();
        let tensors = self.parameters[..count].iter();
        let tensors = tensors.map(|parameter| (parameter.name.clone(), parameter.var.as_detached_tensor())).collect();
        write_tensors(folder, WEIGHTS, tensors)?;
        write_json(folder, SHAPE, &self.shape)
    }

    /// Reads what [`Model::save`] wrote.
    ///
    /// # Errors
    /// [`Error::File`] names a missing file, a missing weight, or one of the wrong size.
    pub fn load(folder: &Path, device: &Device) -> Result<Model> {
        let shape: Shape = read_json(folder, SHAPE)?;
        shape.check().map_err(|error| Error::file(folder.join(SHAPE), error))?;
        let mut tensors = read_tensors(&folder.join(WEIGHTS))?;
        let mut values = Vec::new();
        for entry in layout::entries(&shape) {
            values.push(take(&mut tensors, &folder.join(WEIGHTS), &entry.name, &entry.dims)?);
        }
        Model::from_values(shape, values, device)
    }

    /// Writes the adapters alone: `adapters.safetensors` and `adapters.json`.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are none, [`Error::File`] if a file cannot be written.
    pub fn save_adapters(&self, folder: &Path) -> Result<()> {
        let lora = self.lora.ok_or_else(|| Error::Shape("the model has no adapters to save".to_owned()))?;
        let count = layout::entries(&self.shape).len();
        let tensors = self.parameters[count..].iter();
        let tensors = tensors.map(|parameter| (parameter.name.clone(), parameter.var.as_detached_tensor())).collect();
        write_tensors(folder, ADAPTERS, tensors)?;
        write_json(folder, LORA, &lora)
    }

    /// Puts adapters that [`Model::save_adapters`] wrote on a model that has none.
    ///
    /// # Errors
    /// [`Error::File`] if they do not fit the model.
    pub fn load_adapters(&mut self, folder: &Path) -> Result<()> {
        let lora: Lora = read_json(folder, LORA)?;
        let mut tensors = read_tensors(&folder.join(ADAPTERS))?;
        self.add_adapters(lora, 0)?;
        let count = layout::entries(&self.shape).len();
        for parameter in &self.parameters[count..] {
            let dims = parameter.var.dims();
            let values = take(&mut tensors, &folder.join(ADAPTERS), &parameter.name, dims)?;
            parameter.var.set(&Tensor::from_vec(values, dims, &self.device)?)?;
        }
        Ok(())
    }
}

pub(super) fn take(
    tensors: &mut BTreeMap<String, Tensor>,
    path: &Path,
    name: &str,
    dims: &[usize],
) -> Result<Vec<f32>> {
    let tensor = tensors.remove(name).ok_or_else(|| Error::file(path, format!("the weight `{name}` is missing")))?;
    if tensor.dims() != dims {
        return Err(Error::file(path, format!("`{name}` has shape {:?}, the model wants {dims:?}", tensor.dims())));
    }
    Ok(tensor.to_dtype(candle_core::DType::F32)?.flatten_all()?.to_vec1()?)
}

/// All tensors of a safetensors file, on the CPU, by name.
pub(crate) fn read_tensors(path: &Path) -> Result<BTreeMap<String, Tensor>> {
    let read = candle_core::safetensors::load(path, &Device::Cpu);
    Ok(read.map_err(|error| Error::file(path, error))?.into_iter().collect())
}

/// Writes a safetensors file, whole or not at all.
pub(crate) fn write_tensors(folder: &Path, name: &str, tensors: BTreeMap<String, Tensor>) -> Result<()> {
    replace_file(folder, name, |path| {
        let tensors = tensors.into_iter().collect();
        candle_core::safetensors::save(&tensors, path).map_err(|error| Error::file(path, error))
    })
}

/// Writes beside the file, then renames: a reader meets the old file or the new one.
pub(crate) fn replace_file(folder: &Path, name: &str, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| Error::file(folder, error))?;
    let (path, beside) = (folder.join(name), folder.join(format!(".{name}.new")));
    write(&beside)?;
    std::fs::rename(&beside, &path).map_err(|error| Error::file(path, error))
}

/// The version of every JSON file written here.
const VERSION: u32 = 1;

#[derive(serde::Serialize, serde::Deserialize)]
struct Versioned<T> {
    version: u32,
    content: T,
}

/// Writes a value as JSON, with the format's version.
pub(crate) fn write_json(folder: &Path, name: &str, content: &impl serde::Serialize) -> Result<()> {
    replace_file(folder, name, |path| {
        let versioned = Versioned { version: VERSION, content };
        let text = serde_json::to_string_pretty(&versioned).map_err(|error| Error::file(path, error))?;
        std::fs::write(path, text + "\n").map_err(|error| Error::file(path, error))
    })
}

/// Reads what [`write_json`] wrote.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(folder: &Path, name: &str) -> Result<T> {
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
    let read: Versioned<serde_json::Value> = serde_json::from_str(&text).map_err(|error| Error::file(&path, error))?;
    if read.version != VERSION {
        let problem = format!("this is version {}, and this build reads version {VERSION}", read.version);
        return Err(Error::file(path, problem));
    }
    serde_json::from_value(read.content).map_err(|error| Error::file(path, error))
}
