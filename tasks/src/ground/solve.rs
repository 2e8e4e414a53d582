//! The right way to do a task, and the wrong ones.

use serde_json::{Value as Json, json};
use tribunal_protocol::policy::{Action, names};
use tribunal_protocol::task::Mutant;

use super::{Ground, one_line};
use crate::action;
use crate::context;
use crate::family::{ClarifyForm, MutantForm};

impl Ground<'_> {
    /// The right way: as the family says, or look around, ask, query (again after each planned
    /// failure) and submit.
    pub(super) fn oracle(&self, context: &Json, query: Option<&str>) -> Result<Vec<Action>, String> {
        if !self.family.oracle.is_empty() {
            return action::render(&self.family.oracle, self.renderer, context);
        }
        let query = query.ok_or("a family without `oracle` expects `query`")?;
        let mut looks = vec![Action::call("list_tables", json!({}))];
        for table in &self.carry.tables {
            looks.push(Action::call("describe_table", json!({ "table": table })));
        }
        if let Some(metric) = &self.carry.metric {
            looks.push(Action::call("describe_metric", json!({ "name": metric })));
        }
        let mut actions = Vec::new();
        for (place, look) in looks.iter().enumerate() {
            let first = looks.iter().position(|other| other.tool == look.tool) == Some(place);
            let repeats = if first { self.failing(&look.tool) } else { 0 };
            actions.extend(std::iter::repeat_n(look.clone(), repeats + 1));
        }
        self.answer_with(context, query, &mut actions)?;
        Ok(actions)
    }

    /// Asks where the task wants it, queries until no planned failure is left, and submits.
    fn answer_with(&self, context: &Json, query: &str, actions: &mut Vec<Action>) -> Result<(), String> {
        if let Some(clarify) = &self.family.clarify {
            actions.push(self.ask(clarify, context)?);
        }
        let calls = self.failing("query") + 1;
        actions.extend(std::iter::repeat_n(action::query(query), calls));
        actions.push(action::submit(actions.len()));
        Ok(())
    }

    /// How many calls of a tool are planned to fail; they are its first ones.
    fn failing(&self, tool: &str) -> usize {
        self.family.failures.iter().filter(|failure| failure.tool == tool).count()
    }

    fn ask(&self, clarify: &ClarifyForm, context: &Json) -> Result<Action, String> {
        let about = self.renderer.text(&clarify.about, context)?;
        let question = self.renderer.text(&clarify.question, context)?;
        Ok(Action::call(names::ASK, json!({ "about": about, "question": question })))
    }

    pub(super) fn mutants(&self, context: &Json, gold: Option<&str>) -> Result<Vec<Mutant>, String> {
        let forms = self.family.mutants.iter().chain(&self.carry.mutants);
        let shown = forms.filter(|form| form.needs.iter().all(|term| self.carry.has(term)));
        let mutant = |form: &MutantForm| {
            let actions = self.mutant(form, context, gold).map_err(|why| format!("mutant {}: {why}", form.fault))?;
            Ok(Mutant { fault: form.fault.clone(), actions })
        };
        shown.map(mutant).collect()
    }

    fn mutant(&self, form: &MutantForm, context: &Json, gold: Option<&str>) -> Result<Vec<Action>, String> {
        let context = context::replaced(self.renderer, context, &form.with)?;
        if !form.actions.is_empty() {
            return action::render(&form.actions, self.renderer, &context);
        }
        let own = self.family.solve.as_ref().or(self.family.query.as_ref());
        let template = form.query.as_ref().or(own);
        let template = template.ok_or("`actions` or a query expected")?;
        let query = one_line(&self.renderer.text(template, &context)?);
        if gold == Some(query.as_str()) {
            return Err("it is the gold query itself".to_owned());
        }
        let mut actions = Vec::new();
        self.answer_with(&context, &query, &mut actions)?;
        Ok(actions)
    }
}
