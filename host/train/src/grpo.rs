//! Group-relative policy optimisation: attempts at a few tasks, advantages within each group, a
//! clipped step or two. What is trained on are the very tokens that were drawn.

use tribunal_protocol::verdict::Verdict;
use tribunal_transformer::losses::grpo::{self, Batch, Counters, Settings, Whole};
use tribunal_transformer::{AdamW, Gradients, Model, Packed, Sampler};

use crate::credit::{Group, Method};
use crate::error::TrainError;
use crate::lesson::Lessons;
use crate::passes::passes;
use crate::pool::Pool;
use crate::random::seed_of;
use crate::recipe::{Grader, GrpoRecipe, Recipe};
use crate::rollout::{self, Attempt, Rollout};
use crate::update::{Clock, Timing, Update};

/// How often a void attempt is played again before its group is given up.
const REFILLS: u32 = 2;

/// The attempts of one update: for each task all of its attempts.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Groups that are complete and differ.
    pub groups: Vec<(usize, Vec<Rollout>)>,
    /// What all attempts came to, those that are not trained on among them.
    pub tally: Tally,
    /// Where the time went.
    pub timing: Timing,
}

/// Counts over all attempts of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// All attempts, voids included.
    pub attempts: u64,
    /// Attempts that passed.
    pub passed: u64,
    /// Sum of what was learned from: rewards of the recipe's grader.
    pub reward: f64,
    /// Attempts that were void.
    pub voids: u64,
    /// Attempts that were cut off.
    pub cut: u64,
    /// Calls.
    pub calls: u64,
    /// Tokens that were chosen.
    pub chosen: u64,
    /// Sum of the mean removed mass.
    pub removed: f64,
    /// Groups that passed never, always, and sometimes.
    pub groups: [u64; 3],
}

/// Plays the attempts of one update. With dynamic sampling, groups without a difference are left out
/// and further tasks are played, up to the recipe's rounds.
///
/// # Errors
/// What breaks in the model.
pub fn gather(
    sampler: &Sampler,
    lessons: &dyn Lessons,
    pool: &mut Pool,
    recipe: &Recipe,
    grpo: &GrpoRecipe,
    update: u64,
    clock: &dyn Clock,
) -> Result<Gathered, TrainError> {
    let mut gathered = Gathered::default();
    let mut taken = Vec::new();
    let rounds = if grpo.dynamic { grpo.rounds } else { 1 };
    for round in 0..rounds {
        let wanted = grpo.tasks - gathered.groups.len();
        let number = update.to_string();
        let parts = ["tasks", number.as_str(), &round.to_string()];
        let tasks = pool.draw(wanted, recipe.pool.selection, recipe.seed, &parts, &taken);
        if tasks.is_empty() {
            break;
        }
        for (task, rollouts) in
            groups(sampler, lessons, &tasks, recipe, (grpo.group, grpo.grader), update, clock, &mut gathered)?
        {
            for rollout in &rollouts {
                pool.note(task, rollout.reward.map(|reward| reward >= 1.0));
            }
            pool.entries[task].visited = update;
            let group = group(lessons.id(task), &rollouts);
            let passed = rollouts.iter().filter(|rollout| rollout.reward == Some(1.0)).count();
            let kind = if passed == 0 {
                0
            } else if passed == rollouts.len() {
                1
            } else {
                2
            };
            gathered.tally.groups[kind] += 1;
            let informative = group.informative();
            if informative || !grpo.dynamic {
                gathered.groups.push((task, rollouts));
            }
        }
        taken.extend(tasks);
        if gathered.groups.len() >= grpo.tasks {
            break;
        }
    }
    Ok(gathered)
}

