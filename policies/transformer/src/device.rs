//! Which device computes, by its name.

use candle_core::Device;

use crate::{Error, Result};

/// A device, and what a person should know of the choice.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The device.
    pub device: Device,
    /// Why it is not the one that was asked for.
    pub note: Option<String>,
}

/// The device of a name: `cpu`, `cuda` or `cuda:N`. Where this machine has no NVIDIA driver, the CPU,
/// with a note.
///
/// # Errors
/// [`Error::Device`]: no such name, a build without the feature `cuda`, or no such GPU.
pub fn device(name: &str) -> Result<Chosen> {
    if name == "cpu" {
        return Ok(Chosen { device: Device::Cpu, note: None });
    }
    let number = match name.strip_prefix("cuda") {
        Some("") => Some(0),
        Some(rest) => rest.strip_prefix(':').and_then(|number| number.parse().ok()),
        None => None,
    };
    match number {
        Some(number) => cuda(name, number),
        None => Err(refused(name, "cpu, cuda or cuda:N expected, N the number of a GPU")),
    }
}

fn refused(name: &str, problem: impl ToString) -> Error {
    Error::Device { name: name.to_owned(), problem: problem.to_string() }
}

#[cfg(not(feature = "cuda"))]
fn cuda(name: &str, _number: usize) -> Result<Chosen> {
    let problem = "this program was built for the CPU alone; use --device cpu, or build it with `cargo build --features \
                   cuda` where a CUDA toolkit is installed";
    Err(refused(name, problem))
}

#[cfg(feature = "cuda")]
fn cuda(name: &str, number: usize) -> Result<Chosen> {
    let fallback = |why: &str| {
        let note = format!("{name}: {why}; computing on the CPU. A GPU of NVIDIA and its driver are needed");
        Ok(Chosen { device: Device::Cpu, note: Some(note) })
    };
    // Where the driver's library is loaded when it is first called, a missing one is a panic; that it
    // is reported in our words, the hook that prints panics is away for this one call.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let opened = std::panic::catch_unwind(|| Device::new_cuda(number));
    std::panic::set_hook(hook);
    match opened {
        Err(_) => fallback("this machine has no NVIDIA driver (libcuda)"),
        Ok(Err(why)) if why.to_string().contains("NO_DEVICE") => fallback("the driver finds no GPU"),
        Ok(Err(why)) => Err(refused(name, format!("{why}; `nvidia-smi` lists the GPUs that there are"))),
        Ok(Ok(device)) => Ok(Chosen { device, note: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        let chosen = device("cpu").unwrap();
        assert!(chosen.device.is_cpu() && chosen.note.is_none());
        for wrong in ["gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda0", ""] {
            let fault = device(wrong).unwrap_err().to_string();
            assert!(fault.contains("cuda:N expected"), "{wrong}: {fault}");
        }
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn a_build_without_the_feature_says_so() {
        for name in ["cuda", "cuda:1"] {
            let fault = device(name).unwrap_err().to_string();
            assert!(fault.contains("--features cuda") && fault.contains("--device cpu"), "{fault}");
        }
    }
}
