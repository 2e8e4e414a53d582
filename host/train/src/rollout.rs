//! Many episodes at once: the model draws the next call of all of them together, the environment
//! takes the calls on all cores, and so on until each has ended. What an episode does depends on
//! its seed alone, not on which others are under way.

use std::borrow::Borrow;

use tribunal_dialogue::Transcript;
use tribunal_episode::Episode;
use tribunal_protocol::event::Event;
use tribunal_protocol::policy::Action;
use tribunal_protocol::verdict::Verdict;
use tribunal_transformer::{Draw, Drawn, Mask, Row, Sampler, Sampling};

use crate::error::TrainError;
use crate::held::Held;
use crate::lesson::Lesson;
use crate::recipe::RolloutRecipe;
use crate::update::{Clock, Effort, Timing};

/// One attempt to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Which of the lessons.
    pub lesson: usize,
    /// Which attempt at it, from 0.
    pub number: u32,
    /// Where its random numbers come from.
    pub seed: u64,
}

/// One token that the policy chose.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its place among the episode's tokens.
    pub at: usize,
    /// The set it was drawn from; none: all tokens.
    pub mask: Option<Mask>,
    /// Its log-probability when it was drawn, at temperature 1 under the mask.
    pub behaviour: f32,
    /// In which turn, from 0.
    pub turn: usize,
}

/// One episode as it was played.
#[derive(Debug)]
pub struct Rollout {
    /// What was attempted.
    pub attempt: Attempt,
    /// All events, for a trace.
    pub events: Vec<Event>,
    /// What it was worth.
    pub verdict: Verdict,
    /// What is learned from: the verdict's reward, unless the recipe names another grader. A void has
    /// none.
    pub reward: Option<f64>,
    /// All tokens, prompt and observations included.
    pub tokens: Vec<u32>,
    /// The tokens that the policy chose. Forced ones were no choice, and are not among them.
    pub choices: Vec<Choice>,
    /// Mean probability that the masks took away, over the choices.
    pub removed: f64,
    /// How many calls it made.
    pub calls: usize,
    /// Whether it was cut off: by the length of a call, of the episode, or by the number of calls.
    pub cut: bool,
    /// What the model spent on it.
    pub spent: Effort,
}

/// An episode under way.
struct Live<'a> {
    attempt: Attempt,
    episode: Episode<'a>,
    lesson: &'a Lesson,
    transcript: Transcript,
    row: Row,
    choices: Vec<Choice>,
    removed: f64,
    cut: bool,
    spent: Effort,
    /// Tokens of its transcript that are read, or are to be paid as read.
    known: usize,
}

/// Plays all attempts, in order; `done` hears of each that has ended.
///
/// # Errors
/// What breaks in the model or the grammar. What breaks in an episode voids that episode alone.
pub fn play<L: Borrow<Lesson>>(
    sampler: &Sampler,
    lessons: &[L],
    attempts: &[Attempt],
    recipe: &RolloutRecipe,
    clock: &dyn Clock,
    done: &mut dyn FnMut(&Rollout),
) -> Result<(Vec<Rollout>, Timing), TrainError> {
    play_as("policy", sampler, lessons, attempts, recipe, clock, done)
}

