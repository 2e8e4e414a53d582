//! A suite opened on a stage: where tasks come from, and what they run on.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tribunal_episode::{Datasets, Stage};
use tribunal_import::ImportedSuite;
use tribunal_maker::{Library, Maker, Refused, Source};
use tribunal_protocol::digest::Digest;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::Loading;
use tribunal_protocol::schema::{Dataset, Engine, TableSchema};
use tribunal_protocol::task::{SchemaRef, Split, Task};
use tribunal_sandbox::Plugin;
use tribunal_tasks::{Draft, Quotas, Slot, Suite};

use crate::args::{MachineArguments, PlaceArguments};
use crate::{lock, output, plugins, work};

/// The further drafts that are tried for a place in a suite whose own was refused; numbers that
/// the suite itself does not use.
const FURTHER_DRAFTS: std::ops::Range<u32> = 1_000..1_004;

/// A suite: one that makes tasks of schemas and families, or one that was imported whole.
enum Kind {
    Made(Arc<Suite>),
    Imported(Arc<ImportedSuite>),
}

/// A suite by name or folder.
pub struct Opened {
    kind: Kind,
    named: String,
}

impl Opened {
    /// Opens an embedded suite by its name, or a folder.
    pub fn open(named: &str) -> Result<Opened> {
        let path = Path::new(named);
        if !path.is_dir() {
            let suite = Suite::embedded(named)?;
            return Ok(Opened { kind: Kind::Made(Arc::new(suite)), named: named.to_owned() });
        }
        let absolute = std::fs::canonicalize(path).with_context(|| format!("cannot read {named}"))?;
        let kind = if ImportedSuite::is_at(&absolute) {
            Kind::Imported(Arc::new(ImportedSuite::load(&absolute)?))
        } else {
            Kind::Made(Arc::new(Suite::load(&absolute)?))
        };
        Ok(Opened { kind, named: absolute.to_string_lossy().into_owned() })
    }

    /// The schemas of the suite.
    pub fn schemas(&self) -> Vec<SchemaRef> {
        match &self.kind {
            Kind::Made(suite) => suite.schemas(),
            Kind::Imported(suite) => suite.schemas.keys().cloned().collect(),
        }
    }

    /// How the suite has its plugins loaded.
    pub fn loading(&self) -> Loading {
        match &self.kind {
            Kind::Made(suite) => suite.loading(),
            Kind::Imported(suite) => suite.loading,
        }
    }

    /// The tables of a schema.
    pub fn tables(&self, schema: &SchemaRef) -> Result<Vec<TableSchema>> {
        let dataset = self.source().dataset(schema, 1).map_err(anyhow::Error::msg)?;
        Ok(dataset.tables.into_iter().map(|table| table.schema).collect())
    }

    /// The sealed data of a schema at a seed; imported data has only one.
    pub fn snapshot(&self, schema: &SchemaRef, seed: u64) -> Result<tribunal_database::Snapshot> {
        let made = Library::new(self.source()).snapshot(schema, seed);
        made.map_err(|why| anyhow::anyhow!("{schema} at seed {seed}: {why}"))
    }

    fn source(&self) -> Box<dyn Source> {
        match &self.kind {
            Kind::Made(suite) => Box::new(MadeRows(Arc::clone(suite))),
            Kind::Imported(suite) => Box::new(ImportedRows(Arc::clone(suite))),
        }
    }
}

struct MadeRows(Arc<Suite>);

impl Source for MadeRows {
    fn dataset(&self, schema: &SchemaRef, seed: u64) -> Result<Dataset, String> {
        self.0.dataset(schema, seed).map_err(|why| why.to_string())
    }

    fn engine(&self, schema: &SchemaRef) -> Result<Engine, String> {
        self.0.engine(schema).map_err(|why| why.to_string())
    }
}

struct ImportedRows(Arc<ImportedSuite>);

impl Source for ImportedRows {
    fn dataset(&self, schema: &SchemaRef, _seed: u64) -> Result<Dataset, String> {
        self.0.dataset(schema).cloned().ok_or_else(|| format!("the suite holds no schema {schema}"))
    }

    /// Its tasks were judged on the default engine when they were imported.
    fn engine(&self, _schema: &SchemaRef) -> Result<Engine, String> {
        Ok(Engine::default())
    }
}

/// Shares one library between the stage and the maker.
struct Shared(Arc<Library>);

impl Datasets for Shared {
    fn snapshot(&self, schema: &SchemaRef, seed: u64) -> Result<tribunal_database::Snapshot, String> {
        self.0.snapshot(schema, seed)
    }
}

