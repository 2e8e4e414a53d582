//! Random queries.

use tribunal_protocol::Kind;
use tribunal_protocol::schema::{Dataset, TableSchema};

use super::Dice;
use super::expression::{Seen, Writer};

/// What a random query may have.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Levels of an expression.
    pub depth: usize,
    /// Sources of FROM.
    pub sources: usize,
    /// Functions that slice texts: some engines refuse them beyond ASCII.
    pub slices: bool,
    /// Derived tables, WITH, and subqueries in conditions.
    pub subqueries: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 3, sources: 3, slices: true, subqueries: true }
    }
}

/// A query in the making.
struct Maker<'d> {
    dice: Dice,
    dataset: &'d Dataset,
    limits: &'d Limits,
    aliases: usize,
}

/// FROM and the columns that it gives.
struct From {
    text: String,
    columns: Vec<Seen>,
}

/// An output column.
struct Item {
    text: String,
    kind: Kind,
    exact: bool,
}

/// The query of a seed.
pub(super) fn generate(seed: u64, dataset: &Dataset, limits: &Limits) -> String {
    let mut maker = Maker { dice: Dice::new(seed, 2), dataset, limits, aliases: 0 };
    maker.query()
}

const KINDS: &[Kind] =
    &[Kind::Integer, Kind::Float, Kind::Decimal, Kind::Text, Kind::Date, Kind::Timestamp, Kind::Boolean];

