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
        if self.limits.subqueries && self.dice.chance(10) {
            let (query, items) = self.combined();
            return self.ordered(query, &items);
        }
        let with = (self.limits.subqueries && self.dice.chance(10)).then(|| self.derived());
        let mut from = self.from();
        let mut text = String::new();
        if let Some((query, columns)) = with {
            let alias = self.alias();
            text = format!("WITH {alias} AS ({query}) ");
            from.text = format!("{alias}, {}", from.text);
            from.columns.extend(seen(&alias, &columns));
            // Named a second time, or by another query of WITH, under other column names.
            let second = self.alias();
            match self.dice.below(4) {
                0 => {
                    from.text = format!("{alias} AS {second}, {}", from.text);
                    from.columns.extend(seen(&second, &columns));
                }
                1 => {
                    let name = |(place, (_, kind, exact)): (usize, &(String, Kind, bool))| {
                        (format!("w{place}"), *kind, *exact)
                    };
                    let renamed: Vec<_> = columns.iter().enumerate().map(name).collect();
                    let names: Vec<_> = renamed.iter().map(|(name, ..)| name.clone()).collect();
                    text = format!(
                        "WITH {alias} AS ({query}), {second}({}) AS (SELECT * FROM {alias} LIMIT 1000) ",
                        names.join(", ")
                    );
                    from.text = format!("{second}, {}", from.text);
                    from.columns.extend(seen(&second, &renamed));
                }
                _ => {}
            }
        }
        if self.dice.chance(40) { self.grouped(text, &from) } else { self.plain(text, &from) }
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("t{}", self.aliases)
    }

    fn writer(&mut self, columns: &[Seen]) -> Writer<'_> {
        let (lists, scalars) = match self.limits.subqueries {
            true => (self.lists(columns), self.scalars(columns)),
            false => (Vec::new(), Vec::new()),
        };
        let slices = self.limits.slices && self.dice.chance(40);
        Writer { dice: &mut self.dice, columns: columns.to_vec(), slices, lists, scalars }
    }

    /// Subqueries of one integer and one row, some of them correlated.
    fn scalars(&mut self, columns: &[Seen]) -> Vec<String> {
        let alias = self.alias();
        let mut scalars = vec![
            format!("SELECT COUNT(*) FROM customers {alias} WHERE {alias}.vip"),
            format!("SELECT MAX({alias}.qty) FROM items {alias}"),
            format!("SELECT SUM({alias}.customer_id) FROM orders {alias} WHERE {alias}.paid"),
            format!("SELECT {alias}.id FROM orders {alias} ORDER BY {alias}.id DESC LIMIT 1"),
        ];
        let outer: Vec<_> = columns.iter().filter(|column| column.kind == Kind::Integer).collect();
        if !outer.is_empty() {
            let outer = &self.dice.pick(&outer).text;
            scalars.push(format!("SELECT COUNT(*) FROM items {alias} WHERE {alias}.order_id = {outer}"));
            scalars.push(format!("SELECT MIN({alias}.qty) + {outer} FROM items {alias} WHERE {alias}.line < {outer}"));
        }
        scalars
    }

    /// UNION, INTERSECT or EXCEPT of queries with columns of the same kinds.
    fn combined(&mut self) -> (String, Vec<Item>) {
        let kinds: Vec<Kind> = (0..self.dice.between(1, 3)).map(|_| *self.dice.pick(KINDS)).collect();
        let mut text = self.branch(&kinds);
        for _ in 0..self.dice.between(1, 2) {
            let op = *self.dice.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
            text = format!("{text} {op} {}", self.branch(&kinds));
        }
        let items = kinds.into_iter().enumerate();
        (text, items.map(|(place, kind)| Item { text: format!("c{place}"), kind, exact: true }).collect())
    }

    fn branch(&mut self, kinds: &[Kind]) -> String {
        let from = self.from();
        let mut items = Vec::new();
        for kind in kinds {
            // Numbers of several kinds meet in one column.
            let kind = match kind {
                Kind::Decimal if self.dice.chance(30) => Kind::Integer,
                kind => *kind,
            };
            let depth = self.dice.below(2);
            items.push(Item { text: self.writer(&from.columns).of(kind, depth), kind, exact: true });
        }
        let filter = self.filter(&from.columns);
        format!("SELECT {} FROM {}{filter}", listed(&items).replace(" AS c", " AS u"), from.text)
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
        let other = self.alias();
        let mut lists = vec![
            format!("SELECT {alias}.{column} FROM {table} {alias} UNION SELECT {other}.qty FROM items {other}"),
            format!("SELECT DISTINCT {alias}.{column} FROM {table} {alias} WHERE {alias}.{column} > 2"),
            format!("SELECT {alias}.{column} FROM {table} {alias}"),
            format!("SELECT {alias}.{column} FROM {table} {alias} WHERE {alias}.{column} IS NOT NULL"),
        ];
        if !outer.is_empty() {
            let outer = &self.dice.pick(&outer).text;
            lists.push(format!("SELECT {alias}.{column} FROM {table} {alias} WHERE {alias}.{column} = {outer}"));
            lists.push(format!("SELECT {alias}.{column} FROM {table} {alias} WHERE {alias}.{column} > {outer} + 1"));
            lists.push(format!(
                "SELECT COUNT(*) FROM {table} {alias} WHERE {alias}.{column} <> {outer} GROUP BY {alias}.{column}"
            ));
        }
        lists
    }

    fn table(&mut self) -> &TableSchema {
        let dataset = self.dataset;
        &self.dice.pick(&dataset.tables).schema
    }

    /// A derived table: a query, and the names and kinds of its columns.
    fn derived(&mut self) -> (String, Vec<(String, Kind, bool)>) {
        if self.dice.chance(15) {
            let (query, items) = self.combined();
            let named = |(place, item): (usize, Item)| (format!("u{place}"), item.kind, true);
            return (query, items.into_iter().enumerate().map(named).collect());
        }
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
        if self.dice.chance(6) {
            // A join in parentheses, on the right of another.
            let (left, right) = (self.source(), self.source());
            let inner: Vec<_> = left.columns.iter().chain(&right.columns).cloned().collect();
            let on = self.on(&left.columns, &right.columns, &inner);
            let all: Vec<_> = from.columns.iter().chain(&inner).cloned().collect();
            let outer = self.on(&from.columns, &inner, &all);
            let kinds = (*self.dice.pick(&["JOIN", "LEFT JOIN"]), *self.dice.pick(&["JOIN", "LEFT JOIN"]));
            let text =
                format!("{} {} ({} {} {} ON {on}) ON {outer}", from.text, kinds.0, left.text, kinds.1, right.text);
            return From { text, columns: all };
        }
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
            if let Some(merged) = self.merged(&from, &next, kind) {
                return merged;
            }
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

    /// A join by USING or NATURAL, where both sides are tables that share their key: then FROM ends,
    /// for a name without its table must mean one thing.
    fn merged(&mut self, left: &From, right: &From, kind: &str) -> Option<From> {
        let table = |from: &From, name: &str| from.text.starts_with(name) && !from.text.contains(&['(', ',', '='][..]);
        let keyed = |from: &From| (table(from, "customers") || table(from, "orders")) && !from.text.contains("JOIN");
        if !(keyed(left) && keyed(right)) || matches!(kind, "," | "CROSS JOIN") || !self.dice.chance(60) {
            return None;
        }
        let natural = self.dice.chance(40) && !(table(left, "orders") && table(right, "orders"));
        let text = match natural {
            true => format!("{} NATURAL {kind} {}", left.text, right.text),
            false => format!("{} {kind} {} USING (id)", left.text, right.text),
        };
        let shared = Seen { text: "id".to_owned(), kind: Kind::Integer, exact: true };
        let columns = left.columns.iter().chain(&right.columns).cloned().chain([shared.clone(), shared]);
        Some(From { text, columns: columns.collect() })
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
        if self.dice.chance(45) {
            return String::new();
        }
        let most = i64::try_from(self.limits.depth).unwrap_or(1);
        let depth = usize::try_from(self.dice.between(0, most)).unwrap_or(1);
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
        if self.dice.chance(4) && !from.text.contains("USING") && !from.text.contains("NATURAL") {
            return format!("{with}SELECT * FROM {}{filter}", from.text);
        }
        let list = listed(&items);
        let query = format!("{with}SELECT {distinct}{list} FROM {}{filter}", from.text);
        self.ordered(query, &items)
    }

    /// Something on which engines agree but for the last digits.
    fn quotient(&mut self, columns: &[Seen]) -> Option<Item> {
        let kind = *self.dice.pick(&[Kind::Decimal, Kind::Float]);
        let choice = self.dice.below(8);
        let mut writer = self.writer(columns);
        let (a, b) = (writer.of(kind, 1), writer.of(Kind::Integer, 1));
        let (text, kind) = match choice {
            0 => (format!("SQRT(ABS({a}))"), Kind::Float),
            1 => (format!("LN(ABS({a}) + 1)"), Kind::Float),
            2 => (format!("POWER({a}, 2)"), Kind::Float),
            3 => (format!("JULIANDAY({})", writer.of(Kind::Timestamp, 1)), Kind::Float),
            4 => (format!("EXTRACT(EPOCH FROM {})", writer.of(Kind::Timestamp, 1)), Kind::Decimal),
            _ => (format!("{a} / {b}"), kind),
        };
        Some(Item { text, kind, exact: false })
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
        let group = match (keys.is_empty(), self.dice.below(4)) {
            (true, _) => String::new(),
            (false, 0) => {
                let places: Vec<_> = (1..=keys.len()).map(|place| place.to_string()).collect();
                format!(" GROUP BY {}", places.join(", "))
            }
            (false, 1) => {
                let names: Vec<_> = (0..keys.len()).map(|place| format!("c{place}")).collect();
                format!(" GROUP BY {}", names.join(", "))
            }
            _ => {
                let texts: Vec<_> = keys.iter().map(|key| key.text.clone()).collect();
                format!(" GROUP BY {}", texts.join(", "))
            }
        };
        let having = match self.dice.below(9) {
            0 | 1 => self.having(&from.columns),
            2 => self.having_alias(&aggregates, keys.len()),
            3 if self.limits.subqueries => {
                let alias = self.alias();
                format!(" HAVING COUNT(*) * 5 >= (SELECT COUNT(*) FROM items {alias})")
            }
            _ => String::new(),
        };
        let items: Vec<_> = keys.into_iter().chain(aggregates).collect();
        let list = listed(&items);
        let query = format!("{with}SELECT {list} FROM {}{filter}{group}{having}", from.text);
        self.ordered(query, &items)
    }

    /// HAVING by the name of an output column.
    fn having_alias(&mut self, aggregates: &[Item], before: usize) -> String {
        let number = |item: &Item| item.exact && matches!(item.kind, Kind::Integer | Kind::Decimal | Kind::Float);
        match aggregates.iter().position(number) {
            Some(place) => {
                format!(" HAVING c{} {} {}", before + place, self.dice.pick(&[">", "<="]), self.dice.between(0, 3))
            }
            None => String::new(),
        }
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
        let choice = self.dice.below(15);
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
            11 => {
                let name = *writer.dice.pick(&["STDDEV", "STDDEV_POP", "VARIANCE", "VAR_POP", "STDDEV_SAMP"]);
                item(format!("{name}({})", writer.of(kind, 1)), Kind::Float, false)
            }
            12 => {
                let name = *writer.dice.pick(&["BOOL_OR", "BOOL_AND"]);
                item(format!("{name}({})", writer.condition(1)), Kind::Boolean, true)
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
            if self.dice.chance(10) {
                return format!("{query} FETCH FIRST {} ROWS ONLY", self.dice.between(1, 6));
            }
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
