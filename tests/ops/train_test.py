#!/usr/bin/env python3
"""`hot-analyze train` and an eager PyTorch loop with hot_apply give the same losses.

train_test.py HOT_ANALYZE LIBHOT_OPS
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "models")]
import hot_apply  # noqa: E402
from digits_vit import DigitsViT  # noqa: E402

STEPS = 20
BATCH = 16
TOLERANCE = 1e-5
PROGRAM = ""


class ConvNet(nn.Module):
    """Running statistics, dropout and a window larger than one pixel."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.second = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.first(x)))
        x = F.gelu(self.second(x))
        return self.head(self.drop(x.mean([2, 3])))


def run(*arguments):
    command = [PROGRAM, *map(str, arguments), "--threads", "1", "--batch", str(BATCH), "--quiet"]
    return subprocess.run(command, capture_output=True, text=True)


def batches_as_the_program_makes_them(data, seed):
    """models/data: one order of all samples; the last fifth of the minibatches is held out."""
    order = torch.randperm(len(data["x"]), generator=torch.Generator().manual_seed(seed))
    count = len(order) // BATCH
    batches = [(data["x"][chosen], data["labels"][chosen]) for chosen in order.split(BATCH)[:count]]
    return batches[: count - round(0.2 * count)]


def order_of_batches(count, seed):
    """analyzers/train/batch_order.hpp."""
    generator = torch.Generator().manual_seed(seed)
    order = []
    while len(order) < STEPS:
        order += torch.randperm(count, generator=generator).tolist()
    return order[:STEPS]


def eager_losses(model, plan, data, optimizer, run_seed, seed):
    applied = hot_apply.apply(model, plan, seed=seed) if plan else None
    batches = batches_as_the_program_makes_them(data, run_seed)
    model.train()
    torch.manual_seed(seed)
    losses = []
    for index in order_of_batches(len(batches), seed):
        x, labels = batches[index]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if applied:
        assert all(runs[1] == STEPS for runs in applied.runs().values()), applied.runs()
    return losses


def optimizer_of(name, model):
    if name == "sgd":
        return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)
    return torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0, foreach=False)


class Train(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.data = {
            "x": torch.rand(64, 1, 8, 8, generator=torch.Generator().manual_seed(1)),
            "labels": torch.arange(64) % 10,
        }
        torch.save(self.data, self.path / "data.pt")

    def tearDown(self):
        self.folder.cleanup()

    def program(self, *arguments):
        finished = run(*arguments)
        self.assertEqual(finished.returncode, 0, finished.stderr)

    def compare(self, make, policy, optimizer):
        """Exact and planned losses of two seeds, by the program and by PyTorch."""
        torch.manual_seed(5)
        state = make().state_dict()
        fresh = make()
        fresh.load_state_dict(state)
        model, data, plan, report = (
            self.path / name for name in ("model.pt", "data.pt", "plan.json", "report.json")
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.jit.save(torch.jit.script(fresh), model)
        self.program(model, "--data", data, "--policy", policy, "--repeats", 1, "--plan", plan)
        rate = "0.01" if optimizer == "sgd" else "0.001"
        self.program(
            *("train", model, "--data", data, "--plan", plan, "--json", report, "--seed", 3),
            *("--steps", STEPS, "--seeds", 2, "--optimizer", optimizer, "--rate", rate),
        )
        pairs = json.loads(report.read_text())["training"]["pairs"]
        self.assertEqual([pair["seed"] for pair in pairs], [3, 4])
        for pair in pairs:
            for side, used in (("exact", None), ("plan", plan)):
                own = make()
                own.load_state_dict(state)
                expected = eager_losses(
                    own, used, self.data, optimizer_of(optimizer, own), 3, pair["seed"]
                )
                found = pair[side]["losses"]
                self.assertEqual(len(found), STEPS)
                worst = max(abs(a - b) for a, b in zip(found, expected))
                print(f"{make.__name__}, {policy}, {optimizer}, {side}: {worst:.1e}")
                self.assertLess(worst, TOLERANCE)
            self.assertNotEqual(pair["exact"]["losses"], pair["plan"]["losses"])
            self.assertEqual(pair["exact"]["losses"][0], pair["plan"]["losses"][0])
            self.assertEqual(len(pair["gradient_cosines"]), 10)

    def test_vision_transformer_by_hot_with_sgd(self):
        self.compare(DigitsViT, "hot", "sgd")

    def test_vision_transformer_by_hot_with_adamw(self):
        self.compare(DigitsViT, "hot", "adamw")

    def test_convolutions_dropout_and_running_statistics(self):
        self.compare(ConvNet, "hlq", "sgd")

    def test_errors(self):
        torch.manual_seed(5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.jit.save(torch.jit.script(DigitsViT()), self.path / "model.pt")
        model, data = self.path / "model.pt", self.path / "data.pt"
        exact = self.path / "exact.json"
        self.program(model, "--data", data, "--keep-exact", "*", "--plan", exact)
        planned = self.path / "planned.json"
        self.program(model, "--data", data, "--policy", "hot", "--plan", planned)
        for arguments, code, words in [
            (["--plan", exact], 2, "leaves every layer exact"),
            (["--plan", self.path / "no.json"], 2, "no.json"),
            (["--plan", exact, "--batches", 2], 2, "--batches"),
            (["--plan", exact, "--rate", "nan"], 2, "'nan' is not a number over 0"),
            (["--plan", exact, "--rate", "-1"], 2, "'-1' is not a number over 0"),
            (["--plan", exact, "--weight-decay", "inf"], 2, "'inf' is not a number of at least 0"),
            (["--plan", planned, "--hold-out", "1"], 2, "leaves nothing to train on"),
            (["--plan", exact, "--steps", "0"], 2, "--steps"),
            ([], 2, "--plan is required"),
        ]:
            finished = run("train", model, "--data", data, *arguments)
            self.assertEqual(finished.returncode, code, finished.stderr)
            self.assertIn(words, finished.stderr)
            self.assertEqual(finished.stderr.count("\n"), 1)


if __name__ == "__main__":
    os.environ["HOT_OPS"] = sys.argv.pop()
    PROGRAM = sys.argv.pop()
    unittest.main()