/// All attempts at some tasks; a group that stays incomplete is left out.
#[expect(clippy::too_many_arguments, reason = "one caller; they are the state of an update")]
fn groups(
    sampler: &Sampler,
    lessons: &dyn Lessons,
    tasks: &[usize],
    recipe: &Recipe,
    (size, grader): (u32, Grader),
    update: u64,
    clock: &dyn Clock,
    gathered: &mut Gathered,
) -> Result<Vec<(usize, Vec<Rollout>)>, TrainError> {
    let ready = lessons.ready(tasks)?;
    let attempt = |lesson: usize, number: u32| {
        let parts = ["rollout", &update.to_string(), lessons.id(tasks[lesson]), &number.to_string()];
        Attempt { lesson, number, seed: seed_of(recipe.seed, &parts) }
    };
    let mut attempts: Vec<Attempt> = (0..tasks.len())
        .flat_map(|lesson| (0..size).map(move |number| (lesson, number)))
        .map(|(l, n)| attempt(l, n))
        .collect();
    let mut groups: Vec<(usize, Vec<Rollout>)> = tasks.iter().map(|task| (*task, Vec::new())).collect();
    for refill in 0..=REFILLS {
        let (rollouts, timing) = rollout::play(sampler, &ready, &attempts, &recipe.rollout, clock, &mut |_| {})?;
        gathered.timing.add(&timing);
        attempts.clear();
        for mut rollout in rollouts {
            let lesson = rollout.attempt.lesson;
            rollout.reward = ready[lesson].worth(grader, &rollout.verdict, &rollout.events);
            gathered.tally.count(&rollout);
            if matches!(rollout.verdict, Verdict::Void(_)) {
                // Another attempt in its place, with random numbers of its own.
                attempts.push(attempt(lesson, rollout.attempt.number % size + size * (refill + 1)));
            } else {
                groups[lesson].1.push(rollout);
            }
        }
        if attempts.is_empty() {
            break;
        }
    }
    groups.retain(|(_, rollouts)| rollouts.len() == size as usize);
    Ok(groups)
}

/// The group of all attempts at a task.
#[must_use]
pub fn group<'a>(task: &'a str, rollouts: &'a [Rollout]) -> Group<'a> {
    Group { task, role: "agent", turn: 0, rollouts: rollouts.iter().collect() }
}

impl Tally {
    fn count(&mut self, rollout: &Rollout) {
        self.attempts += 1;
        self.passed += u64::from(rollout.verdict.passed());
        self.reward += rollout.reward.unwrap_or(0.0);
        self.voids += u64::from(matches!(rollout.verdict, Verdict::Void(_)));
        self.cut += u64::from(rollout.cut);
        self.calls += rollout.calls as u64;
        self.chosen += rollout.choices.len() as u64;
        self.removed += rollout.removed;
    }
}

/// A rollout with the advantages of its choices.
struct Credited<'a> {
    rollout: &'a Rollout,
    advantages: Vec<f32>,
}

/// What learning from gathered attempts needs beside the model.
pub struct Learner<'a> {
    /// The starting policy, where the recipe wants a KL to it.
    pub reference: Option<&'a Model>,
    /// The lessons that the attempts are at.
    pub lessons: &'a dyn Lessons,
    /// How credit is given.
    pub method: &'a dyn Method,
    /// The recipe.
    pub recipe: &'a GrpoRecipe,
}

