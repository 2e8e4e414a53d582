//! Foreign folders, written by hand, against the datasets that they mean.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use rust_decimal::Decimal;
use tempfile::TempDir;
use tribunal_import::{ForeignSchema, ImportError, read_questions, read_schemas};
use tribunal_protocol::schema::TableData;
use tribunal_protocol::value::parse_date;
use tribunal_protocol::{Kind, Value};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn schema(files: &[(&str, &str)]) -> ForeignSchema {
    let folder = folder(files);
    let clock = parse_date("2024-03-31").unwrap();
    read_schemas(folder.path(), clock).unwrap().remove(0)
}

fn ddl(text: &str) -> ForeignSchema {
    schema(&[("shop/shop.sql", text)])
}

fn table<'s>(schema: &'s ForeignSchema, name: &str) -> &'s TableData {
    schema.data.tables.iter().find(|table| table.schema.name == name).unwrap()
}

fn text(t: &str) -> Value {
    Value::Text(t.to_owned())
}

fn date(t: &str) -> Value {
    Value::Date(parse_date(t).unwrap())
}

#[test]
fn a_dump_in_postgresqls_dialect_becomes_its_dataset() {
    let shop = ddl(r#"
        SET search_path = public;
        CREATE TABLE public.customer (
            id serial PRIMARY KEY, -- numbered
            name character varying(40) NOT NULL,
            "Vip" boolean DEFAULT 'f'::boolean,
            joined date DEFAULT (CURRENT_DATE - INTERVAL '1 month')
        );
        CREATE TABLE public.sale (
            id bigint DEFAULT '0'::bigint NOT NULL,
            customer_id integer REFERENCES public.customer,
            amount numeric(10,2),
            weight double precision,
            sold_at timestamp without time zone DEFAULT now(),
            opens time,
            note text DEFAULT ''::text NOT NULL,
            CONSTRAINT positive CHECK (amount > 0),
            CONSTRAINT sale_key PRIMARY KEY (ID)
        );
        COMMENT ON TABLE public.sale IS 'One sale; paid or not';
        COMMENT ON COLUMN public.sale.amount IS 'In euros';
        INSERT INTO public.customer (name) VALUES ('O''Hara; Ltd.'), ('Bob');
        INSERT INTO public.customer VALUES (DEFAULT, 'Cy', TRUE, '2024-02-29'::date);
        INSERT INTO public.sale (id, customer_id, amount, weight, sold_at, opens) VALUES
            (7, 1, 12.345, 3, CURRENT_DATE - INTERVAL '1 month', '8:30'),
            (8, NULL, -0.5, .25, '2024-01-01 10:00:00+02', NULL);
    "#);
    assert_eq!(shop.problems, []);
    let customer = table(&shop, "customer");
    let kinds: Vec<_> = customer.schema.columns.iter().map(|c| (&*c.name, c.kind, c.nullable)).collect();
    let expected = [
        ("id", Kind::Integer, false),
        ("name", Kind::Text, false),
        ("Vip", Kind::Boolean, true),
        ("joined", Kind::Date, true),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(customer.schema.primary_key, ["id"]);
    // 31 March less a month is the last day of February.
    let rows = [
        vec![Value::Integer(1), text("O'Hara; Ltd."), Value::Boolean(false), date("2024-02-29")],
        vec![Value::Integer(2), text("Bob"), Value::Boolean(false), date("2024-02-29")],
        vec![Value::Integer(3), text("Cy"), Value::Boolean(true), date("2024-02-29")],
    ];
    assert_eq!(customer.rows, rows);
    let sale = table(&shop, "sale");
    assert_eq!(sale.schema.description, "One sale; paid or not");
    assert_eq!(sale.schema.columns[2].description, "In euros");
    assert_eq!(sale.schema.foreign_keys[0].references, ["id"]);
    let day = 86_400_000_000_i64;
    let at = |t: &str| i64::from(parse_date(t).unwrap()) * day;
    let rows = [
        vec![
            Value::Integer(7),
            Value::Integer(1),
            Value::Decimal(Decimal::new(1235, 2)),
            Value::Float(3.0),
            Value::Timestamp(at("2024-02-29")),
            text("08:30:00"),
            text(""),
        ],
        vec![
            Value::Integer(8),
            Value::Null,
            Value::Decimal(Decimal::new(-5, 1)),
            Value::Float(0.25),
            Value::Timestamp(at("2024-01-01") + 8 * 3_600_000_000),
            Value::Null,
            text(""),
        ],
    ];
    assert_eq!(sale.rows, rows);
}

#[test]
fn a_dump_with_copy_becomes_its_dataset() {
    let shop = ddl("CREATE TABLE public.t (id integer NOT NULL, name text, at date);\n\
         CREATE SEQUENCE public.t_id_seq START WITH 1;\n\
         ALTER TABLE public.t OWNER TO postgres;\n\
         ALTER TABLE ONLY public.t ALTER COLUMN id SET DEFAULT nextval('public.t_id_seq'::regclass);\n\
         COPY public.t (id, name, at) FROM stdin;\n\
         1\ta;b 'c'\t2024-01-02\n\
         2\t\\N\t\\N\n\
         3\ttab\\there\t2024-01-03\n\
         \\.\n\n\
         \\unrestrict x\n\
         ALTER TABLE ONLY public.t ADD CONSTRAINT t_pkey PRIMARY KEY (id);\n\
         SELECT pg_catalog.setval('public.t_id_seq', 3, true);\n");
    assert_eq!(shop.problems, []);
    let rows = [
        vec![Value::Integer(1), text("a;b 'c'"), date("2024-01-02")],
        vec![Value::Integer(2), Value::Null, Value::Null],
        vec![Value::Integer(3), text("tab\there"), date("2024-01-03")],
    ];
    assert_eq!(table(&shop, "t").rows, rows);
    assert_eq!(table(&shop, "t").schema.primary_key, ["id"]);
}

/// Each fault is named with its line and table, and that table alone is gone.
#[test]
fn what_cannot_be_read_is_named_and_its_table_is_left_out() {
    let good = "CREATE TABLE ok (id int);\nINSERT INTO ok VALUES (1);\n";
    for (bad, line, part) in [
        ("CREATE TABLE t (id int, x bytea);", 3, "type `bytea` has no form here"),
        ("CREATE TABLE t (id int, ID text);", 3, "declared twice"),
        ("CREATE TABLE t (id int);\nINSERT INTO t VALUES\n(1),\n(random());", 6, "other data each time"),
        ("CREATE TABLE t (id int);\nINSERT INTO t VALUES (1, 2);", 4, "1 values expected in a row, 2 given"),
        ("CREATE TABLE t (id int);\nINSERT INTO t (nope) VALUES (1);", 4, "no column `nope`"),
        ("CREATE TABLE t (id int);\nINSERT INTO t VALUES ('x');", 4, "`x` is not a value of type integer"),
        ("CREATE TABLE t (id int NOT NULL);\nINSERT INTO t VALUES (NULL);", 4, "NOT NULL"),
        ("CREATE TABLE t (id int);\nINSERT INTO t SELECT 1;", 4, "only INSERT .. VALUES"),
        ("CREATE TABLE t (id int);\nUPDATE t SET id = 1;", 4, "changed after they were written"),
        ("CREATE TABLE t (id int);\nDROP TABLE t;", 4, "dropped after it was created"),
        ("CREATE TABLE t (id int PRIMARY KEY);\nINSERT INTO t VALUES (1), (1);", 3, "row 2 repeats the key"),
        ("CREATE VIEW t AS SELECT 1;", 3, "a view has no form here"),
        ("CREATE TABLE t (id int, y int GENERATED ALWAYS AS (id * 2) STORED);", 3, "computed column"),
        ("CREATE TABLE t (id int);\nCREATE TABLE T (id int);", 4, "created twice"),
        ("CREATE TABLE t (d date);\nINSERT INTO t VALUES ('2023-02-29');", 4, "2023-02-29"),
    ] {
        let shop = ddl(&format!("{good}{bad}"));
        let problem = shop.problems.first().unwrap_or_else(|| panic!("no problem: {bad}"));
        assert_eq!((problem.line, &*problem.file), (line, "shop/shop.sql"), "{bad}: {problem}");
        assert!(problem.what.contains(part), "{bad}: {problem}");
        assert!(problem.table.as_ref().unwrap().eq_ignore_ascii_case("t"), "{problem}");
        assert!(shop.broken.contains_key("t"), "{bad}");
        let left: Vec<&str> = shop.data.tables.iter().map(|t| &*t.schema.name).collect();
        assert_eq!(left, ["ok"], "{bad}");
        assert_eq!(table(&shop, "ok").rows, [[Value::Integer(1)]]);
    }
}

#[test]
fn nothing_is_trusted_after_a_string_that_never_ends() {
    let shop = ddl("CREATE TABLE ok (id int);\nINSERT INTO ok VALUES (1);\nINSERT INTO ok VALUES ('2);\n");
    assert_eq!(shop.problems[0].line, 3);
    assert!(shop.data.tables.is_empty());
    let fine = ddl("CREATE TABLE ok (id int);\nINSERT INTO ok VALUES (1);\n");
    assert_eq!(fine.data.tables.len(), 1);
}

#[test]
fn what_changes_no_answer_is_noted() {
    let shop = ddl("BEGIN;\nCREATE TABLE t (id int, j jsonb);\nCREATE INDEX i ON t (id);\nGRANT ALL ON t TO x;");
    assert_eq!(shop.problems, []);
    let notes: Vec<_> = shop.notes.iter().map(ToString::to_string).collect();
    let expected = [
        "shop/shop.sql:1: BEGIN: all rows are kept",
        "shop/shop.sql:2: table t: column `j`: type jsonb is kept as its text",
        "shop/shop.sql:3: CREATE INDEX i ON t: speed only",
        "shop/shop.sql:4: GRANT ALL ON t TO x: rights come from contracts",
    ];
    assert_eq!(notes, expected);
}

#[test]
fn a_foreign_key_that_points_at_nothing_is_left_out() {
    let text = "CREATE TABLE a (id int PRIMARY KEY);\nCREATE TABLE b (a int REFERENCES a, g int REFERENCES gone (id));\n\
                INSERT INTO a VALUES (1);\n";
    let fine = ddl(&format!("{text}INSERT INTO b VALUES (1, 5), (NULL, 5);"));
    assert_eq!(table(&fine, "b").schema.foreign_keys.len(), 1);
    assert!(fine.notes[0].what.contains("`gone` has no such columns"), "{}", fine.notes[0]);
    let orphan = ddl(&format!("{text}INSERT INTO b VALUES (1, 5), (2, 5);"));
    assert!(table(&orphan, "b").schema.foreign_keys.is_empty());
    assert!(orphan.notes[0].what.contains("row 2 points at no row of `a`"), "{}", orphan.notes[0]);
    assert_eq!((orphan.problems.len(), table(&orphan, "b").rows.len()), (0, 2));
}

#[test]
fn csv_rows_and_descriptions_stand_beside_the_ddl() {
    let shop = schema(&[
        (
            "schema.sql",
            "CREATE TABLE Item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, n INT, on_sale BOOLEAN);",
        ),
        ("item.csv", "NAME,id,price,n,on_sale\r\n\"a, \"\"b\"\"\",1,2.5,3.0,True\r\n,2,,,0\r\n\"\",3,\\N,1,f\r\n"),
        (
            "schema.json",
            r#"{"table_metadata": {"item": [{"column_name": "price", "column_description": "Net"}]}, "glossary": "net: without tax"}"#,
        ),
    ]);
    assert_eq!(shop.problems, []);
    let item = table(&shop, "Item");
    let rows = [
        vec![Value::Integer(1), text("a, \"b\""), Value::Float(2.5), Value::Integer(3), Value::Boolean(true)],
        vec![Value::Integer(2), text(""), Value::Null, Value::Null, Value::Boolean(false)],
        vec![Value::Integer(3), text(""), Value::Null, Value::Integer(1), Value::Boolean(false)],
    ];
    assert_eq!(item.rows, rows);
    assert_eq!(item.schema.columns[2].description, "Net");
    assert_eq!(shop.glossary, "net: without tax");
}

#[test]
fn csv_faults_are_named_by_file_and_line() {
    for (csv, line, part) in [
        ("id,x\n1,2\n", 1, "no column `x`"),
        ("id\n1\n\nb\n", 4, "`b` is not a value of type integer"),
        ("id\n1,2\n", 2, "1 values expected in a row, 2 given"),
        ("id\n\"1\n", 2, "never ends"),
        ("id,id\n1,1\n", 1, "given twice"),
    ] {
        let shop = schema(&[("s/schema.sql", "CREATE TABLE t (id int);"), ("s/t.csv", csv)]);
        let problem = &shop.problems[0];
        assert_eq!((&*problem.file, problem.line), ("s/t.csv", line), "{csv:?}: {problem}");
        assert!(problem.what.contains(part), "{csv:?}: {problem}");
        assert!(shop.data.tables.is_empty());
    }
    let stray = schema(&[("s/schema.sql", "CREATE TABLE t (id int);"), ("s/u.csv", "id\n1\n")]);
    assert!(stray.problems[0].what.contains("does not create"));
    assert_eq!(stray.data.tables.len(), 1);
}

#[test]
fn questions_are_read_and_faults_named() {
    let good = "db_name,query,question,extra\ns,\"SELECT 1;\",\"One,\ntwo?\",x\n";
    let dir = folder(&[("s/schema.sql", "CREATE TABLE t (id int);"), ("questions.csv", good)]);
    let (questions, left_out) = read_questions(dir.path(), &["s".to_owned()]).unwrap();
    assert_eq!((questions[0].number, questions[0].line, &*questions[0].question), (1, 2, "One,\ntwo?"));
    assert_eq!(left_out, ["questions.csv: extra"]);
    for (bad, line, part) in [
        ("db_name,query\ns,SELECT 1\n", 1, "no column `question`"),
        ("db_name,query,question\ns,SELECT 1\n", 2, "3 fields expected"),
        ("query,question\nSELECT 1,x\n", 2, "db_name"),
        ("", 1, "column names"),
    ] {
        let dir = folder(&[("s/schema.sql", ""), ("questions.csv", bad)]);
        match read_questions(dir.path(), &["s".to_owned()]).unwrap_err() {
            ImportError::Content { line: found, why, .. } => {
                assert_eq!(found, line, "{bad:?}: {why}");
                assert!(why.contains(part), "{bad:?}: {why}");
            }
            other => panic!("{bad:?}: {other}"),
        }
    }
    let own = folder(&[("s/schema.sql", ""), ("s/questions.csv", "query,question\nSELECT 1,x\n")]);
    let (questions, _) = read_questions(own.path(), &["s".to_owned()]).unwrap();
    assert_eq!(questions[0].schema, "s");
}

#[test]
fn an_empty_folder_says_what_is_missing() {
    let dir = folder(&[("readme.md", "x")]);
    assert!(matches!(read_schemas(dir.path(), 0), Err(ImportError::NoSchemas { .. })));
    assert!(matches!(read_questions(dir.path(), &[]), Err(ImportError::NoQuestions { .. })));
    assert!(matches!(read_schemas(Path::new("/nowhere/at/all"), 0), Err(ImportError::Read { .. })));
}
