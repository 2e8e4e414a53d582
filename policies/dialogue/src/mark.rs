//! The special tokens. Text can never produce them: only this crate writes them, by id.

/// How an episode is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// For a small model that is trained from scratch: every byte costs.
    Compact,
    /// ChatML with tool calls, as pretrained chat models read it.
    Chat,
}

/// One special token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Compact: an episode begins.
    Task,
    /// Compact: the policy's turn begins.
    Call,
    /// Compact: the policy's turn ends. The policy writes it.
    End,
    /// Compact: fills a batch; stands in no transcript.
    Pad,
    /// Chat: a message begins.
    Open,
    /// Chat: a message ends. The policy writes it.
    Close,
    /// Chat: a call begins. Plain text where the tokenizer has no such token. The policy writes it.
    CallOpen,
    /// Chat: a call ends; else as [`Mark::CallOpen`].
    CallClose,
    /// Chat: a result begins. Plain text where the tokenizer has no such token.
    ResultOpen,
    /// Chat: a result ends; else as [`Mark::ResultOpen`].
    ResultClose,
}

impl Mark {
    /// The marks of a codec that is trained here; their token ids are 0, 1, 2, 3.
    pub const COMPACT: [Mark; 4] = [Mark::Task, Mark::Call, Mark::End, Mark::Pad];

    /// All marks.
    pub const ALL: [Mark; 10] = [
        Mark::Task,
        Mark::Call,
        Mark::End,
        Mark::Pad,
        Mark::Open,
        Mark::Close,
        Mark::CallOpen,
        Mark::CallClose,
        Mark::ResultOpen,
        Mark::ResultClose,
    ];

    /// How it is written in a tokenizer and in the byte form of a transcript.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Mark::Task => "<|task|>",
            Mark::Call => "<|call|>",
            Mark::End => "<|end|>",
            Mark::Pad => "<|pad|>",
            Mark::Open => "<|im_start|>",
            Mark::Close => "<|im_end|>",
            Mark::CallOpen => "<tool_call>",
            Mark::CallClose => "</tool_call>",
            Mark::ResultOpen => "<tool_response>",
            Mark::ResultClose => "</tool_response>",
        }
    }

    /// Whether it is written as plain text where a tokenizer lacks it.
    #[must_use]
    pub fn has_text_form(self) -> bool {
        matches!(self, Mark::CallOpen | Mark::CallClose | Mark::ResultOpen | Mark::ResultClose)
    }
}

impl Style {
    /// The mark that ends what the policy writes.
    #[must_use]
    pub fn end(self) -> Mark {
        match self {
            Style::Compact => Mark::End,
            Style::Chat => Mark::Close,
        }
    }
}
