"""The plugin's logic, without a sandbox: `python3 -m unittest`."""

import unittest

import plugin
from tribunal import Column, Failure, Table


class Paper:
    """A host and a session in one, which knows one answer to one question."""

    log = staticmethod(print)

    def open(self, role):
        return self

    def tables(self):
        return []

    def query(self, sql, parameters=()):
        assert sql == 'SELECT COUNT(*) AS row_count FROM "invoices"', sql
        return Table([Column("row_count", "integer", [7])])


class Test(unittest.TestCase):
    def test_rows_are_counted(self):
        output = plugin.call(Paper(), "count_rows", {"table": "invoices"})
        self.assertEqual(output.table.rows(), [(7,)])

    def test_another_tool_is_unknown(self):
        with self.assertRaises(Failure) as raised:
            plugin.call(Paper(), "drop_table", {})
        self.assertEqual(raised.exception.code, "unknown")
