#!/usr/bin/env python3
"""models/export.py: its files, its exit codes, its one-line errors. Most runs call its main in this
process, since starting one with torch takes seconds; one runs it as a program."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import NamedTuple

import torch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))
from models import export  # noqa: E402
from models.exporter import inputs  # noqa: E402
from models.exporter.errors import UsageError  # noqa: E402


class Run(NamedTuple):
    code: int
    stdout: str
    stderr: str


def load(file: Path) -> tuple[torch.jit.ScriptModule, dict]:
    """The module and the specification inside."""
    extra = {"hot_inputs.json": ""}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = torch.jit.load(str(file), _extra_files=extra)
    return module, json.loads(extra["hot_inputs.json"])


class ExportTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = Path(self.folder.name) / "model.pt"

    def export(self, *arguments: str, expect: int = 0) -> Run:
        """Runs main with these arguments here; an error must be one line on stderr alone."""
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            contextlib.chdir(HERE),
        ):
            try:
                code = export.main(["export.py", *arguments])
            except SystemExit as stop:
                code = int(stop.code or 0)
        run = Run(code, out.getvalue(), err.getvalue())
        self.assertEqual(run.code, expect, run.stderr)
        if expect:
            self.assertEqual(run.stdout, "")
            self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        return run

    def tiny(self, *arguments: str, expect: int = 0) -> Run:
        return self.export(
            "tiny:Tiny", "-o", str(self.file), "--input", "6x8", *arguments, expect=expect
        )

    def test_factory_is_scripted_with_its_specification_inside(self) -> None:
        run = self.tiny()
        module, specification = load(self.file)
        self.assertEqual(
            specification,
            {"version": 1, "inputs": [{"name": "x", "dtype": "float32", "shape": [6, 8]}]},
        )
        self.assertEqual(module(torch.randn(6, 8)).shape, (6, 4))
        self.assertTrue(module.training)
        self.assertIn("scripted", run.stdout)
        self.assertEqual(run.stdout.splitlines()[-1].split()[0], "next:")
        self.assertTrue(run.stdout.rstrip().endswith(f"scripts/analyze {self.file}"))
        self.assertEqual(os.listdir(self.folder.name), ["model.pt"])

    def test_as_a_program(self) -> None:
        command = [
            sys.executable,
            str(ROOT / "models" / "export.py"),
            "tiny:Tiny",
            "-o",
            str(self.file),
        ]
        run = subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertRegex(run.stderr, "^export.py: .*--input.*\n$")

    def test_same_seed_same_weights(self) -> None:
        def weights(seed: str) -> torch.Tensor:
            self.tiny("--seed", seed, "--force")
            return load(self.file)[0].fc.weight.detach().clone()

        self.assertTrue(torch.equal(weights("1"), weights("1")))
        self.assertFalse(torch.equal(weights("1"), weights("2")))

    def test_batch_and_factory_arguments(self) -> None:
        self.tiny("--batch", "3", "--arg", "width=24")
        module, specification = load(self.file)
        self.assertEqual(specification["inputs"][0]["shape"], [3, 8])
        self.assertEqual(tuple(module.fc.weight.shape), (24, 8))

    def test_torchvision_model_knows_its_input(self) -> None:
        self.export("squeezenet1_1", "-o", str(self.file), "--batch", "2")
        module, specification = load(self.file)
        self.assertEqual(
            specification["inputs"], [{"name": "x", "dtype": "float32", "shape": [2, 3, 224, 224]}]
        )
        self.assertEqual(specification["task"], "classification")
        self.assertEqual(specification["mean"], [0.485, 0.456, 0.406])
        self.assertGreater(sum(p.numel() for p in module.parameters()), 1_000_000)

    def test_zeros_that_hide_gradients_are_replaced_and_told(self) -> None:
        run = self.export("tiny:ZeroHead", "-o", str(self.file), "--input", "6x8")
        self.assertIn("head.weight", run.stdout)
        self.assertIn("norm.weight", run.stdout)
        module, _ = load(self.file)
        module(torch.randn(6, 8)).square().sum().backward()
        self.assertTrue(all(p.grad.any() for p in module.parameters()))

    def test_given_weights_are_taken_as_they_are(self) -> None:
        state = {
            "module.fc.weight": torch.zeros(16, 8),
            "module.fc.bias": torch.ones(16),
            "module.head.weight": torch.ones(4, 16),
            "module.head.bias": torch.ones(4),
        }
        weights = Path(self.folder.name) / "weights.pth"
        torch.save({"state_dict": state}, weights)
        self.tiny("--weights", str(weights))
        module, _ = load(self.file)
        self.assertFalse(module.fc.weight.any())
        self.assertTrue(torch.equal(module.fc.bias, torch.ones(16)))

    def test_trace_where_scripting_fails_says_so(self) -> None:
        arguments = ("tiny:OnlyTraceable", "-o", str(self.file), "--input", "x=6x8")
        run = self.export(*arguments)
        self.assertIn("traced, since it can't be scripted", run.stdout)
        self.export(*arguments, "--force", "--script", expect=3)

    def test_tracing_leaves_running_statistics_alone(self) -> None:
        self.export("tiny:RunningMean", "-o", str(self.file), "--input", "6x8", "--trace")
        module, _ = load(self.file)
        self.assertFalse(module.bn.running_mean.any())
        self.assertEqual(module.bn.num_batches_tracked.item(), 0)

    def test_freeze_turns_weights_into_constants(self) -> None:
        self.tiny("--freeze")
        self.assertEqual(list(load(self.file)[0].parameters()), [])

    def test_tokens_masks_and_tuples(self) -> None:
        self.export(
            "tiny:Tokens",
            "-o",
            str(self.file),
            "--input",
            "mask=bool:2x5",
            "--input",
            "int64:2x5:0..29",
            "--input",
            "(float32:2x4,float32:2x4)",
        )
        _, specification = load(self.file)
        named = {entry["name"]: entry for entry in specification["inputs"]}
        self.assertEqual(
            named["tokens"],
            {"name": "tokens", "dtype": "int64", "shape": [2, 5], "low": 0, "high": 29},
        )
        self.assertEqual(named["mask"], {"name": "mask", "dtype": "bool", "shape": [2, 5]})
        self.assertEqual(named["pair"], {"name": "pair", "spec": "(float32:2x4,float32:2x4)"})

    def test_an_existing_file_is_kept_unless_forced(self) -> None:
        self.file.write_text("precious")
        run = self.tiny(expect=2)
        self.assertIn("--force", run.stderr)
        self.assertEqual(self.file.read_text(), "precious")
        self.tiny("--force")
        load(self.file)

    def test_a_failed_export_leaves_no_file(self) -> None:
        run = self.export("tiny:Tiny", "-o", str(self.file), "--input", "6x9", expect=3)
        self.assertIn("input", run.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_errors_name_what_is_wrong(self) -> None:
        out = ("-o", str(self.file))
        cases = [
            (2, "did you mean resnet", ("resnet81", *out)),
            (2, "no model of timm", ("timm:nothing_like_it", *out)),
            (2, "no module named 'nowhere'", ("nowhere:Net", *out)),
            (2, "tiny has no 'Missing'", ("tiny:Missing", *out)),
            (2, "--input", ("tiny:Tiny", *out)),
            (2, "'6y8' is not a shape", ("tiny:Tiny", *out, "--input", "6y8")),
            (2, "forward takes x", ("tiny:Tiny", *out, "--input", "z=6x8")),
            (2, "KEY=VALUE", ("tiny:Tiny", *out, "--input", "6x8", "--arg", "width")),
            (2, "width_", ("tiny:Tiny", *out, "--input", "6x8", "--arg", "width_=3")),
            (
                2,
                "no such directory",
                ("tiny:Tiny", "-o", str(self.file.parent / "no" / "model.pt")),
            ),
            (2, "is a directory", ("tiny:Tiny", "-o", self.folder.name)),
            (3, "no luck", ("tiny:breaks", *out)),
            (3, "not a torch.nn.Module", ("tiny:gives_text", *out)),
            (3, "no such file", ("tiny:Tiny", *out, "--input", "6x8", "--weights", "absent.pth")),
            (3, "detection", ("fasterrcnn_resnet50_fpn", *out)),
        ]
        for code, words, arguments in cases:
            with self.subTest(words):
                self.assertIn(words, self.export(*arguments, expect=code).stderr)
        self.assertEqual(os.listdir(self.folder.name), [])


class GrammarTest(unittest.TestCase):
    def test_text_and_specification_are_inverse(self) -> None:
        for text in (
            "float32:8x3x224x224",
            "int64:8x128:0..30521",
            "float32:4:-1.5..2",
            "bool:2x5",
            "float64:scalar",
            "int:16000",
            "float:0.5",
            "bool:true",
            "str:abc",
            'str:"a,b"',
            "none",
            "[float32:4x4,float32:4x4]",
            "(float32:1x8,[int64:3:0..9])",
            "{a:float32:2x3,b:int64:2:0..9}",
            "[]",
        ):
            with self.subTest(text):
                name, spec = inputs.parse_input(text)
                self.assertEqual((name, spec.text()), ("", text))

    def test_wrong_text_is_quoted(self) -> None:
        for text in (
            "",
            "8x",
            "8x0",
            "float33:8",
            "int64:8:9..0",
            "int64:8:0-9",
            "[8",
            "{8}",
            "int:a",
            "8x3]",
            "x=",
            '[str:"a]',
        ):
            with self.subTest(text), self.assertRaisesRegex(UsageError, "--input"):
                inputs.parse_input(text)

    def test_examples_keep_shape_type_and_range(self) -> None:
        generator = torch.Generator().manual_seed(0)
        value = inputs.example(inputs.parse_input("int64:400:3..5")[1], generator)
        self.assertEqual((value.min().item(), value.max().item(), value.dtype), (3, 5, torch.int64))
        value = inputs.example(inputs.parse_input("{a:bfloat16:2x3,b:none}")[1], generator)
        self.assertEqual(
            (value["a"].dtype, tuple(value["a"].shape), value["b"]), (torch.bfloat16, (2, 3), None)
        )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    unittest.main()
