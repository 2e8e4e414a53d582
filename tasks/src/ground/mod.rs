//! Makes one draft: parameters are drawn, templates filled, the right way and the wrong ones
//! written down.

mod expect;
mod solve;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tribunal_protocol::failure::Failure;
use tribunal_protocol::policy::Action;
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::task::{AnswerColumn, AnswerForm, Instance, Mutant, PlannedFailure, Task, TaskKind, UserSpec};
use tribunal_protocol::value::Kind;

use crate::context;
use crate::contract::AnswerShape;
use crate::draft::{Draft, Slot};
use crate::draw;
use crate::family::{ColumnForm, FailureForm, Family};
use crate::grant;
use crate::random::Stream;
use crate::render::Renderer;
use crate::shape::Shape;
use crate::terms::{Carry, Terms};

/// How many instances an answer is judged on: the visible one and three hidden ones.
const INSTANCES: u32 = 4;

/// How many drawings of parameters share one set of data.
const DRAWS_PER_DATA: u32 = 8;

/// All that a draft is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) suite: &'a str,
    pub(crate) shape: &'a Shape,
    pub(crate) terms: &'a Terms,
    pub(crate) carry: &'a Carry,
    pub(crate) family: &'a Family,
    pub(crate) renderer: &'a Renderer,
    pub(crate) slot: &'a Slot,
    /// The suite's seed.
    pub(crate) seed: u64,
    /// Which of several drafts for the slot this is.
    pub(crate) attempt: u32,
    /// 0: the draft itself; else one of its siblings.
    pub(crate) sibling: u32,
}

/// A draft and what tells it from others of the same pair.
pub(crate) struct Made {
    pub(crate) draft: Draft,
    pub(crate) question: String,
}

