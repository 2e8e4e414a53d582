//! A loaded plugin, and the three ways to call one.

use std::fmt;
use std::sync::Arc;

use tribunal_component::Shape;
use tribunal_protocol::digest::{Digest, Hasher};
use tribunal_protocol::evidence::Evidence;
use tribunal_protocol::failure::Failure;
use tribunal_protocol::fault::Fault;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::{Description, PluginKind};
use tribunal_protocol::session::Session;
use tribunal_protocol::verdict::Score;
use wasmtime::component::{ComponentExportIndex, InstancePre};

use crate::bindings::{evidence::Verdict, output, types};
use crate::call::{Core, Ended, Ran, call};
use crate::convert::{given::GivenEvidence, lift, table};
use crate::held::{Held, restore};
use crate::host::{Between, Changes, State};
use crate::log::shorten;
use crate::output::ToolOutput;
use crate::wasi::Inert;

/// Bytes of the reason of a verifier that cannot judge.
const UNGRADABLE_BYTES: usize = 1_024;

/// Where a plugin's compiled code came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Out of the cache.
    Cache,
    /// Compiled now, and kept if there is a cache.
    Compiled,
    /// Compiled now, and not kept for this reason. It will be compiled again next time.
    Unsaved(String),
}

/// A plugin that was checked, compiled and described. Every call runs a fresh instance of it, so
/// nothing that a guest remembers reaches the next call.
pub struct Plugin {
    pub(crate) core: Arc<Core>,
    pub(crate) shape: Shape,
    pub(crate) kind: PluginKind,
    pub(crate) digest: Digest,
    pub(crate) description: Description,
    pub(crate) origin: Origin,
    pub(crate) pre: Prepared,
}

/// A component that is ready to be instantiated.
pub(crate) struct Prepared {
    pub(crate) pre: InstancePre<State>,
    pub(crate) entry: ComponentExportIndex,
    /// Whether stand-ins of WASI are among what it reaches.
    pub(crate) inert: bool,
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plugin({} {} {})", self.kind, self.description.name, self.digest.short())
    }
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolInput<'a> {
    /// Which of the plugin's tools.
    pub tool: &'a str,
    /// A JSON object that fits the tool's schema; the caller has checked it.
    pub arguments: &'a str,
    /// The settings that the suite pins for this plugin: a JSON object.
    pub settings: &'a str,
}

/// A verifier's work.
#[derive(Clone, Copy, Debug)]
pub struct VerifyInput<'a> {
    /// What is to be judged.
    pub evidence: &'a Evidence,
    /// The settings that the suite pins for this plugin: a JSON object.
    pub settings: &'a str,
}

/// A question to the simulated user.
#[derive(Clone, Copy, Debug)]
pub struct ReplyInput<'a> {
    /// What this user knows: a JSON object pinned by the task.
    pub secret: &'a str,
    /// The thing that the question is about.
    pub about: &'a str,
    /// The question itself.
    pub question: &'a str,
    /// The settings that the suite pins for this plugin: a JSON object.
    pub settings: &'a str,
}

impl Plugin {
    /// Which world it implements.
    #[must_use]
    pub fn kind(&self) -> PluginKind {
        self.kind
    }

