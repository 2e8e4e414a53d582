//! The shape of a component, read from bytes that nobody trusts. Nothing is compiled or run.

use serde::Serialize;
use tribunal_protocol::digest::Digest;
use tribunal_protocol::plugin::PluginKind;
use wasmparser::{BinaryReaderError, ComponentExternName, Encoding, Parser, Payload, Validator, WasmFeatures};

use crate::world::{self, Refusal};

/// What a guest may be made of: WebAssembly 2 with extended constants, in a component. Threads,
/// exceptions, garbage collection, 64-bit memories, relaxed SIMD and asynchronous functions are
/// not among it: each was a way out of some sandbox, or a way to another result.
const FEATURES: WasmFeatures =
    WasmFeatures::WASM2.union(WasmFeatures::EXTENDED_CONST).union(WasmFeatures::COMPONENT_MODEL);

/// The first four bytes of every WebAssembly binary.
const MAGIC: &[u8] = b"\0asm";
/// Magic, version and layer.
const PREAMBLE: usize = 8;

/// What stands in a component.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// The size of the component.
    pub bytes: usize,
    /// The digest of all its bytes.
    pub digest: Option<Digest>,
    /// What it imports, by name, in order.
    pub imports: Vec<String>,
    /// What it exports, by name, in order.
    pub exports: Vec<String>,
    /// The kind that its exports make it; none if they make it none.
    pub kind: Option<PluginKind>,
    /// Core modules inside it.
    pub modules: usize,
    /// Components inside it.
    pub components: usize,
    /// Memories that its core modules define.
    pub memories: usize,
    /// The smallest size of those memories together, in bytes.
    pub memory_bytes: u64,
    /// Tables that its core modules define.
    pub tables: usize,
    /// Functions with a body.
    pub functions: usize,
    /// The bytes of all bodies together.
    pub code_bytes: u64,
    /// The bytes of the largest body: the best hint of a module made to be slow to compile.
    pub largest_function: u64,
}

/// Why bytes are no plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeFault {
    /// The bytes are more than the cap allows.
    #[error("the component has {bytes} bytes and the limit is {cap}; make it smaller, or raise the limit")]
    TooLarge {
        /// How many there are.
        bytes: usize,
        /// How many there may be.
        cap: usize,
    },
    /// The bytes are not WebAssembly.
    #[error("these bytes are not a WebAssembly component: {hint}")]
    Foreign {
        /// What they look like, and what to give instead.
        hint: &'static str,
    },
    /// The bytes end early.
    #[error(
        "the component is cut off: {bytes} bytes are here, and at byte {at} more were expected; copy or build it again"
    )]
    Truncated {
        /// How many there are.
        bytes: usize,
        /// Where more were expected.
        at: u64,
    },
    /// A core module, not a component.
    #[error(
        "this is a core WebAssembly module, and a plugin must be a component; build it with `tribunal build`, which makes one of a plugin crate"
    )]
    CoreModule,
    /// The bytes break a rule of WebAssembly, or use what Tribunal does not run.
    #[error(
        "the component is not valid at byte {at}: {reason}; Tribunal runs WebAssembly 2 in components, without threads, exceptions, garbage collection, 64-bit memories, relaxed SIMD or asynchronous functions"
    )]
    Invalid {
        /// Where.
        at: u64,
        /// What the validator says.
        reason: String,
    },
    /// It imports what no plugin of its kind is offered.
    #[error("the component imports what Tribunal does not offer:{}\nOffered are: {}{}", lines(refused), offered.join(", "), hint(refused))]
    Refused {
        /// Every refused import, with its reason.
        refused: Vec<Refusal>,
        /// Every import that it may have.
        offered: Vec<String>,
    },
    /// Its exports fit no world, or more than one.
    #[error("the component exports {}, which makes it {}; export {}", listed(exports), fits(kinds), worlds())]
    Kind {
        /// What it exports.
        exports: Vec<String>,
        /// The worlds whose main export it has.
        kinds: Vec<PluginKind>,
    },
    /// Something that its world must export is missing.
    #[error("the component is a {kind} and lacks the export {}; a {kind} exports {}", listed(missing), listed(&world::exports(*kind)))]
    Missing {
        /// The kind that its main export makes it.
        kind: PluginKind,
        /// What is missing.
        missing: Vec<String>,
    },
    /// The names fit and the types do not.
    #[error(
        "the component is not a {kind} of tribunal:plugin@{}: {difference}; build it against the interface of that version",
        crate::WIT_VERSION
    )]
    Types {
        /// The kind that its main export makes it.
        kind: PluginKind,
        /// The first place where its types differ.
        difference: String,
    },
    /// The checker itself gave up on these bytes.
    #[error(
        "the component could not be checked against the plugin interface: the checker failed on it; build it again with current tools"
    )]
    Unchecked,
}