/// As [`play`], under the name that stands in the traces.
///
/// # Errors
/// As [`play`].
pub fn play_as<L: Borrow<Lesson>>(
    name: &str,
    sampler: &Sampler,
    lessons: &[L],
    attempts: &[Attempt],
    recipe: &RolloutRecipe,
    clock: &dyn Clock,
    done: &mut dyn FnMut(&Rollout),
) -> Result<(Vec<Rollout>, Timing), TrainError> {
    let lessons: Vec<&Lesson> = lessons.iter().map(Borrow::borrow).collect();
    let mut timing = Timing::default();
    let mut ended: Vec<Option<Rollout>> = attempts.iter().map(|_| None).collect();
    let mut waiting = attempts.iter().enumerate();
    let mut live: Vec<(usize, Live<'_>)> = Vec::new();
    // The prompt of a lesson that was read last: the attempts at one lesson stand together.
    let mut read: Option<(usize, Row)> = None;
    loop {
        let begun = clock.seconds();
        while live.len() < recipe.width
            && let Some((place, attempt)) = waiting.next()
        {
            let mut one = start(name, sampler, &lessons, *attempt, &mut read)?;
            one.spent.seconds = -begun;
            live.push((place, one));
        }
        if live.is_empty() {
            break;
        }
        let drawn = draw(sampler, &mut live, recipe)?;
        let generated = clock.seconds();
        timing.generation += generated - begun;
        let mut turns: Vec<_> = live.iter_mut().zip(drawn).map(|((_, one), drawn)| (one, drawn, Ok(false))).collect();
        each(&mut turns, |(one, drawn, goes_on)| *goes_on = turn(one, std::mem::take(drawn), recipe, sampler))?;
        let goes_on = turns.into_iter().map(|(.., goes_on)| goes_on).collect::<Result<Vec<bool>, _>>()?;
        let mut over = Vec::new();
        for (one, goes_on) in std::mem::take(&mut live).into_iter().zip(goes_on) {
            if goes_on { live.push(one) } else { over.push(one) }
        }
        let judged = clock.seconds();
        timing.environment += judged - generated;
        for (place, mut rollout) in finish(over)? {
            rollout.spent.seconds += clock.seconds();
            done(&rollout);
            ended[place] = Some(rollout);
        }
        timing.verification += clock.seconds() - judged;
    }
    Ok((ended.into_iter().flatten().collect(), timing))
}

/// Starts an attempt; its prompt is read once for all attempts at a lesson.
fn start<'a>(
    name: &str,
    sampler: &Sampler,
    lessons: &[&'a Lesson],
    attempt: Attempt,
    read: &mut Option<(usize, Row)>,
) -> Result<Live<'a>, TrainError> {
    let lesson = lessons[attempt.lesson];
    let before = read.take().filter(|(index, _)| *index == attempt.lesson);
    let known = if before.is_some() { lesson.opening.tokens().len() } else { 0 };
    let base = match before {
        Some((_, row)) => row,
        None => {
            let mut row = sampler.row(0);
            sampler.read(&mut row, lesson.opening.tokens())?;
            row
        }
    };
    let row = base.fork(attempt.seed);
    *read = Some((attempt.lesson, base));
    Ok(Live {
        attempt,
        episode: Episode::start(&lesson.prepared, name, attempt.number, attempt.seed),
        lesson,
        transcript: lesson.opening.clone(),
        row,
        choices: Vec::new(),
        removed: 0.0,
        cut: false,
        spent: Effort::default(),
        known,
    })
}

