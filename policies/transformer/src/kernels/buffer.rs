//! Room for intermediate results, used again and again: fresh memory costs a page fault for every
//! 4 KiB, which is more than computing what goes there.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

thread_local! {
    static SPARE: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
}

/// A slice that goes back to its thread's spare ones when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffer(Vec<f32>);

impl Buffer {
    /// This many numbers of any value: whoever takes it writes all of it.
    pub(crate) fn any(len: usize) -> Buffer {
        let mut found = SPARE.with_borrow_mut(|spare| {
            let fits = |room: &Vec<f32>| room.capacity() >= len;
            let smallest = (0..spare.len()).filter(|i| fits(&spare[*i])).min_by_key(|i| spare[*i].capacity());
            // If none is large enough, the largest makes way: there are never more than were once in use.
            let largest = (0..spare.len()).max_by_key(|i| spare[*i].capacity());
            smallest.or(largest).map(|index| spare.swap_remove(index)).unwrap_or_default()
        });
        if found.capacity() < len {
            found = Vec::new();
        }
        found.resize(len, 0.0);
        Buffer(found)
    }

    /// This many zeros.
    pub(crate) fn zeros(len: usize) -> Buffer {
        let mut buffer = Buffer::any(len);
        buffer.fill(0.0);
        buffer
    }

    /// A copy of a slice.
    pub(crate) fn copy(values: &[f32]) -> Buffer {
        let mut buffer = Buffer::any(values.len());
        buffer.copy_from_slice(values);
        buffer
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let room = std::mem::take(&mut self.0);
        if room.capacity() > 0 {
            // Where the thread is ending there is nothing to give back to.
            let _ = SPARE.try_with(|spare| spare.borrow_mut().push(room));
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}
