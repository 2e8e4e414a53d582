"""The tool `count_rows`: how many rows a table has."""

from tribunal import Failure, Output, Tool, quoted

NAME = "{{name}}"
VERSION = "0.1.0"

# What this plugin asks for. A task grants as much of it as it wants to, and never more.
CONTRACT = """
[contract]
name = "{{name}}"

[[read]]
table = "*"
columns = ["*"]
"""

# The JSON Schema of the arguments; an agent's call that does not fit never comes here.
TOOLS = [
    Tool(
        "count_rows",
        "Counts the rows of a table.",
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["table"],
            "properties": {"table": {"type": "string", "description": "The table's name."}},
        },
    )
]


def call(host, name, arguments):
    if name != "count_rows":
        raise Failure("unknown", f"no tool {name}")
    session = host.open("agent")
    host.log(f"{len(session.tables())} tables are granted")
    return Output(table=session.query(f"SELECT COUNT(*) AS row_count FROM {quoted(arguments['table'])}"))