/// A stage for the suite that is opened as `suite`, with further components, which are compiled anew and
/// kept nowhere; each takes the place of the plugin of its name.
fn stage(
    library: &Arc<Library>,
    (suite, loading): (&str, Loading),
    plugins_at: Option<&Path>,
    cache: Option<&Path>,
    further: &[(String, Vec<u8>)],
) -> Result<Stage> {
    let limits = loading.limits(Limits::default());
    let folder = plugins::folder(plugins_at)?;
    let lock = lock::place(suite, &folder);
    let mut loaded = plugins::load_all(&folder, &plugins::cache(cache, &folder), &lock, &limits, loading.wasi)?;
    if !further.is_empty() {
        let sandbox = plugins::sandbox(None, &limits, loading.wasi)?;
        for (name, bytes) in further {
            let plugin = sandbox.load(name, bytes)?;
            loaded.retain(|other| other.name() != plugin.name());
            loaded.push(plugin);
        }
    }
    Ok(Stage::new(loaded, Arc::new(Shared(Arc::clone(library))), limits)?)
}

/// A stage for a suite whose tasks are made already.
pub fn stage_for(suite: &str, plugins_at: Option<&Path>, cache: Option<&Path>) -> Result<Stage> {
    stage_of(suite, plugins_at, cache, &[])
}

/// As [`stage_for`], with further components.
pub fn stage_with(suite: &str, machine: &MachineArguments, further: &[(String, Vec<u8>)]) -> Result<Stage> {
    stage_of(suite, machine.plugins.as_deref(), machine.cache.as_deref(), further)
}

fn stage_of(
    suite: &str,
    plugins_at: Option<&Path>,
    cache: Option<&Path>,
    further: &[(String, Vec<u8>)],
) -> Result<Stage> {
    let opened = Opened::open(suite)?;
    let library = Arc::new(Library::new(opened.source()));
    stage(&library, (suite, opened.loading()), plugins_at, cache, further)
}

/// The tasks of a suite, and those that were refused.
#[derive(Default)]
pub struct Made {
    /// In the order of their ids.
    pub tasks: Vec<Task>,
    /// In the order of their ids.
    pub refused: Vec<Refused>,
}

/// A suite on a stage.
pub struct Workshop {
    opened: Opened,
    library: Arc<Library>,
    stage: Stage,
    seed: u64,
    limit: Option<usize>,
}

impl Workshop {
    /// Opens a suite, with variants of its training schemas where such are asked for, and loads the
    /// plugins.
    pub fn open(place: &PlaceArguments) -> Result<Workshop> {
        let suite = &place.suite;
        let mut opened = Opened::open(suite)?;
        if place.variants > 0 {
            let Kind::Made(made) = opened.kind else {
                bail!("suite {suite}: it was imported and has no variants; ask for 0 of them");
            };
            let Some(made) = Arc::into_inner(made) else { bail!("suite {suite}: in use elsewhere") };
            opened.kind = Kind::Made(Arc::new(made.with_variants(place.variants)?));
        }
        let library = Arc::new(Library::new(opened.source()));
        let stage =
            stage(&library, (&opened.named, opened.loading()), place.plugins.as_deref(), place.cache.as_deref(), &[])?;
        Ok(Workshop { opened, library, stage, seed: place.seed, limit: place.tasks })
    }

    /// The first `count` places for training tasks: families and schemas in turn. A larger count
    /// begins with the places of a smaller one.
    pub fn training_places(&self, count: usize) -> Result<Vec<Slot>> {
        let Kind::Made(suite) = &self.opened.kind else {
            bail!("suite {}: it was imported, and has no families to make training tasks of", self.opened.named);
        };
        let slots = suite.slots(&Quotas([(Split::Train, count)].into_iter().collect()));
        match slots.is_empty() {
            true => bail!("suite {}: no training schema carries a training family", suite.name()),
            false => Ok(slots),
        }
    }

    /// Makes the task of one place, with why drafts for it were refused.
    pub fn make_place(&self, slot: &Slot) -> (Option<Task>, Vec<Refused>) {
        let Kind::Made(suite) = &self.opened.kind else { return (None, Vec::new()) };
        let maker = Maker::new(&self.stage, &self.library);
        self.try_drafts(suite, &maker, slot, None)
    }

    /// Lets the data go that tasks were made of; what is needed again is made again.
    pub fn forget(&self) {
        self.library.forget();
    }

