"""A tool that does what the conformance suite asks of every language."""

import random
import sys
from datetime import date, datetime
from decimal import Decimal

from tribunal import Column, Failure, Output, Table, Tool

NAME = "tool-conform"
VERSION = "1.0.0"
CONTRACT = """
[contract]
name = "tool-conform"
[[read]]
table = "*"
columns = ["*"]
[[write]]
table = "*"
verbs = ["insert", "update", "delete"]
columns = ["*"]
"""
TOOLS = [
    Tool(
        "act",
        "Does one thing.",
        {"type": "object", "required": ["do"], "properties": {"do": {"type": "string"}, "sql": {"type": "string"}}},
    )
]

calls = 0


def call(host, name, arguments):
    global calls
    calls += 1
    return ACTS[arguments["do"]](host, arguments)


def query(host, arguments):
    return Output(table=host.open("agent").query(arguments["sql"]))


def change(host, arguments):
    return Output(str(host.open("agent").change(arguments["sql"])))


def parameters(host, arguments):
    given = [None, True, 42, -0.5, Decimal("12.50"), "naïve 日本 😀", date(2025, 6, 30)]
    given.append(datetime(2025, 6, 30, 12, 34, 56, 1))
    sql = "UPDATE kinds SET flag = $2, number = $3, ratio = $4, amount = $5, word = $6, day = $7, at = $8, nothing = $1"
    session = host.open("agent")
    session.change(sql + " WHERE id = 1", given)
    return Output(table=session.query("SELECT * FROM kinds WHERE id = 1"))


def made(host, arguments):
    columns = [
        Column("flag", "boolean", [True, None]),
        Column("number", "integer", [-7, None]),
        Column("ratio", "float", [0.25, None]),
        Column("amount", "decimal", [Decimal("1E+2"), None]),
        Column("word", "text", ["é\n\"", None]),
        Column("day", "date", [date(1969, 12, 31), None]),
        Column("at", "timestamp", [datetime(1969, 12, 31, 23, 59, 59, 999999), None]),
        Column("nothing", "unknown", [None, None]),
    ]
    return Output("made", Table(columns))


def role(host, arguments):
    host.open("last")


def refuse(host, arguments):
    raise Failure("invalid", "not like this: ünmöglich")


def state(host, arguments):
    return Output(str(calls))


def chance(host, arguments):
    dice = random.Random()
    return Output(f"{datetime.now():%Y-%m-%d} {dice.random()} {dice.getrandbits(64)}")


def shout(host, arguments):
    for line in range(5_000):
        print(f"line {line} is written to standard output")
    print("and this to standard error", file=sys.stderr)
    return Output("done")


def broken(host, arguments):
    return {}["no such key"]


def spin(host, arguments):
    while True:
        pass


def grow(host, arguments):
    held = []
    while True:
        held.append(bytearray(1 << 20))


def files(host, arguments):
    try:
        open("/etc/passwd")
    except OSError as error:
        return Output(f"refused: {type(error).__name__}")


ACTS = {
    act.__name__: act
    for act in (query, change, parameters, made, role, refuse, state, chance, shout, broken, spin, grow, files)
}
