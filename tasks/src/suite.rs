//! A suite: schemas, families, splits, and what is made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tribunal_protocol::digest::Digest;
use tribunal_protocol::plugin::Loading;
use tribunal_protocol::schema::{Dataset, Engine};
use tribunal_protocol::task::{SchemaRef, Split, TaskKind};

use crate::draft::{Draft, Slot};
use crate::error::TasksError;
use crate::family::{Family, FamilyInfo};
use crate::files::Files;
use crate::generate::{self, Lists, Origin};
use crate::ground::{Ground, Made};
use crate::plan::{self, Pair, Quotas, SuiteFile, schema_ref};
use crate::random::Stream;
use crate::read;
use crate::render::Renderer;
use crate::shape::Shape;
use crate::terms::Terms;
use crate::trap::{self, Finding, Trap};
use crate::vary::{self, WordLists, WordsFile};

/// A suite, read and checked.
#[derive(Debug)]
pub struct Suite {
    pub(crate) file: SuiteFile,
    pub(crate) suite_path: String,
    pub(crate) digest: Digest,
    pub(crate) lists: Lists,
    /// What variants of training schemas are said in, and those of held-out ones.
    pub(crate) words: [WordLists; 2],
    pub(crate) schemas: BTreeMap<SchemaRef, Schema>,
    pub(crate) families: BTreeMap<String, Family>,
    /// The names of all family files that there are, used or not.
    pub(crate) family_files: BTreeSet<String>,
    pub(crate) renderer: Renderer,
}

/// A schema's files.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) shape: Shape,
    pub(crate) shape_file: String,
    pub(crate) terms: Terms,
    pub(crate) terms_file: String,
    /// How variants of it are made, if it has any.
    pub(crate) variation: Option<Variation>,
}

/// What variants of a schema are made of.
#[derive(Debug)]
pub(crate) struct Variation {
    pub(crate) words: WordsFile,
    pub(crate) words_file: String,
    /// The text of the schema's file and of its terms.
    pub(crate) texts: [String; 2],
}

/// The data that the last drawing was made on; the next one may be on the same.
type Shelf = BTreeMap<u64, Dataset>;

/// How many drawings a slot gets before it is given up: in the first half the question must be
/// new and fall to this split, in the third quarter it must be new, at last it may repeat.
const TRIES: u32 = 24;

impl Suite {
    /// A built-in suite.
    ///
    /// # Errors
    /// [`TasksError::UnknownSuite`]; a fault in its files would be found by this crate's tests.
    pub fn embedded(name: &str) -> Result<Suite, TasksError> {
        let files = Files::embedded();
        let base = format!("suites/{name}");
        if files.text(&format!("{base}/suite.toml")).is_err() {
            return Err(TasksError::UnknownSuite(name.to_owned()));
        }
        read::suite(files, &base)
    }

    /// A suite from a folder that holds `suite.toml`.
    ///
    /// # Errors
    /// What cannot be read, or is wrong, by file and key.
    pub fn load(path: &Path) -> Result<Suite, TasksError> {
        let mut files = Files::default();
        let suite_file = path.join("suite.toml");
        if !suite_file.is_file() {
            return Err(TasksError::NoSuite(path.display().to_string()));
        }
        files.read_file("suite/suite.toml", &suite_file)?;
        let file: SuiteFile = files.parse("suite/suite.toml")?;
        for (key, folder) in [("schemas", &file.schemas), ("families", &file.families)] {
            let from_here = path.join(folder);
            if !from_here.is_dir() {
                let why = format!("no folder `{folder}` beside suite.toml; make it, or say where it is");
                return Err(TasksError::invalid("suite/suite.toml", key, why));
            }
            files.read(&read::joined("suite", folder), &from_here)?;
        }
        read::suite(files, "suite")
    }

    /// How its plugins are loaded.
    #[must_use]
    pub fn loading(&self) -> Loading {
        self.file.plugins
    }

