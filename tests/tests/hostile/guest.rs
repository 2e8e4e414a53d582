//! A folder of the corpus: `expect.toml` says what the guest tries and what must come of it;
//! `guest.wat` holds the fields of its core module that are its own, `component.wat` a whole
//! component, and `world.wit` an interface other than ours that it was built against.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::PluginKind;
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::attack::Outcome;
use crate::large;
use crate::prelude::{self, Words};

/// No text of a fault or a refusal is longer, whatever a guest puts into it.
const TEXT_BYTES: usize = 2_500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    #[serde(skip)]
    pub(crate) name: String,
    /// What it tries.
    pub(crate) about: String,
    /// Which world it is of.
    pub(crate) world: PluginKind,
    /// How often the agent calls it.
    #[serde(default = "twice")]
    pub(crate) acts: usize,
    /// The arguments of those calls, as JSON, or a name of some that are too large to write down.
    #[serde(default)]
    pub(crate) arguments: Option<String>,
    #[serde(default)]
    make_arguments: Option<String>,
    /// Which call the agent hands in; none: that of the honest tool.
    #[serde(default)]
    pub(crate) submit: Option<usize>,
    /// What is done to the component after it was built: see [`large`].
    #[serde(default)]
    make: Option<String>,
    pub(crate) expect: Expect,
    /// Limits other than the default ones.
    #[serde(default)]
    pub(crate) limits: Option<Limits>,
    /// What it says of itself, where that is not the usual.
    #[serde(default)]
    description: Words,
    #[serde(skip)]
    pub(crate) component: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// `refused`, `passed`, `void FAULT`, `void` (whichever fault) or `scored REWARD REASON`.
    pub(crate) outcome: String,
    /// What the refusal, the fault or else every answer to the agent must contain.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    /// Which instance of the data must have decided.
    #[serde(default)]
    instance: u32,
}

fn twice() -> usize {
    2
}

impl Case {
    pub(crate) fn read(folder: &Path) -> Case {
        let text = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let expect = text("expect.toml").unwrap_or_else(|| panic!("{name}: no expect.toml"));
        let mut case: Case = toml::from_str(&expect).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        case.name = name;
        case.component = match text("component.wat") {
            Some(component) => wat::parse_str(component).unwrap_or_else(|fault| panic!("{}: {fault}", case.name)),
            None => case.build(&text("guest.wat").unwrap_or_default(), text("world.wit").as_deref()),
        };
        if let Some(make) = &case.make {
            case.component = large::make(make, case.component);
        }
        case
    }

    /// A guest of a world that does nothing.
    pub(crate) fn harmless(world: &str) -> Case {
        Case::of(world, "")
    }

    /// A guest of these fields.
    pub(crate) fn of(world: &str, fields: &str) -> Case {
        let text = format!("about = \"nothing\"\nworld = \"{world}\"\n[expect]\noutcome = \"passed\"\n");
        let mut case: Case = toml::from_str(&text).unwrap();
        case.component = case.build(fields, None);
        case
    }

    fn build(&self, fields: &str, interface: Option<&str>) -> Vec<u8> {
        let text = prelude::module(self.world, fields, &self.description);
        let mut module = wat::parse_str(&text).unwrap_or_else(|fault| panic!("{}: {fault}", self.name));
        let mut resolve = Resolve::default();
        let package = resolve.push_source("plugin.wit", interface.unwrap_or(tribunal_component::WIT)).unwrap();
        let world = resolve.select_world(&[package], Some(&self.world.to_string())).unwrap();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
        tribunal_component::encode(&module).unwrap_or_else(|fault| panic!("{}: {fault}", self.name))
    }

    /// The arguments that the agent sends.
    pub(crate) fn given(&self) -> Json {
        match self.make_arguments.as_deref() {
            Some("deep") => json!({"a": (0..1_000).fold(json!(1), |inner, _| json!([inner]))}),
            Some("giant") => json!({"a": "x".repeat(2 << 20)}),
            Some(other) => panic!("{}: no arguments are called `{other}`", self.name),
            None => self.arguments.as_ref().map_or(json!({}), |text| serde_json::from_str(text).unwrap()),
        }
    }

    /// The name that it gives itself.
    pub(crate) fn says_name(&self) -> &str {
        self.description.name()
    }

    /// Whether what came is what had to come.
    pub(crate) fn holds(&self, outcome: &Outcome) -> Result<(), String> {
        let texts: Vec<&String> = match outcome {
            Outcome::Refused(text) => {
                equal("refused", &self.expect.outcome)?;
                vec![text]
            }
            Outcome::Played { verdict, fault, answers, instance } => {
                if self.expect.outcome != "void" || !verdict.starts_with("void ") {
                    equal(verdict, &self.expect.outcome)?;
                }
                // A guest may break its own episode, and never as if it were the host that broke.
                if verdict == "void host" || *instance != self.expect.instance {
                    return Err(format!("{verdict} on instance {instance}"));
                }
                fault.as_ref().map_or_else(|| answers.iter().collect(), |fault| vec![fault])
            }
        };
        let long = texts.iter().find(|text| text.len() > TEXT_BYTES && self.expect.outcome != "passed");
        if let Some(long) = long {
            return Err(format!("a text of {} bytes", long.len()));
        }
        let lacks = |word: &&String| texts.iter().any(|text| !text.contains(word.as_str())) || texts.is_empty();
        self.expect.says.iter().find(lacks).map_or(Ok(()), |word| Err(format!("`{word}` is not said")))
    }
}

fn equal(came: &str, expected: &str) -> Result<(), String> {
    if came == expected { Ok(()) } else { Err(format!("`{expected}` expected, `{came}` came")) }
}
