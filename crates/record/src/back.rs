//! Who does the writer's work: the calling thread, or one in the background.
//!
//! Both run the same jobs through the same chunker in the same order.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use headland_base::Diagnostic;

use crate::chunker::{Batch, Chunker, Job};
use crate::writer::Written;

/// Jobs that may wait. More would only hide that the disk is slower than the run.
const QUEUE_JOBS: usize = 16;

pub(crate) enum Back {
    Inline(Box<Chunker>),
    Thread(Thread),
}

pub(crate) struct Thread {
    jobs: SyncSender<Job>,
    spare_batches: Receiver<Batch>,
    failure: Arc<OnceLock<Diagnostic>>,
    handle: JoinHandle<Result<Written, Diagnostic>>,
}

impl Back {
    pub fn new(chunker: Chunker, threaded: bool) -> Result<Back, Diagnostic> {
        if threaded {
            Thread::start(chunker).map(Back::Thread)
        } else {
            Ok(Back::Inline(Box::new(chunker)))
        }
    }

    /// Takes a job; gives back an empty batch where one is at hand.
    pub fn run(&mut self, job: Job) -> Option<Batch> {
        match self {
            Back::Inline(chunker) => {
                chunker.run(&job);
                emptied(job)
            }
            Back::Thread(thread) => {
                // The worker goes on taking jobs after a failure, so this waits at most
                // for the disk.
                _ = thread.jobs.send(job);
                thread.spare_batches.try_recv().ok()
            }
        }
    }

    /// The first thing that went wrong, as soon as it is known here.
    pub fn failure(&self) -> Option<&Diagnostic> {
        match self {
            Back::Inline(chunker) => chunker.failure(),
            Back::Thread(thread) => thread.failure.get(),
        }
    }

    /// Does what is left to do.
    pub fn finish(self) -> Result<Written, Diagnostic> {
        match self {
            Back::Inline(chunker) => chunker.finish(),
            Back::Thread(Thread { jobs, handle, .. }) => {
                drop(jobs);
                handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
        }
    }
}

fn emptied(job: Job) -> Option<Batch> {
    let Job::Batch(mut batch) = job else { return None };
    batch.clear();
    Some(batch)
}

impl Thread {
    fn start(mut chunker: Chunker) -> Result<Thread, Diagnostic> {
        let (jobs, incoming) = sync_channel::<Job>(QUEUE_JOBS);
        let (used, spare_batches) = sync_channel::<Batch>(QUEUE_JOBS);
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        let work = move || {
            for job in incoming {
                chunker.run(&job);
                if let Some(fault) = chunker.failure() {
                    _ = failed.set(fault.clone());
                }
                if let Some(batch) = emptied(job) {
                    // Where there are spares enough, this one is dropped.
                    _ = used.try_send(batch);
                }
            }
            chunker.finish()
        };
        let spawned = std::thread::Builder::new().name("recording".to_string()).spawn(work);
        let handle = spawned.map_err(|fault| {
            Diagnostic::error(
                "recording-not-created",
                format!("no thread to write the recording with: {fault}"),
            )
        })?;
        Ok(Thread { jobs, spare_batches, failure, handle })
    }
}
