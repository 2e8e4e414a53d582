//! What a guest says to its author, bounded.

use tribunal_protocol::limits::Limits;

/// How a guest announces a panic; the plugin kit forwards panics so.
const PANIC: &str = "panic: ";
/// How much of a panic's text goes into a fault.
const PANIC_BYTES: usize = 1_000;

/// The log of one call. Agents never read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The lines that were kept, in order.
    pub lines: Vec<String>,
    /// How many bytes were dropped, past the limit.
    pub dropped: u64,
}

/// Collects a [`Log`] within its limit.
#[derive(Debug)]
pub(crate) struct LogBuffer {
    log: Log,
    room: u64,
    panic: Option<String>,
}

impl LogBuffer {
    pub(crate) fn new(limits: &Limits) -> LogBuffer {
        LogBuffer { log: Log::default(), room: limits.log_bytes, panic: None }
    }

    /// Adds a line. What does not fit is cut off and counted.
    pub(crate) fn write(&mut self, mut line: String) {
        if let Some(panic) = line.strip_prefix(PANIC) {
            self.panic = Some(shorten(panic, PANIC_BYTES));
        }
        // Every line takes one byte more than it has, or empty ones would cost nothing.
        let taken = line.len() as u64 + 1;
        if taken <= self.room {
            self.room -= taken;
            self.log.lines.push(line);
            return;
        }
        let keep = line.floor_char_boundary(usize::try_from(self.room).unwrap_or(usize::MAX));
        self.log.dropped += (line.len() - keep) as u64;
        self.room = 0;
        if keep > 0 {
            line.truncate(keep);
            self.log.lines.push(line);
        }
    }

    /// The last panic that the guest announced, even where the log was full.
    pub(crate) fn panic(&self) -> Option<&str> {
        self.panic.as_deref()
    }

    pub(crate) fn finish(self) -> Log {
        self.log
    }
}

/// The first `bytes` of a text and a mark where it was cut.
pub(crate) fn shorten(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(log_bytes: u64) -> LogBuffer {
        LogBuffer::new(&Limits { log_bytes, ..Limits::default() })
    }

    #[test]
    fn a_log_keeps_what_fits_and_counts_the_rest() {
        let mut log = buffer(10);
        for line in ["abc", "ééé", "x"] {
            log.write(line.to_owned());
        }
        // "abc" takes 4 of 10; of "ééé" three two-byte letters fit into the 6 that are left.
        assert_eq!(log.finish(), Log { lines: vec!["abc".into(), "ééé".into()], dropped: 1 });
    }

    #[test]
    fn empty_lines_are_not_free() {
        let mut log = buffer(3);
        (0..1_000).for_each(|_| log.write(String::new()));
        assert_eq!(log.finish().lines.len(), 3);
    }

    #[test]
    fn a_panic_is_known_even_when_the_log_is_full() {
        let mut log = buffer(0);
        log.write("panic: index out of bounds".to_owned());
        log.write("after".to_owned());
        assert_eq!(log.panic(), Some("index out of bounds"));
        assert!(log.finish().lines.is_empty());
    }
}
