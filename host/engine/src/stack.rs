//! Stack: the engine walks every expression recursively, and a chain of operators is a tree as
//! deep as it is long.

use std::cell::Cell;
use std::thread;

/// Bytes of stack on which every statement that passes the caps runs. A thread that runs
/// statements should be started by [`on_deep_stack`], or with at least so much.
pub const STACK_BYTES: usize = 32 << 20;

thread_local! {
    static DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Operators and brackets of a statement that need no more than an ordinary thread has.
const SHALLOW: usize = 60;

/// Whether a statement may need more stack than an ordinary thread has: it counts everything that
/// can open a level, and is never too low.
#[must_use]
pub fn is_deep(sql: &str) -> bool {
    let symbols = sql.bytes().filter(|byte| b"+-*/%|(=<>:~!^&#@".contains(byte));
    let mut levels = symbols.count();
    for word in sql.split(|c: char| !c.is_ascii_alphabetic()) {
        let opens = [
            "AND",
            "OR",
            "NOT",
            "CASE",
            "BETWEEN",
            "LIKE",
            "IS",
            "IN",
            "UNION",
            "INTERSECT",
            "EXCEPT",
            "JOIN",
            "COLLATE",
            "AT",
        ];
        levels += usize::from(opens.iter().any(|open| open.eq_ignore_ascii_case(word)));
    }
    levels > SHALLOW
}

/// Runs `work` on a stack of [`STACK_BYTES`]: on this thread where it was started here, else on
/// a new one. None where there is no memory for a new one, or `work` panicked.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if DEEP.get() {
        return Some(work());
    }
    thread::scope(|scope| {
        thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || {
                DEEP.set(true);
                work()
            })
            .ok()?
            .join()
            .ok()
    })
}