/// Draws the next call of every episode.
fn draw(sampler: &Sampler, live: &mut [(usize, Live<'_>)], recipe: &RolloutRecipe) -> Result<Vec<Drawn>, TrainError> {
    let mut held: Vec<Held> = live.iter().map(|(_, one)| Held::new(one.lesson)).collect();
    let unread: Vec<Vec<u32>> = live.iter().map(|(_, one)| one.transcript.tokens()[one.row.len()..].to_vec()).collect();
    let mut draws: Vec<Draw<'_>> = Vec::new();
    for (((_, one), held), read) in live.iter_mut().zip(&mut held).zip(&unread) {
        draws.push(Draw { row: &mut one.row, read, constraint: held, most: recipe.call_tokens });
    }
    let sampling = Sampling { temperature: recipe.temperature, ..Sampling::default() };
    Ok(sampler.draw(&mut draws, &sampling)?)
}

/// Takes the tokens of a call, makes the call, and takes what came of it; says whether the episode goes on.
fn turn(one: &mut Live<'_>, drawn: Drawn, recipe: &RolloutRecipe, sampler: &Sampler) -> Result<bool, TrainError> {
    let action = take(one, drawn)?;
    one.episode.step(action);
    observe(one, recipe, sampler.context())
}

/// Takes the tokens of a call into the transcript; says what to do.
fn take(one: &mut Live<'_>, drawn: Drawn) -> Result<Action, TrainError> {
    let start = one.transcript.tokens().len();
    let turn = one.transcript.turns() as usize;
    one.spent.cached += one.known as u64;
    one.spent.read += (start - one.known) as u64;
    one.spent.written += drawn.tokens.len() as u64;
    one.known = start + drawn.tokens.len();
    for (place, mask) in drawn.masks.into_iter().enumerate() {
        if !drawn.forced[place] {
            let behaviour = drawn.logprobs[place];
            one.choices.push(Choice { at: start + place, mask, behaviour, turn });
            one.removed += f64::from(drawn.removed[place]);
        }
    }
    one.cut |= !drawn.ended;
    Ok(one.transcript.sampled(&drawn.tokens)?.action)
}

/// Takes what came of the call into the transcript; says whether the episode goes on.
fn observe(one: &mut Live<'_>, recipe: &RolloutRecipe, context: usize) -> Result<bool, TrainError> {
    if one.episode.ended() {
        return Ok(false);
    }
    let Some(last) = one.episode.view().turns.last() else { return Ok(false) };
    let observation = last.observation.clone();
    one.transcript.observe(&observation)?;
    let calls = one.transcript.turns() as usize;
    let room = context.saturating_sub(one.transcript.tokens().len());
    if calls >= recipe.calls || room < LEAST_ROOM {
        one.cut = true;
        return Ok(false);
    }
    Ok(true)
}

/// Fewer tokens than this are too few for a call.
pub(crate) const LEAST_ROOM: usize = 16;

/// What is known of an episode before its verdict.
type Kept = (usize, usize, Attempt, Transcript, Vec<Choice>, f64, bool, Effort);

/// Has the verifiers decide, on all cores.
fn finish(over: Vec<(usize, Live<'_>)>) -> Result<Vec<(usize, Rollout)>, TrainError> {
    let mut kept: Vec<Kept> = Vec::new();
    let mut episodes: Vec<(Option<Episode<'_>>, Vec<Event>)> = Vec::new();
    for (place, one) in over {
        kept.push((
            place,
            one.episode.view().turns.len(),
            one.attempt,
            one.transcript,
            one.choices,
            one.removed,
            one.cut,
            one.spent,
        ));
        episodes.push((Some(one.episode), Vec::new()));
    }
    each(&mut episodes, |(episode, events)| {
        if let Some(episode) = episode.take() {
            *events = episode.finish();
        }
    })?;
    let rollout = |(kept, (_, events)): (Kept, (_, Vec<Event>))| {
        let (place, calls, attempt, transcript, choices, removed, cut, spent): Kept = kept;
        let verdict = match events.last() {
            Some(Event::End(end)) => end.verdict.clone(),
            _ => Verdict::Invalid { reason: "no-end".to_owned() },
        };
        let removed = removed / choices.len().max(1) as f64;
        let tokens = transcript.tokens().to_vec();
        let reward = verdict.reward();
        (place, Rollout { attempt, events, verdict, reward, tokens, choices, removed, calls, cut, spent })
    };
    Ok(kept.into_iter().zip(episodes).map(rollout).collect())
}

/// Enough stack for the deepest query that the caps of the SQL pipeline let through.
const STACK_BYTES: usize = 64 << 20;

/// Does `work` for every item, on all cores.
pub(crate) fn each<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Sync) -> Result<(), TrainError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for part in items.chunks_mut(share) {
            let work = &work;
            let thread = std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || part.iter_mut().for_each(work));
            threads.push(thread.map_err(|_| TrainError::Worker)?);
        }
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| TrainError::Worker))
    })
}
