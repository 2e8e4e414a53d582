"""The kit of Tribunal for plugins in Python.

Values are plain Python: None, bool, int, float, Decimal, str, date and datetime. What fails is
raised as a `Failure`, which an agent may read; any other exception breaks the call, and the log
says at which line.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

#: The kinds of a column.
KINDS = ("unknown", "boolean", "integer", "float", "decimal", "text", "date", "timestamp")
#: Why something did not happen.
CODES = ("denied", "unknown", "unsupported", "quota", "invalid", "failed")


class Failure(Exception):
    """A failure as the agent may read it; `code` is one of `CODES`."""

    def __init__(self, code, message):
        if code not in CODES:
            raise ValueError(f"code {code!r}: one of {', '.join(CODES)} expected")
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass
class Column:
    """One column: its name, its kind, and a value for each row; None is NULL."""

    name: str
    kind: str
    values: list


@dataclass
class Table:
    """A table, column by column."""

    columns: list

    @property
    def names(self):
        return [column.name for column in self.columns]

    def rows(self):
        """The rows, as tuples."""
        return list(zip(*(column.values for column in self.columns)))

    def __len__(self):
        return len(self.columns[0].values) if self.columns else 0


@dataclass
class Tool:
    """A tool as an agent sees it; `arguments` is the JSON Schema of an object, as a dict."""

    name: str
    description: str
    arguments: dict


@dataclass
class Output:
    """What a tool's call gives back: words, a table, or both."""

    text: str = ""
    table: Table = None


@dataclass
class TableInfo:
    """A table as its holder sees it; `columns` are (name, kind, nullable, description)."""

    name: str
    description: str
    columns: list
    primary_key: list
    verbs: list


@dataclass
class Abstention:
    """The agent says that the question has no answer here."""

    reason: str
    missing: str


#: The submission of an agent that says that the database is as it should be.
DONE = "done"


@dataclass
class Question:
    """A question that the agent asked the user, and the reply."""

    about: str
    text: str
    reply: str


@dataclass
class ToolCall:
    """A tool call of the agent; `failure` is a code, or None where it succeeded."""

    tool: str
    arguments: str
    failure: str = None


@dataclass
class Evidence:
    """What a verifier is given to judge. `submission` is a Table, `DONE` or an Abstention."""

    instruction: str
    submission: object
    expectation: str
    questions: list = field(default_factory=list)
    calls: list = field(default_factory=list)


@dataclass
class Difference:
    """The first place where the work differs from what was expected."""

    path: str
    expected: str
    found: str
    row: int = None
    column: str = None


@dataclass
class Verdict:
    """A score between 0 and 1 with a stable reason in lower-case words joined by `-`."""

    reward: float
    reason: str
    difference: Difference = None


@dataclass
class Ungradable:
    """This verifier cannot judge this: void, neither pass nor fail."""

    why: str


@dataclass
class Changes:
    """One changed table; a changed row stands in both."""

    name: str
    removed: Table
    added: Table


def kind_of(value):
    """The kind of a value; None where it is NULL, whose kind nobody knows."""
    kinds = {bool: "boolean", int: "integer", float: "float", Decimal: "decimal", str: "text"}
    if value is None:
        return None
    if isinstance(value, datetime):
        return "timestamp"
    if isinstance(value, date):
        return "date"
    for of, kind in kinds.items():
        if type(value) is of:
            return kind
    raise TypeError(f"{type(value).__name__}: None, bool, int, float, Decimal, str, date or datetime expected")


def quoted(name):
    """A name as SQL takes it, whatever stands in it."""
    return '"' + name.replace('"', '""') + '"'
