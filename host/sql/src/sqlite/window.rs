//! Window functions, which SQLite has and GlueSQL lacks.

use sqlparser::ast::{NamedWindowDefinition, NamedWindowExpr, WindowSpec, WindowType};
use tribunal_protocol::Failure;

use super::{Names, Writer, order_nulls, quote};

/// What may stand before OVER.
const WINDOWED: [&str; 17] = [
    "ROW_NUMBER",
    "RANK",
    "DENSE_RANK",
    "PERCENT_RANK",
    "CUME_DIST",
    "NTILE",
    "LAG",
    "LEAD",
    "FIRST_VALUE",
    "LAST_VALUE",
    "NTH_VALUE",
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "TOTAL",
];

impl Writer<'_> {
    /// Writes what follows OVER.
    pub(super) fn window(&mut self, name: &str, window: &mut WindowType, names: &Names<'_>) -> Result<(), Failure> {
        if !WINDOWED.contains(&name) {
            return Err(Failure::unsupported(format!("{name} with OVER")));
        }
        match window {
            WindowType::WindowSpec(spec) => self.window_spec(spec, names),
            WindowType::NamedWindow(name) => {
                quote(name);
                Ok(())
            }
        }
    }

    /// Writes the clause WINDOW.
    pub(super) fn named_windows(
        &mut self,
        windows: &mut [NamedWindowDefinition],
        names: &Names<'_>,
    ) -> Result<(), Failure> {
        for NamedWindowDefinition(name, window) in windows {
            quote(name);
            match window {
                NamedWindowExpr::NamedWindow(_) => return Err(Failure::unsupported("WINDOW a AS b")),
                NamedWindowExpr::WindowSpec(spec) => self.window_spec(spec, names)?,
            }
        }
        Ok(())
    }

    fn window_spec(&mut self, spec: &mut WindowSpec, names: &Names<'_>) -> Result<(), Failure> {
        spec.window_name.iter_mut().for_each(quote);
        for key in &mut spec.partition_by {
            self.expr(key, names)?;
        }
        for key in &mut spec.order_by {
            self.expr(&mut key.expr, names)?;
            order_nulls(key);
        }
        Ok(())
    }
}
