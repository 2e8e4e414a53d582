//! Who computes: the caller alone, or a fixed number of threads.

use std::sync::Arc;

use rayon::prelude::*;

use crate::{Error, Result};

/// A fixed number of threads. What is computed never depends on how many.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    threads: usize,
    workers: Option<Arc<rayon::ThreadPool>>,
}

impl Pool {
    /// As many threads as wanted; one means the caller's own.
    pub(crate) fn new(threads: usize) -> Result<Pool> {
        if threads <= 1 {
            return Ok(Pool::alone());
        }
        let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let workers =
            built.map_err(|error| Error::Shape(format!("{threads} threads could not be started: {error}")))?;
        Ok(Pool { threads, workers: Some(Arc::new(workers)) })
    }

    /// The caller's own thread.
    pub(crate) fn alone() -> Pool {
        Pool { threads: 1, workers: None }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Runs every task, in any order and on any thread; tasks own what they write.
    pub(crate) fn each<T: Send>(&self, tasks: Vec<T>, work: impl Fn(T) + Send + Sync) {
        match &self.workers {
            Some(workers) if tasks.len() > 1 => {
                workers.install(|| tasks.into_par_iter().with_max_len(1).for_each(work));
            }
            _ => tasks.into_iter().for_each(work),
        }
    }
}
