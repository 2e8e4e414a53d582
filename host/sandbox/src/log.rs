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

/// A line of standard output or error that is not finished yet.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    line: Vec<u8>,
    /// Bytes of it that were dropped, since no log could hold it.
    dropped: u64,
}

impl Partial {
    /// Takes bytes, and gives whole lines to the log. What is no UTF-8 is replaced.
    pub(crate) fn write(&mut self, bytes: &[u8], log: &mut LogBuffer) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end], log);
            self.end(log);
            rest = &rest[end + 1..];
        }
        self.keep(rest, log);
    }

    /// Ends the line if there is any of it.
    pub(crate) fn flush(&mut self, log: &mut LogBuffer) {
        if !self.line.is_empty() || self.dropped > 0 {
            self.end(log);
        }
    }

    /// Keeps as much of a line as a log has room for, or a fault shows.
    fn keep(&mut self, bytes: &[u8], log: &LogBuffer) {
        let most = usize::try_from(log.room).unwrap_or(usize::MAX).max(PANIC_BYTES);
        let kept = bytes.len().min(most.saturating_sub(self.line.len()));
        self.line.extend_from_slice(&bytes[..kept]);
        self.dropped += (bytes.len() - kept) as u64;
    }

    fn end(&mut self, log: &mut LogBuffer) {
        log.write(String::from_utf8_lossy(&self.line).into_owned());
        log.log.dropped += self.dropped;
        *self = Partial::default();
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
    fn a_stream_of_bytes_becomes_lines_within_the_same_limit() {
        let mut log = buffer(20);
        let mut partial = Partial::default();
        for piece in [&b"on"[..], b"e\ntw", b"o \xff\n\nlast"] {
            partial.write(piece, &mut log);
        }
        partial.flush(&mut log);
        partial.flush(&mut log);
        let lines = ["one", "two \u{fffd}", "", "last"].map(str::to_owned).to_vec();
        assert_eq!(log.finish(), Log { lines, dropped: 0 });
        // The twin: what no log holds is neither kept in the meantime nor forgotten.
        let mut log = buffer(8);
        (0..100).for_each(|_| partial.write(&[b'x'; 1_000], &mut log));
        assert!(partial.line.len() <= PANIC_BYTES);
        partial.flush(&mut log);
        assert_eq!(log.finish(), Log { lines: vec!["x".repeat(8)], dropped: 100_000 - 8 });
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
