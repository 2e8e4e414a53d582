"""Between the kit and the plugin interface. Only a built plugin loads this."""

import json
import traceback
from datetime import date, datetime, timedelta
from decimal import Decimal

from componentize_py_types import Err
from wit_world.imports import description, log, settings, types

import tribunal
from tribunal import Column, Failure, Table, kind_of

_DAY_ZERO = date(1970, 1, 1)
_TIME_ZERO = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


class Host:
    """What a plugin can ask its host for."""

    def open(self, role):
        """The session of a role: `agent` for tools, `first` and `last` for verifiers."""
        from wit_world.imports import database

        return Session(_asked(database.open, role))

    def log(self, message):
        """A line for the plugin's author; the agent never reads it."""
        log.write(str(message))

    def settings(self):
        """The settings that the suite pins for this plugin."""
        return json.loads(settings.get())

    def changes(self):
        """What a verifier's agent changed, table by table."""
        from wit_world.imports import changes

        read = lambda each: tribunal.Changes(each.name, table_in(each.removed), table_in(each.added))
        return [read(each) for each in _asked(changes.between)]


class Session:
    """One database under one contract."""

    def __init__(self, inner):
        self._inner = inner

    def tables(self):
        """The granted tables."""
        return [_info(each) for each in self._inner.tables()]

    def query(self, sql, parameters=()):
        """Runs one query; `$1`, `$2`, .. stand for the parameters."""
        return table_in(_asked(self._inner.query, sql, [value_out(each) for each in parameters]))

    def change(self, sql, parameters=()):
        """Runs one INSERT, UPDATE or DELETE; gives the rows it touched."""
        return _asked(self._inner.change, sql, [value_out(each) for each in parameters])


def _asked(function, *arguments):
    """A call of the host; what it refuses is raised as a Failure."""
    try:
        return function(*arguments)
    except Err as error:
        raise Failure(error.value.code.name.lower(), error.value.message) from None


def _info(info):
    columns = [(each.name, each.kind.name.lower(), each.nullable, each.description) for each in info.columns]
    verbs = [verb.name.lower() for verb in info.verbs]
    return tribunal.TableInfo(info.name, info.description, columns, list(info.primary_key), verbs)


# Values


def _decimal_text(value):
    if not value.is_finite():
        raise ValueError(f"{value} is no decimal of a database")
    return format(value, "f")


def _days(value):
    return (value - _DAY_ZERO).days


def _microseconds(value):
    return (value - _TIME_ZERO) // _MICROSECOND


def value_out(value):
    """A parameter of a statement."""
    kind = kind_of(value)
    if kind is None:
        return types.Value_Null()
    make, convert = {
        "boolean": (types.Value_Boolean, bool),
        "integer": (types.Value_Integer, int),
        "float": (types.Value_Float, float),
        "decimal": (types.Value_Decimal, _decimal_text),
        "text": (types.Value_Text, str),
        "date": (types.Value_Date, _days),
        "timestamp": (types.Value_Timestamp, _microseconds),
    }[kind]
    return make(convert(value))


def _texts_in(texts):
    data, start, found = texts.data.encode(), 0, []
    for end in texts.ends:
        found.append(data[start:end].decode())
        start = end
    return found


def _texts_out(values):
    parts = [value.encode() for value in values]
    ends, end = [], 0
    for part in parts:
        end += len(part)
        ends.append(end)
    return types.Texts(b"".join(parts).decode(), ends)


#: For each kind: the case of `cells`, from there, to there, and what stands for NULL there.
_CELLS = {
    "boolean": (types.Cells_Booleans, bool, bool, False),
    "integer": (types.Cells_Integers, int, int, 0),
    "float": (types.Cells_Floats, float, float, 0.0),
    "decimal": (types.Cells_Decimals, Decimal, _decimal_text, ""),
    "text": (types.Cells_Texts, str, str, ""),
    "date": (types.Cells_Dates, lambda days: _DAY_ZERO + timedelta(days=days), _days, 0),
    "timestamp": (types.Cells_Timestamps, lambda us: _TIME_ZERO + timedelta(microseconds=us), _microseconds, 0),
}
_TEXTS = ("decimal", "text")


def table_in(table):
    """A table of the host."""
    return Table([_column_in(column, table.rows) for column in table.columns])