    /// The suite with variants `1..=count` of each training schema that has words of its own:
    /// the same shapes in other words, to train on. Held-out schemas stay what they are.
    ///
    /// # Errors
    /// A fault in the words, or in what they make of the schema's files.
    pub fn with_variants(mut self, count: u32) -> Result<Suite, TasksError> {
        let read = |name: &String| schema_ref(name).map_err(|why| TasksError::invalid(&self.suite_path, "splits", why));
        let schemas: Vec<SchemaRef> = self.file.splits.train_schemas.iter().map(read).collect::<Result<_, _>>()?;
        // Schemas take turns, so that few tasks already stand on all of them.
        for number in 1..=count {
            for schema in &schemas {
                let Some(made) = self.variant(schema, number, 0)? else { continue };
                let named = vary::variant(schema, number);
                self.file.splits.train_schemas.push(named.to_string());
                self.schemas.insert(named, made);
            }
        }
        read::check_all(&self)?;
        Ok(self)
    }

    /// Adds the variants of held-out schemas that the suite's own file asks for.
    pub(crate) fn hold_out_variants(&mut self) -> Result<(), TasksError> {
        for name in self.file.splits.new_schemas.clone() {
            let schema = schema_ref(&name).map_err(|why| TasksError::invalid(&self.suite_path, "splits", why))?;
            for number in 1..=self.file.splits.new_variants {
                let Some(made) = self.variant(&schema, number, 1)? else { break };
                let named = vary::variant(&schema, number);
                self.file.splits.new_schemas.push(named.to_string());
                self.schemas.insert(named, made);
            }
        }
        Ok(())
    }

    fn variant(&self, of: &SchemaRef, number: u32, side: usize) -> Result<Option<Schema>, TasksError> {
        let schema = self.schema(of)?;
        let Some(Variation { words, words_file, texts: [shape, terms] }) = &schema.variation else {
            return Ok(None);
        };
        // Held-out schemas are said in real words alone.
        let from = if side == 0 { vary::From::of(number) } else { vary::From::Lists };
        let words = vary::draw(words_file, words, &self.words[side], of, number, from)?;
        let file = |path: &str| format!("{path} (variant {number})");
        let (shape, terms) = (vary::replace(shape, &words), vary::replace(terms, &words));
        let mut made = read::read_schema((file(&schema.shape_file), &shape), (file(&schema.terms_file), &terms))?;
        if side == 0 {
            vary::shuffle_columns(&mut made.shape, of, number);
        }
        Ok(Some(made))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.file.version
    }

