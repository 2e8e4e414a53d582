"""The plugin's logic, without a sandbox: `python3 -m unittest`."""

import unittest

import plugin
from tribunal import DONE, Column, Evidence, Table, Ungradable


class Host:
    log = staticmethod(print)


def verdict(cities, expectation='{"rows": [["Oslo"], ["Rome"]]}'):
    submission = DONE if cities is None else Table([Column("city", "text", cities)])
    return plugin.verify(Host(), Evidence("Name the cities.", submission, expectation))


class Test(unittest.TestCase):
    def test_the_right_rows_pass_in_any_order(self):
        self.assertEqual(verdict(["Rome", "Oslo"]).reward, 1)

    def test_everything_else_fails(self):
        for wrong in (["Rome"], ["Rome", "Oslo", "Oslo"], ["Rome", "Bern"], [], None):
            self.assertEqual(verdict(wrong).reward, 0, wrong)

    def test_a_broken_expectation_judges_nobody(self):
        self.assertIsInstance(verdict(["Rome", "Oslo"], "{}"), Ungradable)