impl Ground<'_> {
    fn stream(&self, purpose: &str) -> Stream {
        let Slot { split, pair, number } = self.slot;
        let (number, attempt) = (number.to_string(), self.attempt.to_string());
        let (schema, sibling) = (pair.schema.to_string(), self.sibling.to_string());
        let parts = ["draft", &schema, &pair.family, split.name(), &number, &attempt, &sibling, purpose];
        Stream::new(self.seed, &parts)
    }

    /// The data seeds: 48 bits each, so that they survive any JSON reader.
    pub(crate) fn seeds(&self) -> Vec<u64> {
        let single = matches!(self.family.kind, TaskKind::State | TaskKind::Impossible);
        let count = if single { 1 } else { INSTANCES };
        let data = Ground { attempt: self.attempt / DRAWS_PER_DATA, ..*self };
        let seed = |nth| data.stream(&format!("instance {nth}")).below(1 << 48);
        (0..count).map(seed).collect()
    }

    /// Makes the draft on the data of its seeds.
    pub(crate) fn draft(&self, data: &[&Dataset]) -> Result<Made, String> {
        let terms = serde_json::to_value(&self.carry.terms).map_err(|fault| fault.to_string())?;
        let source = draw::Source {
            renderer: self.renderer,
            terms: &terms,
            window: self.carry.window.as_ref().unwrap_or(&self.terms.window),
            data,
        };
        let mut draws = self.family.draws.clone();
        draws.extend(self.carry.draws.clone());
        let stream = |name: &str| self.stream(&format!("draw {name}"));
        let drawn = draw::all(&draws, &source, &stream)?;
        let mut context = context::build(self.renderer, &drawn, &terms, &self.family.parts)?;
        context["metric"] = self.carry.metric.clone().unwrap_or_default().into();
        let columns = self.columns(&context)?;
        context["returns"] = returns(&columns, &mut self.stream("returns")).into();
        let names: Vec<_> = columns.iter().map(|shape| shape.column.name.clone()).collect();
        context["out"] = names.into();
        self.assemble(&context, &columns, data)
    }

    fn columns(&self, context: &Json) -> Result<Vec<AnswerShape>, String> {
        let column = |form: &ColumnForm| {
            let name = self
                .stream(&format!("column {}", form.name.join(" ")))
                .pick(&form.name)
                .cloned()
                .ok_or("a column without a name")?;
            let text = |template: &str| self.renderer.text(template, context);
            let kind = text(&form.kind)?;
            Ok(AnswerShape {
                column: AnswerColumn {
                    name: text(&name)?,
                    kind: serde_json::from_value::<Kind>(kind.as_str().into())
                        .map_err(|_| format!("column {name}: a kind expected, `{kind}` given"))?,
                },
                nullable: form.nullable,
                says: text(&form.says)?,
            })
        };
        self.family.columns.iter().map(column).collect()
    }

    fn assemble(&self, context: &Json, columns: &[AnswerShape], data: &[&Dataset]) -> Result<Made, String> {
        let mut context = context.clone();
        let query = match &self.family.query {
            Some(template) => Some(one_line(&self.renderer.text(template, &context)?)),
            None => None,
        };
        context["query"] = query.clone().unwrap_or_default().into();
        let instruction = self.instruction(&context, columns)?;
        let solved = match &self.family.solve {
            Some(template) => Some(one_line(&self.renderer.text(template, &context)?)),
            None => query.clone(),
        };
        let oracle = self.oracle(&context, solved.as_deref())?;
        let mutants = self.mutants(&context, solved.as_deref())?;
        let expectation = self.expectation(&context, columns, query.as_deref())?;
        let user = self.user(&context)?;
        let task = self.task(columns, data, instruction, oracle, mutants, user)?;
        let question = match &query {
            Some(query) => format!("{} {query}", self.carry.name),
            None => format!("{} {}", self.carry.name, task.instruction),
        };
        let draft = Draft { task, expectation, siblings: Vec::new() };
        Ok(Made { draft, question })
    }

    fn task(
        &self,
        columns: &[AnswerShape],
        data: &[&Dataset],
        instruction: String,
        oracle: Vec<Action>,
        mutants: Vec<Mutant>,
        user: Option<UserSpec>,
    ) -> Result<Task, String> {
        let kind = self.family.kind;
        let instance = |seed| Instance { seed, expectation: String::new() };
        let state = kind == TaskKind::State;
        let mut tools = vec!["tool-catalog", "tool-query", "tool-metrics"];
        let mut settings = BTreeMap::new();
        if state {
            tools.push("tool-ledger");
            let ledger = self.terms.ledger.as_ref().ok_or("state tasks expect [ledger] in the schema's terms")?;
            let json = serde_json::to_value(ledger).map_err(|fault| fault.to_string())?;
            settings.insert("tool-ledger".to_owned(), json.to_string());
        }
        let first = data.first().ok_or("no data")?;
        let failure = |form: &FailureForm| PlannedFailure {
            tool: form.tool.clone(),
            nth: form.nth,
            failure: Failure::new(form.code, form.message.clone()),
        };
        let name = format!("{}.{}", self.slot.pair.schema, self.family.name);
        Ok(Task {
            id: self.slot.id(),
            suite: self.suite.to_owned(),
            family: self.family.name.clone(),
            schema: self.slot.pair.schema.clone(),
            kind,
            split: self.slot.split,
            fingerprint: first.fingerprint(),
            instruction,
            answer: columns.iter().map(|shape| shape.column.clone()).collect(),
            answer_form: AnswerForm::Call,
            instances: self.seeds().into_iter().map(instance).collect(),
            tools: tools.into_iter().map(str::to_owned).collect(),
            grant: grant::agent(&name, self.shape, self.carry)?,
            settings,
            verifier: match kind {
                TaskKind::Answer | TaskKind::Recover => "verifier-result",
                TaskKind::State => "verifier-state",
                TaskKind::Clarify | TaskKind::Impossible => "verifier-clarify",
            }
            .to_owned(),
            verifier_grant: grant::verifier(&format!("{name} verifier"), state),
            user,
            failures: self.family.failures.iter().map(failure).collect(),
            steps: u32::try_from(oracle.len() * 2 + 12).unwrap_or(u32::MAX),
            oracle,
            mutants,
        })
    }

    fn instruction(&self, context: &Json, columns: &[AnswerShape]) -> Result<String, String> {
        let template = self
            .stream("instruction")
            .pick(&self.family.instructions)
            .cloned()
            .ok_or_else(|| format!("family {} has no instructions", self.family.name))?;
        let text = self.renderer.text(&template, context)?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match columns.iter().find(|shape| !text.contains(&shape.column.name)) {
            Some(shape) => Err(format!("the instruction does not name the column `{}`", shape.column.name)),
            None => Ok(text),
        }
    }
}

/// The sentence that names the columns.
fn returns(columns: &[AnswerShape], stream: &mut Stream) -> String {
    let described: Vec<_> = columns.iter().map(|shape| format!("{} ({})", shape.column.name, shape.says)).collect();
    let listed = match described.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => described.join(", "),
    };
    let forms = [
        format!("Return the columns {listed}."),
        format!("The result has exactly these columns: {listed}."),
        format!("Give me a table with the columns {listed}."),
        format!("Columns wanted: {listed}."),
    ];
    stream.pick(&forms).cloned().unwrap_or_default()
}

/// A query without line breaks and doubled blanks outside of its text literals.
fn one_line(sql: &str) -> String {
    let mut line = String::with_capacity(sql.len());
    let (mut quoted, mut blank) = (false, false);
    for c in sql.trim().chars() {
        if c == '\'' {
            quoted = !quoted;
        }
        let white = !quoted && c.is_whitespace();
        if white {
            blank = true;
            continue;
        }
        if blank {
            line.push(' ');
        }
        blank = false;
        line.push(c);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_keeps_literals() {
        assert_eq!(one_line(" SELECT\n  1,\n 'a  b''  c' "), "SELECT 1, 'a  b''  c'");
    }
}
