#!/usr/bin/env python3
"""torchao_test.py HOT_ANALYZE: exported flags, put into the real torchao.

The layers of an exported plan train in INT8 as the export says, and torchao's arithmetic is the
one that the export takes it for: none+int8/row:column and none+int8/column:column, to nearest.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch

warnings.filterwarnings("ignore")
try:
    from torchao.prototype.quantized_training import Int8MixedPrecisionTrainingConfig
    from torchao.quantization import quantize_
except ImportError as error:
    quantize_ = None
    MISSING = f"torchao can't be imported ({error})"
else:
    MISSING = ""

ANALYZE = None  # the program, from the command line


def plan(layers):
    """A plan file: layers are (name, weight shape, grad_input, grad_weight)."""
    return {
        "schema": "hot-analyze.plan.v1",
        "model": {"sha256": "", "parameters": 0},
        "policy": "auto",
        "layers": [
            {"name": name, "weight_shape": shape, "grad_input": gx, "grad_weight": gw}
            for name, shape, gx, gw in layers
        ],
    }


def exported(layers):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "plan.json"
        file.write_text(json.dumps(plan(layers)))
        command = [ANALYZE, "export", "--plan", file, "--format", "torchao"]
        run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(run.stdout)


def rounded(tensor, dim):
    """INT8 to nearest and back, a scale per index of the other dimension."""
    scale = tensor.abs().amax(dim, keepdim=True) / 127
    return (tensor / scale).round() * scale


@unittest.skipIf(quantize_ is None, MISSING)
class Torchao(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(
            torch.nn.Linear(48, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16)
        )

    def apply(self, table):
        for name, flags in table["layers"].items():
            config = Int8MixedPrecisionTrainingConfig(**flags, module_swap=True)
            quantize_(self.model, config, filter_fn=lambda _, module, name=name: module == name)

    def gradients(self):
        x = torch.randn(24, 48, requires_grad=True)
        out = self.model(x)
        gy = torch.randn_like(out)
        out.backward(gy)
        return x, gy

    def test_it_computes_what_the_export_takes_it_for(self):
        self.model = torch.nn.Sequential(torch.nn.Linear(48, 32))
        schemes = ("none+int8/row:column/nearest", "none+int8/column:column/nearest")
        table = exported([("0", [32, 48], *schemes)])
        self.assertEqual((table["differs"], table["not_expressed"]), ([], []))
        self.apply(table)
        x, gy = self.gradients()
        weight = self.model[0].weight
        with torch.no_grad():
            grad_input = rounded(gy, 1) @ rounded(weight, 0)
            grad_weight = rounded(gy, 0).T @ rounded(x, 0)
        torch.testing.assert_close(x.grad, grad_input, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(weight.grad, grad_weight, rtol=1e-4, atol=1e-4)

    def test_what_is_not_expressed_stays_exact(self):
        int8 = "none+int8/tensor/nearest"
        table = exported(
            [("0", [32, 48], int8, "had16+int4/tensor/nearest"), ("2", [16, 32], "exact", "exact")]
        )
        self.assertEqual(list(table["layers"]), ["0"])
        self.assertEqual(len(table["differs"]), 1)
        self.assertEqual(table["not_expressed"][0]["path"], "grad_weight")
        self.apply(table)
        config = self.model[0].config
        self.assertEqual(
            (config.output, config.grad_input, config.grad_weight), (False, True, False)
        )
        self.assertIs(type(self.model[2]), torch.nn.Linear)
        x, _ = self.gradients()
        self.assertTrue(torch.isfinite(x.grad).all())


if __name__ == "__main__":
    ANALYZE = sys.argv.pop(1)
    unittest.main()
