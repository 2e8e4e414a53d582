//! Recipes: what a training does, in one TOML file.

use serde::{Deserialize, Serialize};
use tribunal_transformer::Shape;
use tribunal_transformer::losses::grpo::Aggregation;

use crate::error::TrainError;

/// The version of the format.
const FORMAT: u32 = 1;

/// Base of the rotary embedding. Heads are narrow, and copying finds what stands far back by what it
/// is: with so long wavelengths, two thirds of a head hardly turn within a context, and the rest tell
/// positions.
const THETA: f32 = 1e10;

/// A whole training. Every number that decides a weight is in here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The version of this format: 1.
    pub format: u32,
    /// Its name.
    pub name: String,
    /// What it is for, in a sentence.
    #[serde(default)]
    pub summary: String,
    /// The seed that everything random is derived from.
    pub seed: u64,
    /// The suite: an embedded one by its name, or a folder.
    pub suite: String,
    /// How many variants each training schema gets, in other words.
    #[serde(default)]
    pub variants: u32,
    /// The model.
    pub model: ModelRecipe,
    /// Supervised fine-tuning on verified trajectories.
    pub sft: SftRecipe,
    /// Which tasks are learned from.
    #[serde(default)]
    pub pool: PoolRecipe,
    /// Policy optimisation; none: supervised fine-tuning alone.
    #[serde(default)]
    pub grpo: Option<GrpoRecipe>,
    /// How episodes are played.
    #[serde(default)]
    pub rollout: RolloutRecipe,
    /// How policies are compared in the end.
    #[serde(default)]
    pub evaluate: EvaluateRecipe,
}

/// The model's sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecipe {
    /// Tokens of the vocabulary, at most.
    pub vocabulary: usize,
    /// Width of the residual stream.
    pub dim: usize,
    /// Blocks.
    pub layers: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Width of one head; none: `dim / heads`.
    #[serde(default)]
    pub head: Option<usize>,
    /// Inner width of the feed-forward part.
    pub hidden: usize,
    /// Longest episode in tokens.
    pub context: usize,
}

/// Supervised fine-tuning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SftRecipe {
    /// Tasks whose solutions are learned from.
    pub tasks: usize,
    /// The share of trajectories that take a detour: a wrong query first, then the recovery.
    #[serde(default)]
    pub detours: f64,
    /// Tasks of the suite's own splits whose solutions are measured now and then, and never learned
    /// from nor decided by: what is learned by heart shows there. 0: none.
    #[serde(default)]
    pub watch: usize,
    /// How often each trajectory is seen.
    pub epochs: u32,
    /// Tokens of one step.
    pub batch_tokens: usize,
    /// Highest learning rate.
    pub learning_rate: f64,
    /// Steps of linear warm-up.
    pub warmup: u64,
    /// Weight decay of matrices.
    #[serde(default = "hundredth")]
    pub weight_decay: f64,
    /// Whether matrices of hidden layers step as in Muon; all other weights, and all where this is
    /// false, as in AdamW.
    #[serde(default)]
    pub muon: bool,
    /// Largest norm of a step's gradient.
    #[serde(default = "one")]
    pub clip: f64,
}

/// Which tasks are learned from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoolRecipe {
    /// Tasks that are made to choose from.
    pub tasks: usize,
    /// Attempts of the starting policy at each.
    pub probes: u32,
    /// After so many updates, and again after as many, the tasks that were too hard are probed anew with
    /// the policy as it is then: what it has learned may have brought them within reach. 0: never.
    pub again: u64,
    /// How tasks are chosen.
    pub selection: Selection,
}

/// How tasks are chosen from the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// Those whose band of success teaches, by priority.
    Bands,
    /// All alike.
    None,
}