    /// What it is for, in a sentence.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.file.summary
    }

    /// The digest of all its files.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Its schemas, in order.
    #[must_use]
    pub fn schemas(&self) -> Vec<SchemaRef> {
        self.schemas.keys().cloned().collect()
    }

    /// What a schema's database is about, in a few words.
    #[must_use]
    pub fn title(&self, schema: &SchemaRef) -> Option<&str> {
        self.schemas.get(schema).map(|schema| schema.shape.title.as_str())
    }

    /// Its families, by name.
    #[must_use]
    pub fn families(&self) -> Vec<FamilyInfo> {
        self.families.values().map(Family::info).collect()
    }

    /// How many tasks each split gets unless told otherwise.
    #[must_use]
    pub fn quotas(&self) -> Quotas {
        Quotas(self.file.quotas.clone())
    }

    /// The data of a schema at a seed: the same bytes whenever and wherever it is made. A variant of
    /// a training schema has its data by its name alone, whatever number of variants the suite was
    /// given, so that a trace can be run again from the suite that it names.
    ///
    /// # Errors
    /// [`TasksError::UnknownSchema`], or [`TasksError::Invalid`] where rows cannot be made.
    pub fn dataset(&self, schema: &SchemaRef, seed: u64) -> Result<Dataset, TasksError> {
        let unlisted = self.unlisted(schema)?;
        let known = unlisted.as_ref().map_or_else(|| self.schema(schema), Ok)?;
        let name = schema.to_string();
        let origin = Origin { schema: &name, seed };
        generate::dataset(&known.shape, &self.lists, &known.shape_file, origin)
    }

    /// What runs the SQL of a schema.
    ///
    /// # Errors
    /// [`TasksError::UnknownSchema`].
    pub fn engine(&self, schema: &SchemaRef) -> Result<Engine, TasksError> {
        let unlisted = self.unlisted(schema)?;
        unlisted.as_ref().map_or_else(|| self.schema(schema), Ok).map(|schema| schema.shape.engine)
    }

    /// A variant of a training schema that is not among the suite's schemas, made by its name.
    fn unlisted(&self, schema: &SchemaRef) -> Result<Option<Schema>, TasksError> {
        match vary::number_of(schema) {
            Some((of, number)) if !self.schemas.contains_key(schema) && self.trains_on(&of) => {
                self.variant(&of, number, 0)
            }
            _ => Ok(None),
        }
    }

    fn trains_on(&self, schema: &SchemaRef) -> bool {
        self.file.splits.train_schemas.contains(&schema.to_string())
    }

    fn schema(&self, schema: &SchemaRef) -> Result<&Schema, TasksError> {
        self.schemas.get(schema).ok_or_else(|| TasksError::UnknownSchema {
            wanted: schema.to_string(),
            suite: self.file.name.clone(),
            known: self.schemas.keys().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        })
    }

    /// What is not as it should be in the data of a schema at a seed: broken keys and references,
    /// claimed traps that are not there, and traps that no schema may go without.
    ///
    /// # Errors
    /// As [`Suite::dataset`].
    pub fn check(&self, schema: &SchemaRef, seed: u64) -> Result<Vec<Finding>, TasksError> {
        let known = self.schema(schema)?;
        let dataset = self.dataset(schema, seed)?;
        let mut findings = trap::validity(&dataset);
        for claim in &known.shape.traps {
            let count = trap::count(claim, &dataset).map_err(|why| {
                TasksError::invalid(&known.shape_file, format!("trap {:?} of {}", claim.trap, claim.table), why)
            })?;
            if count < claim.at_least {
                findings.push(Finding {
                    table: claim.table.clone(),
                    what: format!("trap {:?}: {} expected at least, {count} there", claim.trap, claim.at_least),
                });
            }
        }
        for required in Trap::REQUIRED {
            if !known.shape.traps.iter().any(|claim| claim.trap == required) {
                findings.push(Finding { table: schema.to_string(), what: format!("trap {required:?} is not claimed") });
            }
        }
        Ok(findings)
    }

    /// The pairs of a split: every family of its side with every schema of its side that
    /// carries it.
    #[must_use]
    pub fn pairs(&self, split: Split) -> Vec<Pair> {
        let splits = &self.file.splits;
        let (schemas, families) = match split {
            Split::Train | Split::NewData => (&splits.train_schemas, &splits.train_families),
            Split::NewSchema => (&splits.new_schemas, &splits.train_families),
            Split::NewFamily => (&splits.train_schemas, &splits.new_families),
            Split::NewSchemaAndFamily => (&splits.new_schemas, &splits.new_families),
        };
        let mut pairs = Vec::new();
        for family in families {
            for schema in schemas.iter().filter_map(|name| schema_ref(name).ok()) {
                let pair = Pair { family: family.clone(), schema };
                if !self.carries(&pair).is_empty() {
                    pairs.push(pair);
                }
            }
        }
        pairs
    }

    /// The places in a terms file where a schema carries a family, or the one it is like.
    fn carries(&self, pair: &Pair) -> Vec<usize> {
        let (Some(schema), Some(family)) = (self.schemas.get(&pair.schema), self.families.get(&pair.family)) else {
            return Vec::new();
        };
        let wanted = family.like.as_ref().unwrap_or(&family.name);
        let carries = schema.terms.carries.iter().enumerate();
        carries
            .filter(|(_, carry)| carry.family == *wanted || carry.family == family.name)
            .map(|(place, _)| place)
            .collect()
    }

    /// The slots of all splits, by split.
    #[must_use]
    pub fn slots(&self, quotas: &Quotas) -> Vec<Slot> {
        let of_split = |(split, count): (&Split, &usize)| plan::slots(*split, &self.pairs(*split), *count);
        quotas.0.iter().flat_map(of_split).collect()
    }

    /// Drafts for all slots of all splits; no question stands twice as far as the parameters
    /// reach, and a question of the training split is not met again on new data.
    ///
    /// # Errors
    /// The first fault of the suite's files.
    pub fn drafts(&self, quotas: &Quotas, seed: u64) -> Result<Vec<Draft>, TasksError> {
        let mut asked = BTreeSet::new();
        let slots = self.slots(quotas);
        slots.iter().map(|slot| self.fresh(slot, seed, &mut asked)).collect()
    }

    /// A draft for one slot. Other attempts give other parameters, and other data every eighth.
    ///
    /// # Errors
    /// [`TasksError::NoDraw`] where this attempt finds no parameters.
    pub fn draft(&self, slot: &Slot, seed: u64, attempt: u32) -> Result<Draft, TasksError> {
        self.attempt(slot, seed, attempt, &mut Shelf::new()).map(|made| made.draft)
    }

    fn fresh(&self, slot: &Slot, seed: u64, asked: &mut BTreeSet<String>) -> Result<Draft, TasksError> {
        let mut last = None;
        let mut shelf = Shelf::new();
        for attempt in 0..TRIES {
            match self.attempt(slot, seed, attempt, &mut shelf) {
                Err(fault @ TasksError::NoDraw { .. }) => last = Some(fault),
                Err(fault) => return Err(fault),
                Ok(made) => {
                    let key = format!("{} {}", slot.pair.schema, made.question);
                    let fitting = attempt >= TRIES / 2 || falls_to(slot.split, &key);
                    let new = attempt >= TRIES / 4 * 3 || !asked.contains(&key);
                    if fitting && new {
                        asked.insert(key);
                        return Ok(made.draft);
                    }
                }
            }
        }
        Err(last.unwrap_or_else(|| TasksError::invalid(slot.id(), "draft", "no question could be drawn")))
    }

    fn attempt(&self, slot: &Slot, seed: u64, attempt: u32, shelf: &mut Shelf) -> Result<Made, TasksError> {
        let schema = self.schema(&slot.pair.schema)?;
        let carries = self.carries(&slot.pair);
        let turn = (slot.number as usize).checked_rem(carries.len());
        let (Some(family), Some(turn)) = (self.families.get(&slot.pair.family), turn) else {
            let why = format!("schema {} does not carry family {}", slot.pair.schema, slot.pair.family);
            return Err(TasksError::invalid(&schema.terms_file, "carry", why));
        };
        let carry = &schema.terms.carries[carries[turn]];
        let family = match family.like.as_ref().and_then(|base| self.families.get(base)) {
            Some(base) => family.over(base),
            None => family.clone(),
        };
        let suite = format!("{}@{}", self.file.name, self.file.version);
        let ground = Ground {
            suite: &suite,
            shape: &schema.shape,
            terms: &schema.terms,
            carry,
            family: &family,
            renderer: &self.renderer,
            slot,
            seed,
            attempt,
            sibling: 0,
        };
        let mut made = self.made(&ground, &schema.terms_file, shelf)?;
        if matches!(family.kind, TaskKind::State | TaskKind::Impossible) {
            for sibling in 1..=3 {
                let draft = self.sibling(&Ground { sibling, ..ground }, &schema.terms_file, shelf)?;
                made.draft.siblings.push(draft);
            }
        }
        Ok(made)
    }

    fn sibling(&self, ground: &Ground<'_>, file: &str, shelf: &mut Shelf) -> Result<Draft, TasksError> {
        let mut last = None;
        for round in 0..TRIES {
            match self.made(&Ground { attempt: ground.attempt + round, ..*ground }, file, shelf) {
                Ok(made) => return Ok(made.draft),
                Err(fault) => last = Some(fault),
            }
        }
        Err(last.unwrap_or_else(|| TasksError::invalid(file, "sibling", "none could be drawn")))
    }

    fn made(&self, ground: &Ground<'_>, file: &str, shelf: &mut Shelf) -> Result<Made, TasksError> {
        let seeds = ground.seeds();
        if seeds.len() != shelf.len() || seeds.iter().any(|seed| !shelf.contains_key(seed)) {
            shelf.clear();
            for seed in seeds {
                shelf.insert(seed, self.dataset(&ground.slot.pair.schema, seed)?);
            }
        }
        let data: Vec<&Dataset> = ground.seeds().iter().filter_map(|seed| shelf.get(seed)).collect();
        ground.draft(&data).map_err(|why| {
            let key = format!("carry {}/{} (task {})", ground.family.name, ground.carry.name, ground.slot.id());
            if why.starts_with("draw ") {
                TasksError::NoDraw { file: file.to_owned(), key, tries: ground.attempt + 1, why }
            } else {
                TasksError::invalid(file, key, why)
            }
        })
    }
}

/// One in four questions is kept for new data; other splits take any.
fn falls_to(split: Split, question: &str) -> bool {
    let kept = Stream::new(0, &["split", question]).below(4) == 0;
    match split {
        Split::Train => !kept,
        Split::NewData => kept,
        _ => true,
    }
}
