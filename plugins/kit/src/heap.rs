//! The memory of a guest. An instance lives for one call, so what counts is that handing out a
//! block costs next to nothing: blocks come in classes of size, a freed one waits for the next of
//! its class, and nothing is ever merged or given back. The first half mebibyte is there from the
//! start, so most calls never ask the host for more, which costs it two changes of its own page
//! tables each time.
#![expect(unsafe_code, reason = "an allocator hands out raw memory; a fault in it ends at the sandbox")]

use std::ptr;

/// Every block is a multiple of this, and aligned to it.
const STEP: usize = 16;
/// Up to here there is a class for each multiple of [`STEP`]; above, four for each doubling, so a
/// block is at most a quarter larger than what was asked for.
const SMALL: usize = 1 << 10;
const SMALL_CLASSES: usize = SMALL / STEP;
const CLASSES: usize = SMALL_CLASSES + 4 * (usize::BITS - SMALL.ilog2()) as usize;

/// Where a heap gets its memory from.
pub(crate) trait Source {
    /// A region of at least `bytes` bytes, as its first address and its length; `None` where there
    /// is no more. Nobody else uses it, as long as the heap lives.
    fn more(&mut self, bytes: usize) -> Option<(*mut u8, usize)>;
}

/// See the module.
pub(crate) struct Heap<S> {
    free: [*mut u8; CLASSES],
    next: *mut u8,
    /// Bytes left from `next` on.
    left: usize,
    source: S,
}

impl<S: Source> Heap<S> {
    pub(crate) const fn new(source: S) -> Heap<S> {
        Heap { free: [ptr::null_mut(); CLASSES], next: ptr::null_mut(), left: 0, source }
    }

    /// A block of `size` bytes, aligned to `align`, a power of two; null where there is none.
    pub(crate) fn take(&mut self, size: usize, align: usize) -> *mut u8 {
        let Some((class, room)) = class(size) else { return ptr::null_mut() };
        if align > STEP {
            return self.carve(room, align);
        }
        match self.free.get_mut(class) {
            Some(head) if !head.is_null() => {
                let block = *head;
                // SAFETY: a free block is ours, at least STEP long, and begins with the next one.
                *head = unsafe { block.cast::<*mut u8>().read() };
                block
            }
            _ => self.carve(room, STEP),
        }
    }

    /// Takes back a block that was given for `size` and `align`. One of a wide alignment is lost:
    /// hardly any type has that.
    ///
    /// # Safety
    /// The block came from this heap, with this size and alignment, and nobody uses it.
    pub(crate) unsafe fn give_back(&mut self, block: *mut u8, size: usize, align: usize) {
        let head = class(size).and_then(|(class, _)| self.free.get_mut(class));
        if let Some(head) = head.filter(|_| align <= STEP) {
            // SAFETY: the block is at least STEP long and aligned to it.
            unsafe { block.cast::<*mut u8>().write(*head) };
            *head = block;
        }
    }

    /// Makes a block longer or shorter, in place where that is free; null where there is no room.
    ///
    /// # Safety
    /// As for [`Heap::give_back`]; afterwards only the returned block may be used, if not null.
    pub(crate) unsafe fn resize(&mut self, block: *mut u8, size: usize, align: usize, wanted: usize) -> *mut u8 {
        let (Some((_, has)), Some((_, needs))) = (class(size), class(wanted)) else { return ptr::null_mut() };
        if wanted <= has {
            return block;
        }
        let more = needs - has;
        if block.wrapping_add(has) == self.next && more <= self.left {
            self.next = self.next.wrapping_add(more);
            self.left -= more;
            return block;
        }
        let larger = self.take(wanted, align);
        if !larger.is_null() {
            // SAFETY: both are ours, apart from each other, and at least `size` long.
            unsafe {
                ptr::copy_nonoverlapping(block, larger, size);
                self.give_back(block, size, align);
            }
        }
        larger
    }

