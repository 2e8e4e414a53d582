//! `tribunal`: the command line. The only crate that prints, exits and reads the environment.

mod args;
mod commands;
mod datasets;
mod folder;
mod lock;
mod models;
mod output;
mod plugins;
mod scaffold;
mod work;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Command};

/// Policies, queries and plugins make many small things on several threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Everything was done.
const DONE: u8 = 0;
/// It was done, and the answer is no: a replay differs, a question is unclassified, a request is not
/// granted, a candidate does not ship, a seal does not hold.
const NEGATIVE: u8 = 1;
/// It could not be done: bad input, or a machine that refuses.
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Run(run) => commands::run::run(&run),
        Command::Train(train) => commands::train::run(&train),
        Command::Trainings(trainings) => commands::trainings::run(&trainings),
        Command::Replay(replay) => commands::replay::run(&replay),
        Command::Tasks(tasks) => commands::tasks::run(&tasks),
        Command::Inspect(inspect) => commands::inspect::run(&inspect),
        Command::Check(check) => commands::check::run(&check),
        Command::New(new) => commands::new::run(&new),
        Command::Build(build) => commands::build::run(&build),
        Command::Call(call) => commands::call::run(&call),
        Command::Bench(bench) => commands::call::bench::run(&bench),
        Command::Import(import) => commands::import::run(&import),
        Command::Report(report) => commands::report::run(&report),
        Command::Evaluate(evaluate) => commands::evaluate::run(&evaluate),
        Command::Audit(audit) => commands::audit::run(&audit),
        Command::Keygen(keygen) => commands::seal::keys::run(&keygen),
        Command::Seal(seal) => commands::seal::run(&seal),
        Command::VerifySeal(verify) => commands::seal::verify::run(&verify),
        Command::Lock(lock) => commands::lock::run(&lock),
        Command::Encrypt(encrypt) => commands::blind::encrypt(&encrypt),
        Command::EvaluateBlind(evaluate) => commands::blind::evaluate(&evaluate),
        Command::CompileWorker(worker) => commands::compile_worker::run(&worker),
    };
    ExitCode::from(match done.and_then(|yes| output::finish().map(|()| yes)) {
        Ok(true) => DONE,
        Ok(false) => NEGATIVE,
        Err(error) => {
            output::error(&error);
            REFUSED
        }
    })
}
