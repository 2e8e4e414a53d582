//! How much memory SQLite may hold for one statement. SQLite's own limit is one for the whole process
//! (`hard_heap_limit`), where one greedy statement would starve the others; and rows times width is
//! none, since a sort of twenty million rows is gigabytes. So what it allocates goes through here,
//! and is counted for the thread that asks: a statement runs on one thread from its first step to
//! its last. Past the limit it gets no more, which SQLite takes for the end of memory: the statement
//! fails, and its connection lives on.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use rusqlite::ffi;

use crate::SqliteError;

thread_local! {
    /// Bytes that this thread has taken since its statement began, less what it gave back.
    static HELD: Cell<i64> = const { Cell::new(0) };
    /// How many they may be.
    static MOST: Cell<i64> = const { Cell::new(i64::MAX) };
}

/// While it lives, what this thread takes of SQLite's memory is limited.
pub(crate) struct Limited(i64);

impl Limited {
    /// Begins at nothing, with so many bytes.
    pub(crate) fn to(bytes: u64) -> Limited {
        HELD.set(0);
        Limited(MOST.replace(i64::try_from(bytes).unwrap_or(i64::MAX)))
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        MOST.set(self.0);
    }
}

/// Puts the count before SQLite's allocator, once in a process. It must come before anything else
/// that has to do with SQLite, since it cannot be put under memory that is already held.
///
/// # Errors
/// SQLite was used in this process before, by somebody else.
pub fn count_memory() -> Result<(), SqliteError> {
    static DONE: OnceLock<c_int> = OnceLock::new();
    match *DONE.get_or_init(install) {
        ffi::SQLITE_OK => Ok(()),
        code => Err(SqliteError::Query(format!(
            "cannot set up: SQLite was used in this process before its memory could be counted (code {code}); \
             call `count_memory` before anything else of it"
        ))),
    }
}

/// SQLite's own allocator.
struct Own {
    allocate: unsafe extern "C" fn(c_int) -> *mut c_void,
    resize: unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
    size: unsafe extern "C" fn(*mut c_void) -> c_int,
}

static OWN: OnceLock<Own> = OnceLock::new();

#[expect(unsafe_code, reason = "SQLite takes an allocator as functions of C, and rusqlite has no other way to it")]
fn install() -> c_int {
    let mut methods = ffi::sqlite3_mem_methods {
        xMalloc: None,
        xFree: None,
        xRealloc: None,
        xSize: None,
        xRoundup: None,
        xInit: None,
        xShutdown: None,
        pAppData: ptr::null_mut(),
    };
    // SAFETY: both calls take a pointer to these methods, which they fill and copy. SQLite refuses
    // the second once it is in use; `OnceLock` lets no two threads come here at once.
    unsafe {
        let got = ffi::sqlite3_config(ffi::SQLITE_CONFIG_GETMALLOC, ptr::from_mut(&mut methods));
        if got != ffi::SQLITE_OK {
            return got;
        }
        let (Some(allocate), Some(resize), Some(release), Some(size)) =
            (methods.xMalloc, methods.xRealloc, methods.xFree, methods.xSize)
        else {
            return ffi::SQLITE_ERROR;
        };
        OWN.get_or_init(|| Own { allocate, resize, release, size });
        methods.xMalloc = Some(counted_allocate);
        methods.xRealloc = Some(counted_resize);
        methods.xFree = Some(counted_release);
        ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, ptr::from_mut(&mut methods))
    }
}

/// Whether so many bytes more are within the limit of this thread.
fn fits(more: c_int) -> bool {
    HELD.get().saturating_add(more.into()) <= MOST.get()
}

fn count(bytes: i64) {
    HELD.set(HELD.get().saturating_add(bytes));
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn counted_allocate(size: c_int) -> *mut c_void {
    let Some(own) = OWN.get().filter(|_| fits(size)) else { return ptr::null_mut() };
    // SAFETY: SQLite's own functions, called as SQLite would; `size` takes what `allocate` gave.
    unsafe {
        let place = (own.allocate)(size);
        if !place.is_null() {
            count((own.size)(place).into());
        }
        place
    }
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn counted_resize(place: *mut c_void, size: c_int) -> *mut c_void {
    let Some(own) = OWN.get() else { return ptr::null_mut() };
    // SAFETY: as above; where `resize` fails, `place` is as it was.
    unsafe {
        let before = (own.size)(place);
        if !fits(size.saturating_sub(before)) {
            return ptr::null_mut();
        }
        let moved = (own.resize)(place, size);
        if !moved.is_null() {
            count(i64::from((own.size)(moved)) - i64::from(before));
        }
        moved
    }
}

#[expect(unsafe_code, reason = "called by SQLite")]
unsafe extern "C" fn counted_release(place: *mut c_void) {
    let Some(own) = OWN.get() else { return };
    // SAFETY: as above.
    unsafe {
        count(-i64::from((own.size)(place)));
        (own.release)(place);
    }
}