def _column_in(column, rows):
    for kind, (case, read, _, _) in _CELLS.items():
        if isinstance(column.cells, case):
            cells = _texts_in(column.cells.value) if kind in _TEXTS else column.cells.value
            nulls = column.nulls
            null = lambda row: bool(nulls) and nulls[row // 8] >> row % 8 & 1
            return Column(column.name, kind, [None if null(row) else read(cell) for row, cell in enumerate(cells)])
    return Column(column.name, "unknown", [None] * rows)


def table_out(table):
    """A table for the host."""
    columns = [_column_out(column) for column in table.columns]
    return types.Table(len(table), columns)


def _column_out(column):
    if column.kind == "unknown":
        return types.Column(column.name, b"", types.Cells_Unknown())
    if column.kind not in _CELLS:
        raise ValueError(f"column {column.name}: kind {column.kind!r}; one of {', '.join(tribunal.KINDS)} expected")
    case, _, write, nothing = _CELLS[column.kind]
    nulls = bytearray((len(column.values) + 7) // 8)
    for row, value in enumerate(column.values):
        if value is None:
            nulls[row // 8] |= 1 << row % 8
        elif kind_of(value) != column.kind:
            raise TypeError(f"column {column.name} is {column.kind}, and row {row} holds {value!r}")
    cells = [nothing if value is None else write(value) for value in column.values]
    cells = _texts_out(cells) if column.kind in _TEXTS else cells
    return types.Column(column.name, bytes(nulls) if any(nulls) else b"", case(cells))


# Calls


def describe(plugin):
    """What the plugin says of itself."""
    with _Told():
        info = lambda tool: description.ToolInfo(tool.name, tool.description, json.dumps(tool.arguments))
        tools = [info(tool) for tool in getattr(plugin, "TOOLS", [])]
        nothing = f'[contract]\nname = "{plugin.NAME}"\n'
        return description.Description(plugin.NAME, plugin.VERSION, tools, getattr(plugin, "CONTRACT", nothing))


def call(plugin, name, arguments):
    """One call of a tool."""
    from wit_world.imports import output

    with _Told():
        given = plugin.call(Host(), name, json.loads(arguments))
        return output.Output(given.text, None if given.table is None else table_out(given.table))


def reply(plugin, secret, about, question):
    """One question to a simulated user."""
    with _Told():
        return plugin.reply(Host(), json.loads(secret), about, question)


def verify(plugin, given):
    """One judgement."""
    from wit_world.imports import evidence as wit

    with _Told():
        verdict = plugin.verify(Host(), _evidence(given, wit))
        if isinstance(verdict, tribunal.Ungradable):
            return wit.Verdict_Ungradable(verdict.why)
        found = verdict.difference
        if found is not None:
            found = wit.Difference(found.path, found.row, found.column, found.expected, found.found)
        return wit.Verdict_Scored(wit.Scored(float(verdict.reward), verdict.reason, found))


def _evidence(given, wit):
    submission = given.submission
    if isinstance(submission, wit.Submission_Answer):
        submission = table_in(submission.value)
    elif isinstance(submission, wit.Submission_Done):
        submission = tribunal.DONE
    else:
        submission = tribunal.Abstention(submission.value.reason, submission.value.missing)
    questions = [tribunal.Question(each.about, each.text, each.reply) for each in given.questions]
    code = lambda failure: None if failure is None else failure.name.lower()
    calls = [tribunal.ToolCall(each.tool, each.arguments, code(each.failure)) for each in given.calls]
    return tribunal.Evidence(given.instruction, submission, given.expectation, questions, calls)


class _Told:
    """Passes on a Failure, and says of every other exception at which line of the plugin it began."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, Failure):
            code = types.Code[error.code.upper()]
            raise Err(types.Failure(code, error.message)) from None
        if error is not None and not isinstance(error, Err):
            log.write(f"panic: {kind.__name__}: {error} at {_place(trace)}")
        return False


def _place(trace):
    """The last line of the plugin itself, without what stands above its folder here."""
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if "/tribunal/" not in frame.filename and "/python" not in frame.filename]
    frame = (own or frames)[-1]
    parts = [part for part in frame.filename.split("/") if part and not part.isdigit()]
    return f"{'/'.join(parts)}:{frame.lineno}"