fn lines(refused: &[Refusal]) -> String {
    refused.iter().map(|refusal| format!("\n- {refusal}")).collect()
}

/// Where WASI is among what is refused, how to have stand-ins for it.
fn hint(refused: &[Refusal]) -> String {
    let wasi = refused.iter().any(|refusal| crate::wasi::stand_in(&refusal.import).is_some());
    if wasi { format!("\n{}", crate::wasi::HINT) } else { String::new() }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn fits(kinds: &[PluginKind]) -> String {
    if kinds.is_empty() {
        return "no plugin".to_owned();
    }
    let kinds: Vec<_> = kinds.iter().map(|kind| format!("a {kind}")).collect();
    format!("{} at once", kinds.join(" and "))
}

fn worlds() -> String {
    let worlds = world::KINDS.map(|kind| format!("{} for a {kind}", listed(&world::exports(kind))));
    worlds.join(", or ")
}

/// Reads the shape of a component of at most `cap` bytes.
///
/// # Errors
/// The bytes are too many, no component, cut off, or not valid.
pub fn inspect(bytes: &[u8], cap: usize) -> Result<Shape, ShapeFault> {
    if bytes.len() > cap {
        return Err(ShapeFault::TooLarge { bytes: bytes.len(), cap });
    }
    preamble(bytes)?;
    let mut validator = Validator::new_with_features(FEATURES);
    validator.validate_all(bytes).map_err(|fault| invalid(bytes, &fault))?;
    let mut shape = read(bytes).map_err(|fault| invalid(bytes, &fault))?;
    shape.digest = Some(Digest::of(bytes));
    if let [kind] = world::kinds(&shape.exports)[..] {
        shape.kind = Some(kind);
    }
    Ok(shape)
}

/// Says early and in plain words what a wrong file is.
fn preamble(bytes: &[u8]) -> Result<(), ShapeFault> {
    let head = bytes.get(..PREAMBLE.min(bytes.len())).unwrap_or_default();
    if head.len() < PREAMBLE && (head.starts_with(MAGIC) || MAGIC.starts_with(head)) {
        return Err(ShapeFault::Truncated { bytes: bytes.len(), at: bytes.len() as u64 });
    }
    if head.starts_with(MAGIC) {
        return if Parser::is_core_wasm(bytes) { Err(ShapeFault::CoreModule) } else { Ok(()) };
    }
    let hint = if head.trim_ascii_start().starts_with(b"(") {
        "they look like its text form; give the binary form"
    } else {
        "they do not begin with `\\0asm`; give the `.wasm` file that `tribunal build` wrote"
    };
    Err(ShapeFault::Foreign { hint })
}

fn invalid(bytes: &[u8], fault: &BinaryReaderError) -> ShapeFault {
    if fault.message().starts_with("unexpected end") {
        return ShapeFault::Truncated { bytes: bytes.len(), at: fault.offset() };
    }
    ShapeFault::Invalid { at: fault.offset(), reason: fault.message().to_owned() }
}

fn read(bytes: &[u8]) -> Result<Shape, BinaryReaderError> {
    let mut shape = Shape { bytes: bytes.len(), ..Shape::default() };
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        match &payload {
            Payload::Version { encoding, .. } => {
                depth += 1;
                match encoding {
                    Encoding::Module => shape.modules += 1,
                    Encoding::Component if depth > 1 => shape.components += 1,
                    Encoding::Component => {}
                }
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            // What stands deeper is the component's own affair: it is linked inside.
            Payload::ComponentImportSection(imports) if depth == 1 => {
                for import in imports.clone() {
                    shape.imports.push(named(&import?.name));
                }
            }
            Payload::ComponentExportSection(exports) if depth == 1 => {
                for export in exports.clone() {
                    shape.exports.push(named(&export?.name));
                }
            }
            _ => shape.count(&payload)?,
        }
    }
    Ok(shape)
}

fn named(name: &ComponentExternName<'_>) -> String {
    name.full_name().into_owned()
}

impl Shape {
    /// Its imports of WASI, by name, in order: each needs a stand-in.
    pub fn wasi(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(String::as_str).filter(|import| crate::wasi::is_wasi(import))
    }

    fn count(&mut self, payload: &Payload<'_>) -> Result<(), BinaryReaderError> {
        match payload {
            Payload::MemorySection(memories) => {
                for memory in memories.clone() {
                    self.memories += 1;
                    let pages = memory?.initial;
                    self.memory_bytes = self.memory_bytes.saturating_add(pages.saturating_mul(65_536));
                }
            }
            Payload::TableSection(tables) => self.tables += tables.count() as usize,
            Payload::CodeSectionEntry(body) => {
                let range = body.range();
                let size = range.end.saturating_sub(range.start);
                self.functions += 1;
                self.code_bytes = self.code_bytes.saturating_add(size);
                self.largest_function = self.largest_function.max(size);
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "inspect_tests.rs"]
mod tests;