    /// The digest of the component's bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// What it says of itself, checked.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Its name, as it says itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// What stands in the component.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Where its compiled code came from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Calls one of its tools. The guest opens `session` by the role `agent`.
    ///
    /// The inner result is the guest's own: what the agent gets to read. The outer one is a fault,
    /// which voids the episode. `sessions` is the session that came in.
    pub fn call<S: Session + 'static>(
        &self,
        input: &ToolInput<'_>,
        session: S,
        limits: &Limits,
    ) -> Ran<Result<ToolOutput, Failure>, S> {
        let limits = self.core.effective(limits);
        let mut state = self.state(input.settings, &limits);
        state.inert = self.inert(session.date(), || [input.tool, input.arguments, input.settings].map(str::to_owned));
        state.sessions[0] = Some(Box::new(session));
        let parameters = (input.tool, input.arguments);
        let ended: Ended<Result<output::Output, types::Failure>> =
            self.enter(PluginKind::Tool, parameters, state, &limits);
        ended.and_then(|result| self.tool_output(result, &limits)).finish(|state| take(&mut state.sessions[0]))
    }

    /// Lets it judge. The guest opens the two sessions by the roles `first` and `last`; `changes`
    /// runs when the guest asks for the first time what differs between them. `sessions` are the
    /// two that came in.
    ///
    /// A verifier that says that it cannot judge is [`Fault::Ungradable`].
    pub fn verify<A: Session + 'static, B: Session + 'static>(
        &self,
        input: &VerifyInput<'_>,
        first: A,
        last: B,
        changes: Between,
        limits: &Limits,
    ) -> Ran<Score, (A, B)> {
        let limits = self.core.effective(limits);
        let mut state = self.state(input.settings, &limits);
        state.inert = self.inert(last.date(), || {
            let evidence = serde_json::to_string(input.evidence).unwrap_or_default();
            [evidence, input.settings.to_owned(), String::new()]
        });
        state.sessions[1] = Some(Box::new(first));
        state.sessions[2] = Some(Box::new(last));
        state.changes = Changes::Due(changes);
        let ended: Ended<Verdict> = match GivenEvidence::of(input.evidence) {
            Ok(evidence) => self.enter(PluginKind::Verifier, (evidence,), state, &limits),
            Err(message) => refused(Fault::Host { message }, state),
        };
        let ended = ended.and_then(|verdict| self.score(verdict));
        ended.finish(|state| (take(&mut state.sessions[1]), take(&mut state.sessions[2])))
    }

    /// Asks the simulated user. The inner result is the guest's own.
    pub fn reply(&self, input: &ReplyInput<'_>, limits: &Limits) -> Ran<Result<String, Failure>> {
        let limits = self.core.effective(limits);
        let mut state = self.state(input.settings, &limits);
        state.inert = self.inert(None, || [input.secret, input.about, input.question].map(str::to_owned));
        let parameters = (input.secret, input.about, input.question);
        let ended: Ended<Result<String, types::Failure>> = self.enter(PluginKind::User, parameters, state, &limits);
        let ended = ended.and_then(|result| match result {
            Ok(text) => self.sized(text, &limits).map(Ok),
            Err(failure) => Ok(Err(lift::failure(failure))),
        });
        ended.finish(|_| ())
    }

    fn state(&self, settings: &str, limits: &Limits) -> State {
        State::new(limits, settings, self.core.clock.deadline(limits.wall_ms))
    }

    /// The stand-ins of a call that is given these texts.
    fn inert(&self, date: Option<i32>, given: impl FnOnce() -> [String; 3]) -> Option<Inert> {
        self.pre.inert.then(|| {
            let mut hasher = Hasher::new("tribunal call");
            given().iter().for_each(|text| hasher.bytes(text.as_bytes()));
            Inert::new(&hasher.finish(), date)
        })
    }

    fn enter<P, R>(&self, kind: PluginKind, parameters: P, state: State, limits: &Limits) -> Ended<R>
    where
        P: wasmtime::component::ComponentNamedList + wasmtime::component::Lower,
        R: wasmtime::component::Lift + 'static,
        (R,): wasmtime::component::ComponentNamedList + wasmtime::component::Lift,
    {
        if kind != self.kind {
            let message = format!("{} is a {} and was called as a {kind}", self.name(), self.kind);
            return refused(Fault::Host { message }, state);
        }
        call(self.name(), &self.pre.pre, &self.pre.entry, parameters, state, limits)
    }

    fn tool_output(
        &self,
        result: Result<output::Output, types::Failure>,
        limits: &Limits,
    ) -> Result<Result<ToolOutput, Failure>, Fault> {
        let given = match result {
            Ok(given) => given,
            Err(failure) => return Ok(Err(lift::failure(failure))),
        };
        let table = given.table.map(table::table).transpose().map_err(|why| self.malformed(why))?;
        let output = ToolOutput { text: given.text, table };
        // An agent that asks a tool for too much has not broken it.
        let most = limits.output_bytes;
        Ok(if output.fits(most) {
            Ok(output)
        } else {
            Err(Failure::quota(format!("the output is larger than {most} bytes as JSON; ask for less")))
        })
    }

    /// A user's reply; its size is not the agent's to choose.
    fn sized(&self, text: String, limits: &Limits) -> Result<String, Fault> {
        let output = ToolOutput { text, table: None };
        if output.fits(limits.output_bytes) {
            return Ok(output.text);
        }
        Err(Fault::Limit {
            plugin: self.name().to_owned(),
            what: "output bytes".to_owned(),
            limit: limits.output_bytes,
        })
    }

    fn score(&self, verdict: Verdict) -> Result<Score, Fault> {
        match verdict {
            Verdict::Scored(scored) => lift::score(scored).map_err(|why| self.malformed(why)),
            Verdict::Ungradable(message) => {
                Err(Fault::Ungradable { plugin: self.name().to_owned(), message: shorten(&message, UNGRADABLE_BYTES) })
            }
        }
    }

    fn malformed(&self, message: String) -> Fault {
        Fault::Malformed { plugin: self.name().to_owned(), message }
    }
}

/// A call that did not take place.
fn refused<T>(fault: Fault, state: State) -> Ended<T> {
    Ended { result: Err(fault), state, usage: Default::default() }
}

#[expect(
    clippy::expect_used,
    reason = "the same function put a session of this type there, and guests cannot reach it"
)]
fn take<S: Session + 'static>(session: &mut Option<Box<dyn Held>>) -> S {
    session.take().and_then(restore).expect("the session that the call was given")
}