    /// Cuts a block off what is left, or off what the source gives.
    fn carve(&mut self, room: usize, align: usize) -> *mut u8 {
        let gap = |next: *mut u8| next.align_offset(align);
        if gap(self.next).checked_add(room).is_none_or(|needed| needed > self.left) {
            let Some((start, length)) = room.checked_add(align).and_then(|bytes| self.source.more(bytes)) else {
                return ptr::null_mut();
            };
            if self.next.wrapping_add(self.left) == start {
                self.left += length;
            } else {
                (self.next, self.left) = (start, length);
            }
        }
        let gap = gap(self.next);
        let block = self.next.wrapping_add(gap);
        self.next = block.wrapping_add(room);
        self.left -= gap + room;
        block
    }
}

/// The class of a size, and the room that its blocks have; `None` for more than there can be.
fn class(size: usize) -> Option<(usize, usize)> {
    let last = size.max(1) - 1;
    if size <= SMALL {
        let class = last / STEP;
        return Some((class, (class + 1) * STEP));
    }
    // Four steps to the next power of two.
    let doubling = last.ilog2();
    let step = 1 << (doubling - 2);
    let quarter = (last >> (doubling - 2)) & 3;
    let class = SMALL_CLASSES + 4 * (doubling - SMALL.ilog2()) as usize + quarter;
    Some((class, (last / step + 1).checked_mul(step)?))
}

#[cfg(target_arch = "wasm32")]
mod guest {
    use std::alloc::{GlobalAlloc, Layout};
    use std::arch::wasm32::memory_grow;
    use std::cell::UnsafeCell;

    use super::{Heap, Source};

    const PAGE: usize = 1 << 16;
    /// What is there from the start.
    const FIRST: usize = 512 << 10;
    /// What the host is asked for at least, in pages.
    const PAGES: usize = 16;

    #[repr(align(16))]
    struct First(UnsafeCell<[u8; FIRST]>);

    // SAFETY: a guest has one thread.
    unsafe impl Sync for First {}

    static ARENA: First = First(UnsafeCell::new([0; FIRST]));

    /// The arena first, then whatever the host gives.
    struct Memory {
        arena_is_used: bool,
    }

    impl Source for Memory {
        fn more(&mut self, bytes: usize) -> Option<(*mut u8, usize)> {
            if !self.arena_is_used && bytes <= FIRST {
                self.arena_is_used = true;
                return Some((ARENA.0.get().cast(), FIRST));
            }
            let pages = bytes.div_ceil(PAGE).max(PAGES);
            // Close to the limit, what is needed may still be had.
            let grow = |pages: usize| Some((memory_grow::<0>(pages), pages)).filter(|(old, _)| *old != usize::MAX);
            let (old, pages) = grow(pages).or_else(|| grow(bytes.div_ceil(PAGE)))?;
            Some(((old * PAGE) as *mut u8, pages * PAGE))
        }
    }

    struct Guest(UnsafeCell<Heap<Memory>>);

    // SAFETY: a guest has one thread.
    unsafe impl Sync for Guest {}

    #[global_allocator]
    static HEAP: Guest = Guest(UnsafeCell::new(Heap::new(Memory { arena_is_used: false })));

