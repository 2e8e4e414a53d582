//! Panics of the engine: caught, and silent.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; none where it panicked. The panic prints nothing: the first call installs a hook
/// that is silent on this thread while `work` runs, and calls the former hook everywhere else.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let former = take_hook();
        set_hook(Box::new(move |info| {
            if !SILENT.get() {
                former(info);
            }
        }));
    });
    let before = SILENT.replace(true);
    // What `work` may leave half done is the guard of one statement, and that is thrown away.
    let result = catch_unwind(AssertUnwindSafe(work)).ok();
    SILENT.set(before);
    result
}
