#!/usr/bin/env python3
"""transformer_engine_test.py HOT_ANALYZE: names and arguments of the export in Transformer Engine.

The package can't be imported without its CUDA libraries, but its Python sources are in the wheel:
every quantizer and argument that an exported recipe names must be there, and so must what
reports/README.md says of putting it together.
"""

import ast
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SPEC = importlib.util.find_spec("transformer_engine")
SOURCES = pathlib.Path(SPEC.submodule_search_locations[0]) if SPEC else None
ANALYZE = None  # the program, from the command line


def classes(folder):
    """Name → class, of all Python files below."""
    found = {}
    for path in sorted((SOURCES / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name] = node
    return found


def arguments(node):
    """What __init__ takes by name."""
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            return {a.arg for a in (*part.args.args, *part.args.kwonlyargs)} - {"self"}
    return set()


def fields(node):
    """A dataclass's."""
    return {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}


@unittest.skipUnless(SPEC, "transformer-engine is not installed")
class TransformerEngine(unittest.TestCase):
    def exported(self, *pairs):
        layers = [
            {"name": str(i), "weight_shape": [32, 48], "grad_input": gx, "grad_weight": gw}
            for i, (gx, gw) in enumerate(pairs)
        ]
        plan = {"schema": "hot-analyze.plan.v1", "policy": "auto", "layers": layers}
        plan["model"] = {"sha256": "", "parameters": 0}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "plan.json"
            file.write_text(json.dumps(plan))
            command = [ANALYZE, "export", "--plan", file, "--format", "transformer-engine"]
            run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return json.loads(run.stdout)["layers"]

    def test_every_name_and_argument_exists(self):
        layers = self.exported(
            ("none+int8/tensor/nearest", "had16+int8/tensor/stochastic"),
            ("none+int4/row/stochastic", "had16+int4/tensor/stochastic"),
            ("had16+int4/tensor/nearest", "none+int4/column/nearest"),
            ("exact", "none+int8/tensor/nearest"),
        )
        known = classes("pytorch/tensor")
        seen = set()
        for roles in layers.values():
            for directions in roles.values():
                for quantizer in directions.values():
                    own = dict(quantizer)
                    name = own.pop("quantizer")
                    seen.add(name)
                    self.assertIn(name, known)
                    self.assertLessEqual(own.keys(), arguments(known[name]), name)
        self.assertEqual(seen, {"IdentityQuantizer", "MXFP8Quantizer", "NVFP4Quantizer"})

    def test_what_the_readme_puts_together(self):
        hybrid = classes("pytorch/tensor")["HybridQuantizer"]
        self.assertTrue({"rowwise_quantizer", "columnwise_quantizer"} <= arguments(hybrid))
        role = classes("pytorch")["QuantizerRole"]
        self.assertTrue({"name", "tensor_type"} <= fields(role))
        recipe = classes("common/recipe")["CustomRecipe"]
        self.assertIn("qfactory", fields(recipe))


if __name__ == "__main__":
    ANALYZE = sys.argv.pop(1)
    unittest.main()