impl Maker<'_> {
    fn query(&mut self) -> String {
        let with = (self.limits.subqueries && self.dice.chance(10)).then(|| self.derived());
        let mut from = self.from();
        let mut text = String::new();
        if let Some((query, columns)) = with {
            let alias = self.alias();
            text = format!("WITH {alias} AS ({query}) ");
            from.text = format!("{alias}, {}", from.text);
            from.columns.extend(seen(&alias, &columns));
        }
        if self.dice.chance(40) { self.grouped(text, &from) } else { self.plain(text, &from) }
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("t{}", self.aliases)
    }

    fn writer(&mut self, columns: &[Seen]) -> Writer<'_> {
        let lists = if self.limits.subqueries { self.lists(columns) } else { Vec::new() };
        let slices = self.limits.slices && self.dice.chance(15);
        Writer { dice: &mut self.dice, columns: columns.to_vec(), slices, lists }
    }

    /// Subqueries of one integer column, some of them correlated.
    fn lists(&mut self, columns: &[Seen]) -> Vec<String> {
        let alias = self.alias();
        let (table, column) = *self.dice.pick(&[
            ("customers", "id"),
            ("orders", "customer_id"),
            ("items", "qty"),
            ("items", "order_id"),
            ("orders", "id"),
        ]);
        let outer: Vec<_> = columns.iter().filter(|column| column.kind == Kind::Integer).collect();
        let mut lists = vec![
            format!("SELECT {alias}.{column} FROM {table} {alias}"),
            format!("SELECT {alias}.{column} FROM {table} {alias} WHERE {alias}.{column} IS NOT NULL"),
        ];
        if !outer.is_empty() {
            let outer = &self.dice.pick(&outer).text;
            lists.push(format!("SELECT {alias}.{column} FROM {table} {alias} WHERE {alias}.{column} = {outer}"));
            lists.push(format!("SELECT {alias}.{column} FROM {table} {alias} WHERE {alias}.{column} > {outer} + 1"));
        }
        lists
    }

    fn table(&mut self) -> &TableSchema {
        let dataset = self.dataset;
        &self.dice.pick(&dataset.tables).schema
    }

    /// A derived table: a query, and the names and kinds of its columns.
    fn derived(&mut self) -> (String, Vec<(String, Kind, bool)>) {
        let schema = self.table().clone();
        let alias = self.alias();
        let columns: Vec<_> = schema.columns.iter().map(|c| (c.name.clone(), c.kind, c.name != "fee")).collect();
        let inner = seen(&alias, &columns);
        if self.dice.chance(50) {
            let condition = self.writer(&inner).condition(1);
            let depth = self.limits.depth.min(2);
            let mut outputs = Vec::new();
            let mut items = Vec::new();
            for place in 1..=self.dice.between(2, 4) {
                let kind = *self.dice.pick(KINDS);
                let text = self.writer(&inner).of(kind, depth);
                items.push(format!("{text} AS v{place}"));
                outputs.push((format!("v{place}"), kind, true));
            }
            // A column of nothing but NULL has no kind; a cast gives it one.
            let query = format!("SELECT {} FROM {} {alias} WHERE {condition}", items.join(", "), schema.name);
            return (query, outputs);
        }
        let keys: Vec<_> = inner.iter().filter(|c| c.kind != Kind::Float && c.exact).cloned().collect();
        let key = self.dice.pick(&keys).clone();
        let query = format!(
            "SELECT {} AS k, COUNT(*) AS n, MAX({alias}.{}) AS m FROM {} {alias} GROUP BY {}",
            key.text, schema.columns[0].name, schema.name, key.text
        );
        let outputs = vec![
            ("k".to_owned(), key.kind, true),
            ("n".to_owned(), Kind::Integer, true),
            ("m".to_owned(), Kind::Integer, true),
        ];
        (query, outputs)
    }

    fn source(&mut self) -> From {
        if self.limits.subqueries && self.dice.chance(15) {
            let (query, columns) = self.derived();
            let alias = self.alias();
            return From { text: format!("({query}) AS {alias}"), columns: seen(&alias, &columns) };
        }
        let schema = self.table().clone();
        let alias = self.alias();
        let columns: Vec<_> = schema.columns.iter().map(|c| (c.name.clone(), c.kind, c.name != "fee")).collect();
        From { text: format!("{} {alias}", schema.name), columns: seen(&alias, &columns) }
    }

    fn from(&mut self) -> From {
        let mut from = self.source();
        let most = i64::try_from(self.limits.sources).unwrap_or(1);
        for _ in 1..self.dice.between(1, most) {
            let next = self.source();
            let kind = *self.dice.pick(&["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN", ","]);
            // A comma binds weaker than JOIN: nothing may follow it that names what stands before.
            if kind == "," && from.text.contains("JOIN") {
                continue;
            }
            let mut columns = from.columns.clone();
            columns.extend(next.columns.clone());
            from.text = match kind {
                "CROSS JOIN" => format!("{} CROSS JOIN {}", from.text, next.text),
                "," => {
                    from.columns = columns;
                    return From { text: format!("{}, {}", from.text, next.text), ..from };
                }
                kind => {
                    let on = self.on(&from.columns, &next.columns, &columns);
                    format!("{} {kind} {} ON {on}", from.text, next.text)
                }
            };
            from.columns = columns;
        }
        from
    }

    fn on(&mut self, left: &[Seen], right: &[Seen], all: &[Seen]) -> String {
        let kind =
            *self.dice.pick(&[Kind::Integer, Kind::Integer, Kind::Integer, Kind::Decimal, Kind::Text, Kind::Date]);
        let number = |k: Kind| matches!(k, Kind::Integer | Kind::Float | Kind::Decimal);
        let fits = |column: &&Seen| column.exact && (column.kind == kind || (number(kind) && number(column.kind)));
        let lefts: Vec<_> = left.iter().filter(fits).collect();
        let rights: Vec<_> = right.iter().filter(fits).collect();
        if lefts.is_empty() || rights.is_empty() {
            return self.writer(all).condition(1);
        }
        let (a, b) = (self.dice.pick(&lefts).text.clone(), self.dice.pick(&rights).text.clone());
        let mut on = match self.dice.below(10) {
            0..=5 => format!("{a} = {b}"),
            6 => format!("{b} = {a}"),
            7 if kind == Kind::Integer => format!("{b} = {a} + 1"),
            8 => format!("{a} < {b}"),
            _ => format!("{a} = {b}"),
        };
        if self.dice.chance(35) {
            let more = self.writer(all).condition(1);
            on = if self.dice.chance(50) { format!("{on} AND {more}") } else { format!("{more} AND {on}") };
        }
        on
    }

    fn filter(&mut self, columns: &[Seen]) -> String {
        if self.dice.chance(30) {
            return String::new();
        }
        let depth = self.limits.depth;
        format!(" WHERE {}", self.writer(columns).condition(depth))
    }

    fn plain(&mut self, with: String, from: &From) -> String {
        let depth = self.limits.depth;
        let mut items = Vec::new();
        for _ in 0..self.dice.between(1, 4) {
            let kind = *self.dice.pick(KINDS);
            let text = self.writer(&from.columns).of(kind, depth);
            items.push(Item { text, kind, exact: true });
        }
        if self.dice.chance(15) {
            items.extend(self.quotient(&from.columns));
        }
        let distinct = if self.dice.chance(15) { "DISTINCT " } else { "" };
        let filter = self.filter(&from.columns);
        let list = listed(&items);
        let query = format!("{with}SELECT {distinct}{list} FROM {}{filter}", from.text);
        self.ordered(query, &items)
    }

    /// Something on which engines agree but for the last digits.
    fn quotient(&mut self, columns: &[Seen]) -> Option<Item> {
        let kind = *self.dice.pick(&[Kind::Decimal, Kind::Float]);
        let mut writer = self.writer(columns);
        let (a, b) = (writer.of(kind, 1), writer.of(Kind::Integer, 1));
        Some(Item { text: format!("{a} / {b}"), kind, exact: false })
    }

    fn grouped(&mut self, with: String, from: &From) -> String {
        let mut keys: Vec<Item> = Vec::new();
        for _ in 0..self.dice.below(3) {
            let kind = *self.dice.pick(KINDS);
            let text = self.writer(&from.columns).of(kind, 1);
            // A literal alone would be a place in the select list.
            let bare = text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit() || c == '.');
            if !bare && text != "NULL" && !text.starts_with('\'') && !keys.iter().any(|key| key.text == text) {
                keys.push(Item { text, kind, exact: true });
            }
        }
        let mut aggregates = Vec::new();
        for _ in 0..self.dice.between(1, 3) {
            aggregates.push(self.aggregate(&from.columns));
        }
        let filter = self.filter(&from.columns);
        let group = match (keys.is_empty(), self.dice.below(3)) {
            (true, _) => String::new(),
            (false, 0) => {
                let places: Vec<_> = (1..=keys.len()).map(|place| place.to_string()).collect();
                format!(" GROUP BY {}", places.join(", "))
            }
            _ => {
                let texts: Vec<_> = keys.iter().map(|key| key.text.clone()).collect();
                format!(" GROUP BY {}", texts.join(", "))
            }
        };
        let having = if self.dice.chance(25) { self.having(&from.columns) } else { String::new() };
        let items: Vec<_> = keys.into_iter().chain(aggregates).collect();
        let list = listed(&items);
        let query = format!("{with}SELECT {list} FROM {}{filter}{group}{having}", from.text);
        self.ordered(query, &items)
    }

    fn having(&mut self, columns: &[Seen]) -> String {
        let aggregate = loop {
            let aggregate = self.aggregate(columns);
            if aggregate.exact && matches!(aggregate.kind, Kind::Integer | Kind::Decimal | Kind::Float) {
                break aggregate;
            }
        };
        let op = *self.dice.pick(&[">", "<=", "<>", "="]);
        let number = self.dice.between(0, 5);
        format!(" HAVING {} {op} {number}", aggregate.text)
    }

    fn aggregate(&mut self, columns: &[Seen]) -> Item {
        let kind = *self.dice.pick(&[Kind::Integer, Kind::Float, Kind::Decimal]);
        let any = *self.dice.pick(KINDS);
        let choice = self.dice.below(12);
        let fee: Vec<_> = columns.iter().filter(|column| !column.exact).map(|column| column.text.clone()).collect();
        let mut writer = self.writer(columns);
        let item = |text: String, kind: Kind, exact: bool| Item { text, kind, exact };
        match choice {
            0 | 1 => item("COUNT(*)".to_owned(), Kind::Integer, true),
            2 => item(format!("COUNT({})", writer.of(any, 1)), Kind::Integer, true),
            3 => item(format!("COUNT(DISTINCT {})", writer.of(any, 1)), Kind::Integer, true),
            4 => item(format!("SUM({})", writer.of(kind, 2)), kind, true),
            5 => item(format!("AVG({})", writer.of(kind, 1)), Kind::Float, false),
            6 => item(format!("MIN({})", writer.of(any, 1)), any, true),
            7 => item(format!("MAX({})", writer.of(any, 1)), any, true),
            8 => {
                let condition = writer.condition(1);
                item(format!("COUNT(*) FILTER (WHERE {condition})"), Kind::Integer, true)
            }
            9 => {
                let condition = writer.condition(1);
                item(format!("SUM(CASE WHEN {condition} THEN 1 ELSE 0 END)"), Kind::Integer, true)
            }
            10 if !fee.is_empty() => item(format!("SUM({})", fee[0]), Kind::Decimal, false),
            10 => item(format!("SUM(DISTINCT {})", writer.of(kind, 1)), kind, true),
            _ => {
                let (total, condition) = (writer.of(kind, 1), writer.condition(1));
                item(format!("SUM({total}) FILTER (WHERE {condition})"), kind, true)
            }
        }
    }

    /// By all output columns, so that what a LIMIT cuts off is determined.
    fn ordered(&mut self, query: String, items: &[Item]) -> String {
        if !self.dice.chance(50) {
            return query;
        }
        let key = |maker: &mut Self, place: usize| {
            let order = *maker.dice.pick(&["", " ASC", " DESC", " DESC NULLS LAST", " NULLS FIRST"]);
            format!("{place}{order}")
        };
        let keys: Vec<_> = (1..=items.len()).map(|place| key(self, place)).collect();
        let mut query = format!("{query} ORDER BY {}", keys.join(", "));
        if items.iter().all(|item| item.exact) && self.dice.chance(40) {
            query = format!("{query} LIMIT {}", self.dice.between(0, 6));
            if self.dice.chance(30) {
                query = format!("{query} OFFSET {}", self.dice.between(0, 3));
            }
        }
        query
    }
}

fn seen(alias: &str, columns: &[(String, Kind, bool)]) -> Vec<Seen> {
    let column = |(name, kind, exact): &(String, Kind, bool)| Seen {
        text: format!("{alias}.{name}"),
        kind: *kind,
        exact: *exact,
    };
    columns.iter().map(column).collect()
}

fn listed(items: &[Item]) -> String {
    let items: Vec<_> = items.iter().enumerate().map(|(place, item)| format!("{} AS c{place}", item.text)).collect();
    items.join(", ")
}
