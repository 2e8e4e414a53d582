//! The types of WASI that the stand-ins speak.

use wasmtime::component::{ComponentType, Lift, Lower, Resource};

/// Something to wait for; it is there already.
pub(super) enum Pollable {}
/// An input that is at its end.
pub(super) enum Input {}
/// Standard output (0) or standard error (1), by its number.
pub(super) enum Output {}
/// What no stand-in ever gives.
pub(super) enum IoError {}
/// A network that leads nowhere.
pub(super) enum Network {}
/// What no stand-in ever gives.
pub(super) enum TerminalInput {}
/// What no stand-in ever gives.
pub(super) enum TerminalOutput {}
/// What no stand-in ever gives.
pub(super) enum Descriptor {}
/// What no stand-in ever gives.
pub(super) enum TcpSocket {}
/// What no stand-in ever gives.
pub(super) enum UdpSocket {}
/// What no stand-in ever gives.
pub(super) enum Addresses {}
/// Any other resource: what no stand-in ever gives.
pub(super) enum Nothing {}

/// `wasi:io/streams.stream-error`.
#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
pub(super) enum StreamError {
    #[component(name = "last-operation-failed")]
    Failed(Resource<IoError>),
    #[component(name = "closed")]
    Closed,
}

/// `wasi:clocks/wall-clock.datetime`.
#[derive(ComponentType, Lift, Lower)]
#[component(record)]
pub(super) struct Datetime {
    pub(super) seconds: u64,
    pub(super) nanoseconds: u32,
}

/// `wasi:sockets/network.ip-address-family`.
#[derive(Clone, Copy, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "cases of the interface; a guest names them")]
pub(super) enum Family {
    #[component(name = "ipv4")]
    Four,
    #[component(name = "ipv6")]
    Six,
}

/// `wasi:sockets/network.error-code`.
#[derive(Clone, Copy, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "cases of the interface; one is given")]
pub(super) enum NetworkError {
    #[component(name = "unknown")]
    Unknown,
    #[component(name = "access-denied")]
    AccessDenied,
    #[component(name = "not-supported")]
    NotSupported,
    #[component(name = "invalid-argument")]
    InvalidArgument,
    #[component(name = "out-of-memory")]
    OutOfMemory,
    #[component(name = "timeout")]
    Timeout,
    #[component(name = "concurrency-conflict")]
    ConcurrencyConflict,
    #[component(name = "not-in-progress")]
    NotInProgress,
    #[component(name = "would-block")]
    WouldBlock,
    #[component(name = "invalid-state")]
    InvalidState,
    #[component(name = "new-socket-limit")]
    NewSocketLimit,
    #[component(name = "address-not-bindable")]
    AddressNotBindable,
    #[component(name = "address-in-use")]
    AddressInUse,
    #[component(name = "remote-unreachable")]
    RemoteUnreachable,
    #[component(name = "connection-refused")]
    ConnectionRefused,
    #[component(name = "connection-reset")]
    ConnectionReset,
    #[component(name = "connection-aborted")]
    ConnectionAborted,
    #[component(name = "datagram-too-large")]
    DatagramTooLarge,
    #[component(name = "name-unresolvable")]
    NameUnresolvable,
    #[component(name = "temporary-resolver-failure")]
    TemporaryResolverFailure,
    #[component(name = "permanent-resolver-failure")]
    PermanentResolverFailure,
}
