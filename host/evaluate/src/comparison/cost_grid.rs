//! What things cost, as a table of strings.

use super::grids::dash;
use super::{Comparison, CostLine};
use crate::grid::{Grid, strings};
use crate::text::{amount, count, decimal};

impl Comparison {
    /// Cost where both are right and compliant; then per success.
    #[must_use]
    pub fn cost_grid(&self) -> Grid {
        let mut header = vec!["cost".to_owned()];
        header.extend([&self.baseline, &self.candidate].map(|side| side.info.label.clone()));
        header.extend(strings(&["difference", "95 %", "ratio"]));
        let mut rows: Vec<Vec<String>> = self.cost.lines.iter().map(cost_row).collect();
        let per = |what: &str, baseline: Option<f64>, candidate: Option<f64>, show: fn(f64) -> String| {
            let ratio = baseline.zip(candidate).filter(|(before, _)| *before > 0.0).map(|(b, c)| c / b);
            let cell = |value: Option<f64>| value.map_or_else(dash, show);
            vec![what.to_owned(), cell(baseline), cell(candidate), dash(), dash(), ratio.map_or_else(dash, decimal)]
        };
        for found in &self.cost.per_success {
            rows.push(per(&format!("{} per success", found.item.name()), found.baseline, found.candidate, amount));
        }
        if let Some(found) = &self.cost.estimated {
            let name = |what: &str| format!("{} per {what}, estimate", found.prices.currency);
            let [ours, theirs] = found.success;
            rows.push(per(&name("success"), theirs, ours, money));
            let [ours, theirs] = found.reliable_task;
            rows.push(per(&name("task passed every time"), theirs, ours, money));
        }
        Grid {
            title: format!(
                "cost over {} that both did right and compliantly; per success over all judged episodes of decisive tasks{}",
                count(self.cost.tasks, "task"),
                self.prices_words()
            ),
            header,
            rows,
        }
    }

    /// `; prices in EUR: 0.1 a million tokens read, ..`, or nothing.
    #[must_use]
    pub fn prices_words(&self) -> String {
        let Some(found) = &self.cost.estimated else { return String::new() };
        let prices = &found.prices;
        let named = [
            (prices.million_tokens_read, "a million tokens read"),
            (prices.million_tokens_cached, "a million tokens cached"),
            (prices.million_tokens_written, "a million tokens written"),
            (prices.billion_fuel, "a billion fuel"),
            (prices.million_rows_scanned, "a million rows scanned"),
            (prices.hour, "an hour"),
        ];
        let named: Vec<_> =
            named.iter().filter(|(price, _)| *price > 0.0).map(|(price, what)| format!("{price} {what}")).collect();
        format!("; prices in {}: {}", prices.currency, named.join(", "))
    }
}

fn money(value: f64) -> String {
    format!("{value:.6}")
}

fn cost_row(line: &CostLine) -> Vec<String> {
    let signed = |value: f64| match amount(value.abs()).as_str() {
        "0.0" => "0.0".to_owned(),
        size if value < 0.0 => format!("−{size}"),
        size => format!("+{size}"),
    };
    vec![
        line.item.name().to_owned(),
        amount(line.baseline.value),
        amount(line.candidate.value),
        signed(line.difference.value),
        format!("{} to {}", signed(line.difference.low), signed(line.difference.high)),
        line.ratio.map_or_else(dash, decimal),
    ]
}