    // SAFETY: the heap gives what its own documentation says; it is never entered twice, as it
    // calls nobody who allocates.
    unsafe impl GlobalAlloc for Guest {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: one thread, and no call of the heap is under way.
            unsafe { &mut *self.0.get() }.take(layout.size(), layout.align())
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: as above; the caller vouches for the block.
            unsafe { (*self.0.get()).give_back(block, layout.size(), layout.align()) }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, wanted: usize) -> *mut u8 {
            // SAFETY: as above.
            unsafe { (*self.0.get()).resize(block, layout.size(), layout.align(), wanted) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regions of a vector, each with a gap before it or not.
    struct Regions {
        memory: Vec<u128>,
        used: usize,
        gaps: bool,
    }

    impl Source for Regions {
        fn more(&mut self, bytes: usize) -> Option<(*mut u8, usize)> {
            let start = self.used + if self.gaps { 3 } else { 0 };
            let cells = bytes.div_ceil(16).max(64);
            let region = self.memory.get_mut(start..start + cells)?;
            self.used = start + cells;
            Some((region.as_mut_ptr().cast(), cells * 16))
        }
    }

    fn heap(gaps: bool) -> Heap<Regions> {
        Heap::new(Regions { memory: vec![0; 1 << 16], used: 0, gaps })
    }

    struct Block {
        at: *mut u8,
        size: usize,
        align: usize,
        mark: u8,
    }

    impl Block {
        fn fill(&self, from: usize) {
            for place in from..self.size {
                unsafe { self.at.add(place).write(self.mark) };
            }
        }

        fn is_whole(&self, size: usize) -> bool {
            (0..size).all(|place| unsafe { self.at.add(place).read() } == self.mark)
        }
    }

    /// A small generator of our own: the same numbers in every run.
    fn numbers(mut seed: u64) -> impl FnMut(usize) -> usize {
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        }
    }

    #[test]
    fn no_block_ever_touches_another() {
        for seed in 0..40 {
            let mut next = numbers(seed);
            let mut heap = heap(seed % 2 == 0);
            let mut blocks: Vec<Block> = Vec::new();
            for step in 0..2_000 {
                let size = [1 + next(40), 1 + next(900), 1 + next(5_000)][next(3)];
                match next(3) {
                    0 if !blocks.is_empty() => {
                        let block = blocks.swap_remove(next(blocks.len()));
                        assert!(block.is_whole(block.size), "seed {seed}, step {step}");
                        unsafe { heap.give_back(block.at, block.size, block.align) };
                    }
                    1 if !blocks.is_empty() => {
                        let place = next(blocks.len());
                        let block = &mut blocks[place];
                        let kept = block.size.min(size);
                        let at = unsafe { heap.resize(block.at, block.size, block.align, size) };
                        if at.is_null() {
                            continue;
                        }
                        (block.at, block.size) = (at, size);
                        assert!(block.is_whole(kept), "seed {seed}, step {step}");
                        block.fill(kept);
                    }
                    _ => {
                        let align = [1, 8, 16, 64][next(4)];
                        let at = heap.take(size, align);
                        if at.is_null() {
                            continue;
                        }
                        assert_eq!(at as usize % align, 0, "seed {seed}, step {step}");
                        let block = Block { at, size, align, mark: (step % 251) as u8 };
                        block.fill(0);
                        blocks.push(block);
                    }
                }
            }
            assert!(blocks.iter().all(|block| block.is_whole(block.size)), "seed {seed}");
        }
    }

    #[test]
    fn a_freed_block_is_the_next_of_its_class() {
        let mut heap = heap(false);
        let first = heap.take(100, 8);
        let other = heap.take(100, 8);
        unsafe { heap.give_back(first, 100, 8) };
        assert_eq!(heap.take(97, 8), first, "112 bytes hold both");
        assert_ne!(heap.take(97, 8), first);
        assert_ne!(other, first);
    }

    #[test]
    fn the_last_block_grows_where_it_lies_and_others_move() {
        let mut heap = heap(false);
        let first = heap.take(16, 8);
        let last = heap.take(16, 8);
        assert_eq!(unsafe { heap.resize(last, 16, 8, 200) }, last);
        assert_ne!(unsafe { heap.resize(first, 16, 8, 200) }, first);
    }

    #[test]
    fn a_class_holds_its_size_and_wastes_at_most_a_quarter() {
        let mut before = 0;
        for size in (1..40_000).chain([1 << 20, (1 << 20) + 1, 33 << 20, 1 << 30]) {
            let (class, room) = class(size).unwrap();
            assert!(room >= size && room % STEP == 0, "{size}: {room}");
            assert!(class >= before && class < CLASSES, "{size}: {class}");
            assert!(size <= SMALL || room * 4 <= size * 5 + 4 * STEP, "{size}: {room}");
            before = class;
        }
    }

    #[test]
    fn where_there_is_no_memory_there_is_no_block() {
        let mut heap = heap(false);
        assert!(heap.take(1 << 30, 8).is_null());
        assert!(heap.take(usize::MAX, 8).is_null());
        assert!(!heap.take(10, 8).is_null(), "a smaller one is still there");
    }
}
