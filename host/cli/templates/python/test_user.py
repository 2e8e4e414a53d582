"""The plugin's logic, without a sandbox: `python3 -m unittest`."""

import unittest

import plugin
from tribunal import Failure

SECRET = {"knows": {"period": "The second quarter of 2025."}, "otherwise": "I cannot say."}


class Host:
    log = staticmethod(print)


class Test(unittest.TestCase):
    def test_a_word_that_is_known_gets_its_reply(self):
        self.assertEqual(plugin.reply(Host(), SECRET, "", "Which period?"), "The second quarter of 2025.")

    def test_nothing_else_is_said(self):
        self.assertEqual(plugin.reply(Host(), SECRET, "", "periodically"), "I cannot say.")

    def test_a_broken_secret_is_not_told(self):
        with self.assertRaises(Failure) as raised:
            plugin.reply(Host(), {"knows": "hush"}, "", "period")
        self.assertEqual(raised.exception.message, "the user cannot answer")
