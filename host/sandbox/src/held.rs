//! Sessions while a guest holds them: moved in for one call, handed back whatever happens.

use std::any::Any;

use tribunal_protocol::session::Session;

/// A session of any type, which remembers its type.
pub(crate) trait Held: Session {
    /// Back to what [`restore`] can turn into the session itself.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<S: Session + 'static> Held for S {
    fn into_any(self: Box<S>) -> Box<dyn Any> {
        self
    }
}

/// The session that was held, as its own type again. None where it is of another type, which
/// only a mistake of this crate could bring about.
pub(crate) fn restore<S: Session + 'static>(held: Box<dyn Held>) -> Option<S> {
    held.into_any().downcast().ok().map(|session| *session)
}