/// Policy optimisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrpoRecipe {
    /// Updates.
    pub updates: u64,
    /// Tasks of one update.
    pub tasks: usize,
    /// Attempts at each task of an update.
    pub group: u32,
    /// Optimizer steps of one update, each on its share of the batch.
    #[serde(default = "two")]
    pub steps: usize,
    /// Learning rate, after the warm-up.
    pub learning_rate: f64,
    /// Updates of linear warm-up.
    #[serde(default)]
    pub warmup: u64,
    /// Whether the rate falls, after the warm-up, in a line towards zero at the last update: late
    /// steps then undo less of what early ones learned.
    #[serde(default)]
    pub decay: bool,
    /// Whether matrices of hidden layers step as in Muon, see [`SftRecipe::muon`].
    #[serde(default)]
    pub muon: bool,
    /// How verdicts become advantages.
    #[serde(default)]
    pub advantage: Advantage,
    /// What advantages below zero are multiplied with.
    #[serde(default = "one")]
    pub negative: f64,
    /// Whose reward is learned from.
    #[serde(default)]
    pub grader: Grader,
    /// The ratio is clipped below at one less this.
    #[serde(default = "fifth")]
    pub clip_low: f64,
    /// The ratio is clipped above at one and this.
    #[serde(default = "clip_higher")]
    pub clip_high: f64,
    /// How tokens become one loss.
    #[serde(default = "token_mean")]
    pub aggregation: Aggregation,
    /// Weight of the KL to the starting policy; 0 is none.
    #[serde(default)]
    pub kl: f64,
    /// Whether groups without a difference are left out and others played in their place.
    #[serde(default = "yes")]
    pub dynamic: bool,
    /// How often, at most, an update plays further groups.
    #[serde(default = "three")]
    pub rounds: u32,
    /// A checkpoint every so many updates.
    #[serde(default = "ten")]
    pub checkpoint_every: u64,
    /// Largest norm of a step's gradient.
    #[serde(default = "one")]
    pub clip: f64,
}

/// Whose reward is learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grader {
    /// The task's verifier.
    #[default]
    Verifier,
    /// A deliberately naive one: set comparison on the visible database, partial credit, the exit code
    /// of a write. For the experiment that shows what comes of that; the verifier's verdicts are
    /// reported beside it.
    Naive,
}

/// How verdicts become advantages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advantage {
    /// Reward less the group's mean (Dr. GRPO).
    #[default]
    MeanOnly,
    /// The same, divided by the group's standard deviation (GRPO).
    Standardised,
}

/// How episodes are played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RolloutRecipe {
    /// Tokens of one call, at most.
    pub call_tokens: usize,
    /// Calls of one episode, at most; the task may allow fewer.
    pub calls: usize,
    /// Episodes that are played at the same time.
    pub width: usize,
    /// Divides the logits.
    pub temperature: f32,
    /// Whether calls are held to the grammar of the tools and of the visible names.
    pub grammar: bool,
}

/// How policies are compared in the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvaluateRecipe {
    /// Tasks of the suite, spread over splits and kinds; none: all of them.
    pub tasks: Option<usize>,
    /// Attempts at each.
    pub attempts: u32,
    /// Divides the logits, as the policy is to be served; none: as in rollouts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// The seed of these tasks: the same for trainings by other seeds, so that they can be compared.
    pub seed: u64,
}

impl GrpoRecipe {
    /// The learning rate of an update, counted from 1: a linear warm-up, then level or, with `decay`,
    /// a line that would reach zero one update after the last.
    #[must_use]
    pub fn rate(&self, number: u64) -> f64 {
        let risen = (number as f64 / self.warmup.max(1) as f64).min(1.0);
        if !self.decay || number <= self.warmup {
            return self.learning_rate * risen;
        }
        let falling = self.updates.saturating_sub(self.warmup) + 1;
        let left = (self.updates + 1).saturating_sub(number);
        self.learning_rate * left as f64 / falling as f64
    }
}

impl Default for PoolRecipe {
    fn default() -> PoolRecipe {
        PoolRecipe { tasks: 200, probes: 8, again: 0, selection: Selection::Bands }
    }
}

impl Default for RolloutRecipe {
    fn default() -> RolloutRecipe {
        RolloutRecipe { call_tokens: 240, calls: 10, width: 64, temperature: 1.0, grammar: true }
    }
}

impl Default for EvaluateRecipe {
    fn default() -> EvaluateRecipe {
        EvaluateRecipe { tasks: None, attempts: 20, temperature: None, seed: 1 }
    }
}

