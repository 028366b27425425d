"""The plans of a row: policies of hot-analyze, asked after a first epoch."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import torch
from tasks import BATCH, Task
from training import warmed

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "fidelity"
PROGRAM = ROOT / "build" / "hot-analyze"
BATCHES = 4  # that errors are measured on


@dataclass(frozen=True)
class Preset:
    """A policy of hot-analyze and what it is asked to keep."""

    name: str
    policy: str
    options: tuple[str, ...] = ()
    within: str = ""  # the preset whose time and saved bytes are its budgets


AUTO, AUTO_WITHIN, HOT = "auto", "auto-within-hot", "hot"
PRESETS = [
    Preset(HOT, "hot"),
    Preset(AUTO, "auto"),
    Preset(AUTO_WITHIN, "auto", ("--minimize", "error", "--max-error", "1"), within=HOT),
    *(Preset(name, name) for name in ("hlq", "lbp-wht", "luq", "int4", "int8")),
]


def files(task: Task) -> tuple[Path, Path]:
    """The row's network as TorchScript, and four batches of training images."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    model, data = FOLDER / f"{task.name}.pt", FOLDER / f"{task.name}.data.pt"
    if not model.exists():
        images = task.data()
        torch.jit.save(torch.jit.script(warmed(task)), model)
        count = BATCHES * BATCH
        torch.save({"x": images.train[:count], "labels": images.train_labels[:count]}, data)
    return model, data


def hot_analyze(*arguments: object) -> subprocess.CompletedProcess:
    command = [PROGRAM, *arguments, "--threads", 1, "--batch", BATCH, "--quiet"]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def plan_of(task: Task, preset: Preset) -> dict:
    """The preset's plan, the head kept exact; made where it isn't there yet."""
    model, data = files(task)
    target = FOLDER / f"{task.name}.{preset.name}.json"
    if not target.exists():
        options = ["--policy", preset.policy, "--keep-exact", "head", "--plan", target]
        options += ["--batches", BATCHES, "--repeats", 10, *preset.options]
        if preset.within:
            other = next(p for p in PRESETS if p.name == preset.within)
            of_other = plan_of(task, other)["predicted"]
            options += ["--memory-budget", f"{of_other['predicted_saved_bytes']['value']}B"]
            options += ["--time-budget", f"{of_other['predicted_ms']['value']}ms"]
        run = hot_analyze(model, "--data", data, *options)
        if run.returncode not in (0, 1):
            raise RuntimeError(f"{task.name}, {preset.name}: {run.stderr.strip()}")
    return json.loads(target.read_text())


def measured(task: Task, preset: Preset) -> dict[str, dict]:
    """What hot-analyze verify measures of the plan: times, saved bytes, gradient error."""
    model, data = files(task)
    plan = FOLDER / f"{task.name}.{preset.name}.json"
    report = FOLDER / f"{task.name}.{preset.name}.verify.json"
    run = hot_analyze(
        "verify", model, "--data", data, "--plan", plan, "--repeats", 30, "--json", report
    )
    if run.returncode not in (0, 1):
        raise RuntimeError(f"{task.name}, {preset.name}: {run.stderr.strip()}")
    return json.loads(report.read_text())["verification"]["total"]