    /// The stage.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// The data of the suite, as the stage has it.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// The same stage with another plugin beside its own; one of the same name makes place for it.
    pub fn stage_with(&self, plugin: Arc<Plugin>) -> Result<Stage> {
        let others = self.stage.plugins().values().filter(|other| other.name() != plugin.name());
        let plugins: Vec<Arc<Plugin>> = others.cloned().chain([Arc::clone(&plugin)]).collect();
        Ok(Stage::new(plugins, Arc::new(Shared(Arc::clone(&self.library))), self.stage.limits().clone())?)
    }

    /// How the suite has its plugins loaded.
    pub fn loading(&self) -> Loading {
        self.opened.loading()
    }

    /// The suite as `tribunal` can open it again.
    pub fn suite_name(&self) -> &str {
        &self.opened.named
    }

    /// The suite as `name@version`.
    pub fn suite_version(&self) -> String {
        match &self.opened.kind {
            Kind::Made(suite) => format!("{}@{}", suite.name(), suite.version()),
            Kind::Imported(suite) => format!("{}@{}", suite.name, suite.version),
        }
    }

    /// The digest of the suite's files.
    pub fn suite_digest(&self) -> Digest {
        match &self.opened.kind {
            Kind::Made(suite) => suite.digest(),
            Kind::Imported(suite) => suite.digest(),
        }
    }

    /// Makes the tasks, each on trial; none when interrupted.
    pub fn make(&self, jobs: usize) -> Result<Option<Made>> {
        match &self.opened.kind {
            Kind::Made(suite) => self.make_from(suite, jobs),
            Kind::Imported(suite) => {
                let tasks = spread(suite.tasks.clone(), self.limit, |task| (task.split.name(), task.kind.name()));
                Ok(Some(Made { tasks, refused: Vec::new() }))
            }
        }
    }

    fn make_from(&self, suite: &Suite, jobs: usize) -> Result<Option<Made>> {
        let slots = suite.slots(&suite.quotas());
        if slots.is_empty() {
            bail!("suite {}: it makes no tasks; its quotas are all 0, or no schema carries its families", suite.name());
        }
        let drafts = suite.drafts(&suite.quotas(), self.seed)?;
        let pairs: Vec<(Slot, Draft)> = slots.into_iter().zip(drafts).collect();
        let slots = spread(pairs, self.limit, |(_, draft)| (draft.task.split.name(), draft.task.kind.name()));
        let maker = Maker::new(&self.stage, &self.library);
        let bar = output::progress("making tasks", slots.len() as u64);
        let results = work::all(&slots, jobs, |(slot, draft)| {
            let result = self.try_drafts(suite, &maker, slot, Some(draft));
            bar.step();
            Ok(result)
        })?;
        bar.finish();
        let mut made = Made::default();
        for result in results {
            let Some((task, refused)) = result else { return Ok(None) };
            made.tasks.extend(task);
            made.refused.extend(refused);
        }
        made.tasks.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Some(made))
    }

    /// Puts drafts of one place on trial until one passes: the given one, or else the place's own, then
    /// further ones.
    fn try_drafts(
        &self,
        suite: &Suite,
        maker: &Maker<'_>,
        slot: &Slot,
        first: Option<&Draft>,
    ) -> (Option<Task>, Vec<Refused>) {
        let mut refused = Vec::new();
        for attempt in std::iter::once(0).chain(FURTHER_DRAFTS) {
            let made = match first.filter(|_| attempt == 0) {
                Some(draft) => maker.make(draft),
                None => match suite.draft(slot, self.seed, attempt) {
                    Ok(draft) => maker.make(&draft),
                    Err(why) => Err(Refused { task: slot.id(), reason: format!("no further draft: {why}") }),
                },
            };
            match made {
                Ok(task) => return (Some(task), refused),
                Err(why) => refused.push(why),
            }
        }
        (None, refused)
    }
}

/// At most `limit` items, taken in turn from every group, so that a short run still shows all.
fn spread<T, K: Ord>(items: Vec<T>, limit: Option<usize>, group: impl Fn(&T) -> K) -> Vec<T> {
    let Some(limit) = limit else { return items };
    let mut counts = std::collections::BTreeMap::new();
    let mut ranked: Vec<(usize, usize, T)> = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let count: &mut usize = counts.entry(group(&item)).or_default();
        ranked.push((*count, index, item));
        *count += 1;
    }
    ranked.sort_by_key(|(count, index, _)| (*count, *index));
    ranked.truncate(limit);
    ranked.sort_by_key(|(_, index, _)| *index);
    ranked.into_iter().map(|(_, _, item)| item).collect()
}
