//! Values between the host's types and the interface's: [`lower`] to the guest, [`lift`] from it.
//!
//! What goes to a guest is trusted and moved, not copied. What comes from one is checked before
//! anything of the host sees it.

pub(crate) mod decimal;
pub(crate) mod given;
pub(crate) mod lift;
pub(crate) mod lower;
pub(crate) mod table;