impl Learner<'_> {
    /// Learns from what was gathered: the recipe's steps, each on its share of the rollouts. Without
    /// any advantage no step is taken: momentum alone must not move a policy.
    ///
    /// # Errors
    /// A loss, gradient or ratio that is not finite.
    pub fn learn(
        &self,
        model: &mut Model,
        optimizer: &mut AdamW,
        gathered: &Gathered,
        number: u64,
        clock: &dyn Clock,
    ) -> Result<Update, TrainError> {
        let begun = clock.seconds();
        let mut update = Update::new(number, "grpo");
        let credited = credited(gathered, self.lessons, self.method);
        let rate = self.recipe.rate(number);
        let share = credited.len().div_ceil(self.recipe.steps).max(1);
        let mut sums = Sums::default();
        for (step, part) in credited.chunks(share).enumerate() {
            if part.iter().all(|one| one.advantages.iter().all(|advantage| *advantage == 0.0)) {
                continue;
            }
            let (gradients, replay) = gradients(model, self.reference, part, self.recipe, &mut sums)?;
            if step == 0 {
                update.set("replay_error", replay);
            }
            let stepped = optimizer.step(model, &gradients, rate)?;
            sums.norm += stepped.norm;
            sums.steps += 1;
        }
        let mut timing = gathered.timing;
        timing.learning += clock.seconds() - begun;
        sums.report(&mut update);
        gathered.tally.report(&mut update, &timing);
        let all = credited.iter().flat_map(|one| &one.advantages);
        let total: f64 = all.clone().map(|advantage| f64::from(advantage.abs())).sum();
        update.set("advantage_size", total / all.count().max(1) as f64);
        update.set("learning_rate", rate);
        update.set("tokens", credited.iter().map(|one| one.rollout.tokens.len()).sum::<usize>() as f64);
        update.set("groups_trained", gathered.groups.len() as f64);
        Ok(update)
    }
}

/// The rollouts with their advantages, groups taken in turn, so that every step sees many tasks.
fn credited<'a>(gathered: &'a Gathered, lessons: &dyn Lessons, method: &dyn Method) -> Vec<Credited<'a>> {
    let mut of_groups: Vec<std::vec::IntoIter<Credited<'a>>> = Vec::new();
    for (task, rollouts) in &gathered.groups {
        let advantages = method.advantages(&group(lessons.id(*task), rollouts));
        let credited = rollouts.iter().zip(advantages).map(|(rollout, advantages)| Credited { rollout, advantages });
        of_groups.push(credited.collect::<Vec<_>>().into_iter());
    }
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(of_groups.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            return all;
        }
    }
}