impl Recipe {
    /// Reads a recipe.
    ///
    /// # Errors
    /// [`TrainError::Recipe`] names the key and what was expected.
    pub fn parse(text: &str) -> Result<Recipe, TrainError> {
        let recipe: Recipe = toml::from_str(text).map_err(|fault| {
            let line = fault.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1);
            TrainError::recipe(&format!("line {line}"), fault.message().trim().replace('\n', " "))
        })?;
        recipe.check()?;
        Ok(recipe)
    }

    /// The recipe as TOML.
    ///
    /// # Errors
    /// [`TrainError::Recipe`] where a number has no TOML form.
    pub fn to_toml(&self) -> Result<String, TrainError> {
        toml::to_string(self).map_err(|fault| TrainError::recipe("whole", fault.to_string()))
    }

    /// The shape of its model over a vocabulary.
    #[must_use]
    pub fn shape(&self, vocabulary: usize) -> Shape {
        let ModelRecipe { dim, layers, heads, kv_heads, head, hidden, context, .. } = self.model;
        let (vocab, theta, eps) = (vocabulary, THETA, 1e-5);
        Shape {
            vocab,
            dim,
            layers,
            heads,
            kv_heads,
            hidden,
            context,
            theta,
            eps,
            tied: true,
            bias: false,
            earlier: 2,
            head_dim: head,
        }
    }

    fn check(&self) -> Result<(), TrainError> {
        let wrong = |key: &str, why: &str| Err(TrainError::recipe(key, why));
        if self.format != FORMAT {
            let why =
                format!("format {FORMAT} expected, {} given; another version of tribunal reads that", self.format);
            return Err(TrainError::recipe("format", why));
        }
        self.shape(self.model.vocabulary).check().map_err(|why| TrainError::recipe("model", why.to_string()))?;
        if self.sft.tasks == 0 || self.sft.epochs == 0 {
            return wrong(
                "sft",
                "tasks and epochs must be at least 1: a policy that never passes learns nothing from verdicts",
            );
        }
        if !(0.0..=1.0).contains(&self.sft.detours) {
            return wrong("sft.detours", "a share between 0 and 1 expected");
        }
        if self.sft.batch_tokens < self.model.context {
            return wrong("sft.batch_tokens", "at least the model's context expected: one episode must fit");
        }
        let rollout = &self.rollout;
        if rollout.width == 0 || rollout.calls == 0 || rollout.call_tokens == 0 {
            return wrong("rollout", "width, calls and call_tokens must be at least 1");
        }
        if !(rollout.temperature > 0.0 && rollout.temperature.is_finite()) {
            return wrong("rollout.temperature", "a number above 0 expected: without chance no group differs");
        }
        if self.evaluate.temperature.is_some_and(|temperature| !(temperature >= 0.0 && temperature.is_finite())) {
            return wrong("evaluate.temperature", "a number of at least 0 expected; 0 always takes the likeliest");
        }
        let Some(grpo) = &self.grpo else { return Ok(()) };
        if grpo.group < 2 {
            return wrong("grpo.group", "at least 2 expected: an advantage is a difference within a group");
        }
        if !(0.0..=1.0).contains(&grpo.negative) {
            return wrong("grpo.negative", "a share between 0 and 1 expected: 1 leaves advantages as they are");
        }
        if grpo.tasks == 0 || grpo.steps == 0 || grpo.rounds == 0 {
            return wrong("grpo", "tasks, steps and rounds must be at least 1");
        }
        if self.pool.tasks < grpo.tasks {
            return wrong("pool.tasks", "at least grpo.tasks expected");
        }
        if self.pool.probes < 4 && self.pool.selection == Selection::Bands {
            return wrong("pool.probes", "at least 4 expected: fewer attempts do not tell a band");
        }
        if self.pool.again > 0 && self.pool.selection == Selection::None {
            return wrong("pool.again", "0 expected with selection \"none\", which asks for no band");
        }
        Ok(())
    }
}

fn hundredth() -> f64 {
    0.01
}
fn one() -> f64 {
    1.0
}
fn fifth() -> f64 {
    0.2
}
fn clip_higher() -> f64 {
    0.28
}
fn two() -> usize {
    2
}
fn three() -> u32 {
    3
}
fn ten() -> u64 {
    10
}
fn yes() -> bool {
    true
}
fn token_mean() -> Aggregation {
    Aggregation::TokenMean
}
