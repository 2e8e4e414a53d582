//! Random expressions of a wanted kind.

use tribunal_protocol::Kind;

use super::{ASCII, BEYOND, Dice};

/// A column in sight.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// How a query calls it.
    pub(super) text: String,
    /// Its kind.
    pub(super) kind: Kind,
    /// Whether engines with decimals and engines with doubles compute it alike.
    pub(super) exact: bool,
}

/// Writes expressions over the columns in sight.
pub(super) struct Writer<'d> {
    pub(super) dice: &'d mut Dice,
    pub(super) columns: Vec<Seen>,
    /// Text functions that count bytes in some engines.
    pub(super) slices: bool,
    /// Subqueries to put into conditions, each of one integer column, as they may be written.
    pub(super) lists: Vec<String>,
    /// Subqueries of one integer and one row.
    pub(super) scalars: Vec<String>,
}

impl Writer<'_> {
    /// A column of a kind; none where there is none.
    fn column(&mut self, kind: Kind) -> Option<String> {
        let found: Vec<_> = self.columns.iter().filter(|column| column.kind == kind && column.exact).collect();
        (!found.is_empty()).then(|| self.dice.pick(&found).text.clone())
    }

    /// An expression of a kind, such that both families of engines agree on it exactly.
    pub(super) fn of(&mut self, kind: Kind, depth: usize) -> String {
        if depth == 0 || self.dice.chance(25) {
            return self.leaf(kind);
        }
        match kind {
            Kind::Integer => self.integer(depth),
            Kind::Float | Kind::Decimal => self.number(kind, depth),
            Kind::Text | Kind::Unknown => self.text(depth),
            Kind::Date => self.date(depth),
            Kind::Timestamp => self.timestamp(depth),
            Kind::Boolean => self.condition(depth),
        }
    }

    /// A number of any kind.
    fn any_number(&mut self, depth: usize) -> String {
        let kind = *self.dice.pick(&[Kind::Integer, Kind::Integer, Kind::Float, Kind::Decimal]);
        self.of(kind, depth)
    }

    fn leaf(&mut self, kind: Kind) -> String {
        if self.dice.chance(4) {
            // Arithmetic on days needs to know what a NULL is of.
            return match kind {
                Kind::Date => "CAST(NULL AS DATE)".to_owned(),
                Kind::Timestamp => "CAST(NULL AS TIMESTAMP)".to_owned(),
                _ => "NULL".to_owned(),
            };
        }
        let column = if self.dice.chance(75) { self.column(kind) } else { None };
        column.unwrap_or_else(|| self.literal(kind))
    }

    pub(super) fn literal(&mut self, kind: Kind) -> String {
        match kind {
            Kind::Boolean => (*self.dice.pick(&["TRUE", "FALSE"])).to_owned(),
            Kind::Integer => self.dice.between(-2, 5).to_string(),
            Kind::Float => format!("CAST({} AS FLOAT)", self.quarters()),
            Kind::Decimal => self.quarters(),
            Kind::Text | Kind::Unknown => self.quoted(),
            Kind::Date => {
                let (month, day) = (self.dice.between(1, 3), self.dice.between(1, 29));
                format!("DATE '2024-{month:02}-{day:02}'")
            }
            Kind::Timestamp => {
                let (month, day) = (self.dice.between(1, 3), self.dice.between(1, 29));
                let hour = if self.dice.chance(50) { 0 } else { self.dice.between(0, 23) };
                format!("TIMESTAMP '2024-{month:02}-{day:02} {hour:02}:00:00'")
            }
        }
    }

    fn quarters(&mut self) -> String {
        let number = self.dice.between(-8, 20);
        let sign = if number < 0 { "-" } else { "" };
        let (whole, part) = (number.abs() / 4, number.abs() % 4 * 25);
        format!("{sign}{whole}.{part:02}")
    }

    fn quoted(&mut self) -> String {
        let list = if self.dice.chance(75) { ASCII } else { BEYOND };
        format!("'{}'", self.dice.pick(list).replace('\'', "''"))
    }

    fn integer(&mut self, depth: usize) -> String {
        let next = depth - 1;
        match self.dice.below(22) {
            0 | 1 => {
                let (a, b) = (self.of(Kind::Integer, next), self.of(Kind::Integer, next));
                let op = self.dice.pick(&["+", "-", "*"]);
                format!("({a} {op} {b})")
            }
            2 => {
                let (a, b) = (self.of(Kind::Integer, next), self.of(Kind::Integer, next));
                let op = self.dice.pick(&["/", "%"]);
                format!("({a} {op} {b})")
            }
            3 => format!("ABS({})", self.of(Kind::Integer, next)),
            4 => format!("LENGTH({})", self.of(Kind::Text, next)),
            5 => {
                let field = *self.dice.pick(&["YEAR", "MONTH", "DAY", "DOW", "QUARTER", "DOY"]);
                let kind = self.moment_kind();
                format!("EXTRACT({field} FROM {})", self.of(kind, next))
            }
            6 => {
                let (a, b) = (self.of(Kind::Date, next), self.of(Kind::Date, next));
                format!("({a} - {b})")
            }
            7 => format!("CAST({} AS INTEGER)", self.of(Kind::Boolean, next)),
            8 => {
                let kind = *self.dice.pick(&[Kind::Decimal, Kind::Float]);
                let name = *self.dice.pick(&["ROUND", "FLOOR", "CEIL", "TRUNC"]);
                format!("CAST({name}({}) AS INTEGER)", self.of(kind, next))
            }
            9 => format!("-{}", self.leaf(Kind::Integer).replace('-', "")),
            10 => format!("SIGN({})", self.any_number(next)),
            11 if !self.scalars.is_empty() => format!("({})", self.dice.pick(&self.scalars).clone()),
            12 => {
                let name = *self.dice.pick(&["STRPOS", "STRPOS", "POSITION"]);
                let (text, part) = (self.of(Kind::Text, next), self.of(Kind::Text, 0));
                if name == "STRPOS" { format!("STRPOS({text}, {part})") } else { format!("POSITION({part} IN {text})") }
            }
            13 => self.extreme(Kind::Integer, next),
            14 => format!("MOD({}, {})", self.of(Kind::Integer, next), self.of(Kind::Integer, 0)),
            15 => {
                let field = *self.dice.pick(&["isodow", "week", "isoyear", "hour", "minute", "quarter"]);
                format!("DATE_PART('{field}', {})", self.of(Kind::Timestamp, next))
            }
            16 => {
                let (a, b) = (self.of(Kind::Timestamp, next), self.of(Kind::Timestamp, 0));
                let field = *self.dice.pick(&["DAY", "HOUR", "MINUTE"]);
                format!("EXTRACT({field} FROM ({a} - {b}))")
            }
            17 => {
                let kind = self.moment_kind();
                format!("UNIXEPOCH({})", self.of(kind, next))
            }
            18 => format!("CAST({} AS INTEGER)", *self.dice.pick(&["'12'", "' -3'", "'0'"])),
            _ => self.choice(Kind::Integer, next),
        }
    }

    fn number(&mut self, kind: Kind, depth: usize) -> String {
        let next = depth - 1;
        match self.dice.below(12) {
            // One operand at least is of the kind, so that the result is.
            0..=2 => {
                let (a, b) = (self.of(kind, next), self.mixed(kind, next));
                let op = self.dice.pick(&["+", "-", "*"]);
                if self.dice.chance(50) { format!("({a} {op} {b})") } else { format!("({b} {op} {a})") }
            }
            3 => format!("ABS({})", self.of(kind, next)),
            4 => {
                let (name, digits) = (*self.dice.pick(&["ROUND", "ROUND", "TRUNC"]), *self.dice.pick(&[-1, 0, 2]));
                format!("{name}({}, {digits})", self.rounded(kind, digits, next))
            }
            5 => {
                let name = if kind == Kind::Float { "FLOAT" } else { "DECIMAL" };
                format!("CAST({} AS {name})", self.any_number(next))
            }
            6 if kind == Kind::Decimal => {
                let kind = self.moment_kind();
                format!("EXTRACT(SECOND FROM {})", self.of(kind, next))
            }
            7 => self.extreme(kind, next),
            9 if kind == Kind::Decimal => {
                let (of, digits) = (*self.dice.pick(&[Kind::Float, Kind::Decimal]), *self.dice.pick(&[0, 2]));
                format!("CAST({} AS NUMERIC(12, {digits}))", self.rounded(of, digits, next))
            }
            8 => format!("{}({})", *self.dice.pick(&["FLOOR", "CEIL"]), self.of(kind, next)),
            _ => self.choice(kind, next),
        }
    }

    /// What is rounded to so many places. A tenth, or a hundredth that is no quarter, is no double,
    /// and of sums of such numbers two that are equal as decimals differ as doubles, and sort so.
    fn rounded(&mut self, kind: Kind, digits: i64, depth: usize) -> String {
        if digits > 0 { self.leaf(kind) } else { self.of(kind, depth) }
    }

    /// GREATEST or LEAST.
    fn extreme(&mut self, kind: Kind, depth: usize) -> String {
        let name = *self.dice.pick(&["GREATEST", "LEAST"]);
        let count = self.dice.between(2, 3);
        let parts: Vec<_> = (0..count).map(|_| self.of(kind, depth)).collect();
        format!("{name}({})", parts.join(", "))
    }

    /// A number that fits into `kind`.
    fn mixed(&mut self, kind: Kind, depth: usize) -> String {
        let kinds: &[Kind] = if kind == Kind::Float {
            &[Kind::Integer, Kind::Float, Kind::Decimal]
        } else {
            &[Kind::Integer, Kind::Decimal]
        };
        let kind = *self.dice.pick(kinds);
        self.of(kind, depth)
    }

    fn text(&mut self, depth: usize) -> String {
        let next = depth - 1;
        let x = self.of(Kind::Text, next);
        match self.dice.below(if self.slices { 17 } else { 13 }) {
            0 => format!("UPPER({x})"),
            1 => format!("LOWER({x})"),
            2 => format!("TRIM({x})"),
            3 => format!("({x} || {})", self.of(Kind::Text, next)),
            4 => format!("REPLACE({x}, {}, 'z')", self.quoted()),
            5 => {
                let kind = *self.dice.pick(&[Kind::Integer, Kind::Date, Kind::Boolean, Kind::Timestamp]);
                format!("CAST({} AS TEXT)", self.of(kind, next))
            }
            6 => {
                let format = *self.dice.pick(&["%Y-%m", "%Y", "%d/%m", "%H:%M", "%w"]);
                let kind = self.moment_kind();
                format!("STRFTIME('{format}', {})", self.of(kind, next))
            }
            7 => format!("CONCAT({x}, {})", self.of(Kind::Integer, next)),
            8 => self.choice(Kind::Text, next),
            9 if !self.slices => {
                let format = *self.dice.pick(&["YYYY-MM-DD HH24:MI:SS", "DD/MM/YY", "Mon YYYY", "IYYY-IW"]);
                let kind = self.moment_kind();
                format!("TO_CHAR({}, '{format}')", self.of(kind, next))
            }
            10 if !self.slices => {
                let (separator, other) = (self.quoted(), self.of(Kind::Integer, next));
                format!("CONCAT_WS({separator}, {x}, {other})")
            }
            11 if !self.slices => format!("REVERSE({x})"),
            12 if !self.slices => format!("IIF({}, {x}, {})", self.condition(next), self.of(Kind::Text, 0)),
            9 => {
                let (start, count) = (self.dice.between(1, 4), self.dice.between(0, 4));
                format!("SUBSTR({x}, {start}, {count})")
            }
            10 => format!("LEFT({x}, {})", self.dice.between(0, 3)),
            11 => format!("RIGHT({x}, {})", self.dice.between(0, 3)),
            12 => {
                let start = self.column(Kind::Integer).unwrap_or_else(|| "2".to_owned());
                format!("SUBSTR({x}, {start}, {})", self.dice.between(0, 3))
            }
            13 => {
                let name = *self.dice.pick(&["LPAD", "RPAD"]);
                let fill = *self.dice.pick(&["' '", "'é'", "'ab'"]);
                format!("{name}({x}, {}, {fill})", self.dice.between(0, 6))
            }
            14 => {
                let side = *self.dice.pick(&["BOTH", "LEADING", "TRAILING"]);
                format!("TRIM({side} {} FROM {x})", *self.dice.pick(&["'a'", "'éZ'", "' b'"]))
            }
            15 => format!("REPLACE({x}, {}, {})", self.of(Kind::Text, 0), self.of(Kind::Text, 0)),
            _ => format!("SUBSTR({x}, {})", self.dice.between(1, 3)),
        }
    }

    fn moment_kind(&mut self) -> Kind {
        *self.dice.pick(&[Kind::Date, Kind::Timestamp])
    }

    fn date(&mut self, depth: usize) -> String {
        let next = depth - 1;
        match self.dice.below(6) {
            0 => {
                let (date, days) = (self.of(Kind::Date, next), self.dice.between(-40, 40));
                let op = self.dice.pick(&["+", "-"]);
                format!("({date} {op} {})", if days < 0 { format!("({days})") } else { days.to_string() })
            }
            1 => format!("CAST({} AS DATE)", self.of(Kind::Timestamp, next)),
            2 => {
                let field = *self.dice.pick(&["month", "year", "week", "quarter", "day"]);
                format!("DATE_TRUNC('{field}', {})", self.of(Kind::Date, next))
            }
            3 => {
                let modifier = *self.dice.pick(&["", "", ", '+3 days'", ", '-36 hours'", ", 'start of month'"]);
                format!("DATE({}{modifier})", self.of(Kind::Timestamp, next))
            }
            _ => self.choice(Kind::Date, next),
        }
    }

    fn timestamp(&mut self, depth: usize) -> String {
        let next = depth - 1;
        match self.dice.below(7) {
            0 | 1 => {
                let kind = self.moment_kind();
                let base = self.of(kind, next);
                let op = self.dice.pick(&["+", "-"]);
                let span = *self.dice.pick(&[
                    "INTERVAL '1 month'",
                    "INTERVAL '10 months'",
                    "INTERVAL '3 days'",
                    "INTERVAL '1' DAY",
                    "INTERVAL '36 hours'",
                    "INTERVAL '1 year 2 months 3 days'",
                ]);
                format!("({base} {op} {span})")
            }
            2 => format!("CAST({} AS TIMESTAMP)", self.of(Kind::Date, next)),
            6 => {
                let kind = self.moment_kind();
                let (base, count) = (self.of(kind, next), self.column(Kind::Integer));
                let span = *self.dice.pick(&["1 day", "2 hours", "1 month"]);
                // A count without bound leaves the calendar.
                let count = count.map_or_else(|| "2".to_owned(), |count| format!("({count} % 7)"));
                format!("({base} + {count} * INTERVAL '{span}')")
            }
            3 => {
                let field = *self.dice.pick(&["month", "hour", "week", "quarter", "day"]);
                format!("DATE_TRUNC('{field}', {})", self.of(Kind::Timestamp, next))
            }
            _ => self.choice(Kind::Timestamp, next),
        }
    }

    /// One of several values of a kind.
    fn choice(&mut self, kind: Kind, depth: usize) -> String {
        let (a, b) = (self.of(kind, depth), self.of(kind, depth));
        match self.dice.below(6) {
            0 | 1 => format!("CASE WHEN {} THEN {a} ELSE {b} END", self.condition(depth)),
            2 => format!("CASE WHEN {} THEN {a} END", self.condition(depth)),
            3 => format!("COALESCE({a}, {b})"),
            4 => format!("NULLIF({a}, {b})"),
            _ => {
                let operand = self.of(Kind::Integer, depth);
                let when = self.any_number(0);
                format!("CASE {operand} WHEN {when} THEN {a} WHEN 1 THEN {b} END")
            }
        }
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.comparison(0);
        }
        let next = depth - 1;
        match self.dice.below(16) {
            0..=2 => format!("({} AND {})", self.condition(next), self.condition(next)),
            3..=5 => format!("({} OR {})", self.condition(next), self.condition(next)),
            6 | 7 => format!("(NOT {})", self.condition(next)),
            8 => {
                let test = *self.dice.pick(&["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"]);
                format!("(({}) {test})", self.condition(next))
            }
            9 => self.leaf(Kind::Boolean),
            _ => self.comparison(next),
        }
    }

    fn comparison(&mut self, depth: usize) -> String {
        let kind = *self.dice.pick(&[
            Kind::Integer,
            Kind::Integer,
            Kind::Float,
            Kind::Decimal,
            Kind::Text,
            Kind::Date,
            Kind::Timestamp,
            Kind::Boolean,
        ]);
        let not = if self.dice.chance(35) { "NOT " } else { "" };
        let x = self.of(kind, depth);
        match self.dice.below(14) {
            0 => format!("({x} IS {not}NULL)"),
            1 => {
                let (low, high) = (self.alike(kind, depth), self.alike(kind, depth));
                format!("({x} {not}BETWEEN {low} AND {high})")
            }
            2 | 3 => {
                // Long lists take another path than short ones.
                let count = if self.dice.chance(4) { 40 } else { self.dice.between(1, 4) };
                let items: Vec<_> = (0..count).map(|_| self.alike(kind, 0)).collect();
                format!("({x} {not}IN ({}))", items.join(", "))
            }
            4 => format!("({x} IS {not}DISTINCT FROM {})", self.alike(kind, depth)),
            5 | 6 if kind == Kind::Text => {
                let pattern = *self.dice.pick(&[
                    "a%", "%a", "%a%", "a", "%", "", "_b_", "a%b", "%e%e%", r"a\%b", r"a\_b", "_%", "Zo_", "%\n%",
                    "line%",
                ]);
                let like = *self.dice.pick(&["LIKE", "LIKE", "ILIKE"]);
                if self.dice.chance(15) {
                    return format!("({x} {not}{like} ('%' || {} || '%'))", self.of(Kind::Text, 0));
                }
                format!("({x} {not}{like} '{pattern}')")
            }
            5 if !self.lists.is_empty() => {
                let list = self.dice.pick(&self.lists).clone();
                let x = self.of(Kind::Integer, depth);
                format!("({x} {not}IN ({list}))")
            }
            6 if !self.lists.is_empty() => {
                let list = self.dice.pick(&self.lists).clone();
                format!("({not}EXISTS ({list}))")
            }
            7 if !self.lists.is_empty() && self.dice.chance(50) => {
                let list = self.dice.pick(&self.lists).clone();
                let x = self.of(Kind::Integer, depth);
                let op = *self.dice.pick(&["=", "<>", "<", "<=", ">", ">="]);
                format!("({x} {op} {} ({list}))", *self.dice.pick(&["ANY", "ALL"]))
            }
            8 if self.dice.chance(30) => {
                let op = *self.dice.pick(&["=", "<>"]);
                let (a, b) = (self.of(Kind::Text, 0), self.of(Kind::Text, 0));
                let (c, d) = (self.of(Kind::Integer, 0), self.of(Kind::Integer, 0));
                format!("(({a}, {c}) {op} ({b}, {d}))")
            }
            _ => {
                let op = *self.dice.pick(&["=", "<>", "<", "<=", ">", ">="]);
                format!("({x} {op} {})", self.alike(kind, depth))
            }
        }
    }

    /// Something that a value of `kind` can be compared with.
    fn alike(&mut self, kind: Kind, depth: usize) -> String {
        match kind {
            Kind::Integer | Kind::Float | Kind::Decimal => self.any_number(depth),
            Kind::Date | Kind::Timestamp if self.dice.chance(30) => {
                let (month, day) = (self.dice.between(1, 3), self.dice.between(1, 29));
                format!("'2024-{month:02}-{day:02}'")
            }
            Kind::Date | Kind::Timestamp => {
                let kind = self.moment_kind();
                self.of(kind, depth)
            }
            kind => self.of(kind, depth),
        }
    }
}
