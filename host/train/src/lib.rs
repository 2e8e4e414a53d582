//! Learning from verdicts: supervised fine-tuning on trajectories that a verifier has passed, then
//! group-relative policy optimisation on execution verdicts, in the very harness that serves.
//!
//! - [`Recipe`] says what is done; [`Lesson`] is a task made ready to be played by a model.
//! - [`rollout`] plays many episodes at once, all of them on the tokens that were drawn.
//! - [`trajectory`] turns solutions and detours into verified trajectories; [`sft`] learns from them.
//! - [`pool`] chooses tasks by bands of success; [`credit`] turns verdicts into advantages, one
//!   file for each method; [`grpo`] makes the step.
//! - [`Checkpoint`] is a folder that a policy is served from and a training goes on from; [`Served`]
//!   opens one, or a model that others trained.
//!
//! The same seed gives the same weights, bit for bit, whatever else runs and on any number of
//! threads: every random number comes from a seed of its own, and no clock decides anything.

mod checkpoint;
pub mod credit;
mod error;
pub mod grpo;
mod health;
mod held;
mod lesson;
mod naive;
mod passes;
pub mod pool;
mod random;
mod recipe;
pub mod rollout;
mod served;
pub mod sft;
pub mod trajectory;
mod update;
mod values;

pub use checkpoint::{Checkpoint, Progress, STATE};
pub use error::TrainError;
pub use health::Guard;
pub use lesson::{Lesson, Lessons, Make, Shelf};
pub use random::seed_of;
pub use recipe::{
    Advantage, EvaluateRecipe, Grader, GrpoRecipe, ModelRecipe, PoolRecipe, Recipe, RolloutRecipe, Selection, SftRecipe,
};
pub use served::Served;
pub use update::{Clock, Effort, Timing, Update};
pub use values::with_values;
