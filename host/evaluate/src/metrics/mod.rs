//! What is measured of a policy, and how sure it is: measures of a task's attempts, intervals by
//! bootstrap clustered on schema and task, and exact intervals where a count stands alone.

pub mod bootstrap;
pub mod exact;
mod measure;

pub use bootstrap::{Bootstrap, Interval};
pub use measure::{Attempts, Measure, NoMeasure};