/// Gradients of one step, and how far the trainer's log-probabilities lie from the sampler's.
fn gradients(
    model: &Model,
    reference: Option<&Model>,
    part: &[Credited<'_>],
    grpo: &GrpoRecipe,
    sums: &mut Sums,
) -> Result<(Gradients, f64), TrainError> {
    let settings = Settings {
        clip_low: grpo.clip_low,
        clip_high: grpo.clip_high,
        dual_clip: None,
        kl: grpo.kl,
        aggregation: grpo.aggregation,
    };
    let tokens = part.iter().map(|one| one.rollout.choices.len()).sum();
    let whole = Whole { tokens, sequences: part.len(), rollouts: part.len() };
    let mut gradients: Option<Gradients> = None;
    let mut replay: f64 = 0.0;
    for pass in passes(part, |one| one.rollout.tokens.len()) {
        let packed = packed(pass)?;
        let scores = model.forward(&packed)?;
        let behaviour: Vec<f32> = choices(pass).map(|choice| choice.behaviour).collect();
        let advantages: Vec<f32> = pass.iter().flat_map(|one| one.advantages.iter().copied()).collect();
        let policy: Vec<f32> = scores.log_probs.to_vec1().map_err(tribunal_transformer::Error::from)?;
        let apart = policy.iter().zip(&behaviour).map(|(policy, drawn)| f64::from((policy - drawn).abs()));
        replay = apart.fold(replay, f64::max);
        let reference = reference.map(|reference| reference.measure(&packed)).transpose()?;
        let batch = Batch {
            behaviour: &behaviour,
            advantages: &advantages,
            reference: reference.as_ref().map(|measured| measured.log_probs.as_slice()),
            offsets: packed.offsets(),
            rollouts: None,
            whole: Some(whole),
        };
        let (loss, counters) = grpo::loss(&scores.log_probs, &batch, &settings)?;
        sums.add(&counters, &scores.entropy);
        sums.loss += f64::from(loss.to_scalar::<f32>().map_err(tribunal_transformer::Error::from)?);
        let of_pass = scores.backward(&loss)?;
        match &mut gradients {
            Some(gradients) => gradients.add(&of_pass)?,
            None => gradients = Some(of_pass),
        }
    }
    let gradients = gradients.ok_or_else(|| TrainError::Nothing("a step without rollouts".to_owned()))?;
    Ok((gradients, replay))
}

fn choices<'a>(pass: &'a [Credited<'a>]) -> impl Iterator<Item = &'a rollout::Choice> {
    pass.iter().flat_map(|one| &one.rollout.choices)
}

fn packed(pass: &[Credited<'_>]) -> Result<Packed, TrainError> {
    let mut packed = Packed::new();
    for one in pass {
        let scored = one.rollout.choices.iter().map(|choice| (choice.at, choice.mask.clone()));
        packed.push(&one.rollout.tokens, scored)?;
    }
    Ok(packed)
}

/// What an update's passes add up to.
#[derive(Default)]
struct Sums {
    loss: f64,
    norm: f64,
    steps: u64,
    tokens: f64,
    entropy: f64,
    clipped: [f64; 2],
    ratio: f64,
    behaviour_kl: f64,
    reference_kl: Option<f64>,
}

impl Sums {
    fn add(&mut self, counters: &Counters, entropy: &[f32]) {
        let tokens = counters.tokens as f64;
        self.tokens += tokens;
        self.entropy += entropy.iter().map(|value| f64::from(*value)).sum::<f64>();
        self.clipped[0] += counters.clipped_low * tokens;
        self.clipped[1] += counters.clipped_high * tokens;
        self.ratio = self.ratio.max(counters.largest_ratio);
        self.behaviour_kl += counters.behaviour_kl * tokens;
        if let Some(kl) = counters.reference_kl {
            *self.reference_kl.get_or_insert(0.0) += kl * tokens;
        }
    }

    fn report(&self, update: &mut Update) {
        update.set("steps", self.steps as f64);
        if self.tokens == 0.0 {
            return;
        }
        update.set("loss", self.loss / self.steps.max(1) as f64);
        update.set("gradient_norm", self.norm / self.steps.max(1) as f64);
        update.set("entropy", self.entropy / self.tokens);
        update.set("clipped_low", self.clipped[0] / self.tokens);
        update.set("clipped_high", self.clipped[1] / self.tokens);
        update.set("largest_ratio", self.ratio);
        update.set("behaviour_kl", self.behaviour_kl / self.tokens);
        if let Some(kl) = self.reference_kl {
            update.set("reference_kl", kl / self.tokens);
        }
    }
}

impl Tally {
    fn report(&self, update: &mut Update, timing: &Timing) {
        let attempts = self.attempts.max(1) as f64;
        update.set("attempts", self.attempts as f64);
        update.set("pass_rate", self.passed as f64 / (self.attempts - self.voids).max(1) as f64);
        update.set("reward", self.reward / (self.attempts - self.voids).max(1) as f64);
        update.set("void_share", self.voids as f64 / attempts);
        update.set("cut_share", self.cut as f64 / attempts);
        update.set("calls_per_episode", self.calls as f64 / attempts);
        update.set("tokens_per_episode", self.chosen as f64 / attempts);
        update.set("removed_mass", self.removed / attempts);
        let groups = self.groups.iter().sum::<u64>().max(1) as f64;
        for (name, count) in ["groups_never", "groups_always", "groups_informative"].iter().zip(self.groups) {
            update.set(name, count as f64 / groups);
        }
        update.set("seconds", timing.total());
        update.set("seconds_generation", timing.generation);
        update.set("seconds_environment", timing.environment);
        update.set("seconds_verification", timing.verification);
        update.set("seconds_learning", timing.learning);
        update.set("drawn_per_second", self.chosen as f64 / timing.generation.max(1e-9));
    }
}
