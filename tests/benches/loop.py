"""The work of an episode as a bare Python loop over sqlite3 would do it.

Reads the tables, the query and the gold answer as JSON, plays episodes, and prints how many it
plays for each second of processor time. There is no sandbox, no contract and no budget.
"""

import hashlib
import json
import sqlite3
import statistics
import sys
import time

given = json.load(sys.stdin)
QUERY, GOLD = given["query"], [tuple(row) for row in given["gold"]]
NAMES = sorted(given["tables"])


def database(tables):
    base = sqlite3.connect(":memory:", isolation_level=None)
    for name, table in tables.items():
        columns = ", ".join(["id INTEGER PRIMARY KEY"] + table["columns"][1:])
        base.execute(f"CREATE TABLE {name} ({columns})")
        places = ", ".join("?" * len(table["columns"]))
        base.executemany(f"INSERT INTO {name} VALUES ({places})", table["rows"])
    return base


BASE = database(given["tables"])
BYTES = BASE.serialize() if hasattr(BASE, "serialize") else None


def by_backup():
    copy = sqlite3.connect(":memory:", isolation_level=None)
    BASE.backup(copy)
    return copy


def by_bytes():
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.deserialize(BYTES)
    return copy


def quicker(ways):
    """The way to copy that takes the least: it is the yardstick that has to be beaten."""

    def cost(way):
        start = time.process_time()
        for _ in range(300):
            way().close()
        return time.process_time() - start

    return min(ways, key=cost)


fork = quicker([by_backup, by_bytes] if BYTES else [by_backup])


class Trace:
    """What happened, hash-chained; or nothing, where nobody wants it."""

    def __init__(self, wanted):
        self.wanted, self.hash, self.lines = wanted, b"", []

    def add(self, event):
        # The agent reads text either way.
        text = json.dumps(event)
        if self.wanted:
            self.hash = hashlib.sha256(self.hash + text.encode()).digest()
            self.lines.append(f'{{"event":{text},"hash":"{self.hash.hex()}"}}')


def look(db, trace):
    trace.add({"tables": db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()})
    trace.add({"columns": db.execute("PRAGMA table_info(invoices)").fetchall()})
    rows = db.execute(QUERY).fetchall()
    trace.add({"rows": rows})
    return rows


def rounded(rows):
    return [(region, count, round(total, 2)) for region, count, total in rows]


def key(row):
    return (row[0] is not None, row[0] or "", row[1:])


GOLD_SORTED = sorted(rounded(GOLD), key=key)


def answer(traced):
    db, trace = fork(), Trace(traced)
    rows = look(db, trace)
    passed = sorted(rounded(rows), key=key) == GOLD_SORTED
    trace.add({"passed": passed})
    db.close()
    return passed


def refund(db, invoice, amount, reason):
    status, total = db.execute("SELECT status, total FROM invoices WHERE id = ?", (invoice,)).fetchone()
    (before,) = db.execute("SELECT COALESCE(SUM(amount), 0) FROM refunds WHERE invoice_id = ?", (invoice,)).fetchone()
    if before + amount > total:
        raise ValueError("more than was paid")
    db.execute("BEGIN")
    db.execute(
        "INSERT INTO refunds (id, invoice_id, amount, reason, refunded_on) "
        "SELECT MAX(id) + 1, ?, ?, ?, '2026-01-01' FROM refunds",
        (invoice, amount, reason),
    )
    db.execute("COMMIT")


def state_of(db):
    return [db.execute(f"SELECT * FROM {name} ORDER BY id").fetchall() for name in NAMES]


def golden():
    db = fork()
    refund(db, 17, 0.5, "duplicate charge")
    return state_of(db)


GOLDEN = golden()


def state(traced):
    db, trace = fork(), Trace(traced)
    look(db, trace)
    refund(db, 17, 0.5, "duplicate charge")
    trace.add({"refunded": 0.5})
    passed = state_of(db) == GOLDEN
    trace.add({"passed": passed})
    db.close()
    return passed


def rate(episode, traced):
    assert episode(traced)
    rates = []
    for _ in range(9):
        start, count = time.process_time(), 0
        while time.process_time() - start < 0.1:
            for _ in range(10):
                assert episode(traced)
            count += 10
        rates.append(count / (time.process_time() - start))
    return statistics.median(rates)


print(
    json.dumps(
        {
            "answer": rate(answer, False),
            "answer_traced": rate(answer, True),
            "state": rate(state, False),
            "state_traced": rate(state, True),
        }
    )
)
