"""docs/how-to/python.md: its examples print what they show."""

import doctest
import os
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class TestPage(unittest.TestCase):
    def test_page(self):
        before = os.getcwd()
        os.chdir(ROOT)  # its paths are those of the checkout
        try:
            failed, run = doctest.testfile(str(ROOT / "docs/how-to/python.md"), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
        finally:
            os.chdir(before)
        self.assertGreater(run, 25)
        self.assertEqual(failed, 0)


if __name__ == "__main__":
    unittest.main()
