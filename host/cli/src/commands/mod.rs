//! One module for each command.

pub mod audit;
pub mod blind;
pub mod build;
pub mod call;
pub mod check;
pub mod compile_worker;
pub mod evaluate;
pub mod import;
pub mod inspect;
pub mod lock;
pub mod new;
pub mod replay;
pub mod report;
pub mod run;
pub mod seal;
pub mod tasks;
pub mod train;
pub mod trainings;
