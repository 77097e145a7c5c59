"""The notebooks: their cells are run, and what they print is what they show.

GAPWISE_UPDATE=1 writes anew what they show. Pictures are drawn and must be well-formed; that they are the
same to the pixel is what the tests of gapwise gantt look at.
"""

import ast
import contextlib
import io
import json
import os
import unittest
import xml.etree.ElementTree
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def run(source, names):
    """Runs a cell in a namespace and returns its outputs as a notebook has them."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        svg = getattr(value, "_repr_svg_", lambda: None)()
        if svg:
            data["image/svg+xml"] = svg.splitlines(True)
        outputs.append({"data": data, "metadata": {}, "output_type": "execute_result"})
    return outputs


def without_pictures(outputs):
    """Returns outputs to compare: of pictures that there is one."""
    all = []
    for output in outputs:
        data = output.get("data", {})
        if "image/svg+xml" in data:
            root = xml.etree.ElementTree.fromstring("".join(data["image/svg+xml"]))
            assert root.tag.endswith("svg") and len(root) > 0, "an empty picture"
            data = dict(data, **{"image/svg+xml": "a picture"})
        all.append({**{k: v for k, v in output.items() if k != "execution_count"}, **({"data": data} if data else {})})
    return all


class TestNotebooks(unittest.TestCase):
    maxDiff = None

    def test_all(self):
        paths = sorted(NOTEBOOKS.glob("*.ipynb"))
        self.assertEqual(len(paths), 2)
        for path in paths:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))
            names = {"__name__": "__main__"}
            count = 0
            for cell in notebook["cells"]:
                self.assertLess(len("".join(cell["source"])), 2000)
                if cell["cell_type"] != "code":
                    continue
                count += 1
                outputs = run("".join(cell["source"]), names)
                if os.environ.get("GAPWISE_UPDATE"):
                    for output in outputs:
                        if output["output_type"] == "execute_result":
                            output["execution_count"] = count
                    cell["execution_count"], cell["outputs"] = count, outputs
                    continue
                with self.subTest(notebook=path.name, cell=count):
                    self.assertEqual(without_pictures(cell["outputs"]), without_pictures(outputs))
                    self.assertEqual(cell["execution_count"], count)
            if os.environ.get("GAPWISE_UPDATE"):
                path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
