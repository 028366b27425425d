"""The plans of a row: policies of hot-analyze after a first epoch, or one pair of schemes for
all layers where this build has no policy of that name."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import hot_apply
import torch
from tasks import BATCH, Task
from training import warmed

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "fidelity"
PROGRAM = ROOT / "build" / "hot-analyze"
BATCHES = 4  # that errors are measured on


@dataclass(frozen=True)
class Preset:
    """`schemes`: for grad_input and grad_weight, where hot-analyze has no policy of that name."""

    name: str
    schemes: tuple[str, str] | None = None
    remark: str = ""
    policy: str = ""  # of hot-analyze; the preset's name if empty
    options: tuple[str, ...] = ()


PRESETS = [
    Preset("auto"),
    Preset("hot"),
    Preset("hlq"),
    Preset("lbp-wht"),
    Preset("luq"),
    Preset("int4"),
]


class Missing(Exception):
    """This build has no such method."""


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


def analysed(task: Task, preset: Preset, policy: str) -> dict:
    """The policy's plan; Missing where hot-analyze doesn't know the policy."""
    model, data = files(task)
    target = FOLDER / f"{task.name}.{preset.name if preset.policy else policy}.json"
    if not target.exists():
        options = ["--policy", policy, "--batches", BATCHES, "--repeats", 10, "--plan", target]
        options += preset.options
        run = hot_analyze(model, "--data", data, *options)
        if run.returncode == 2 and "--policy" in run.stderr:
            raise Missing(run.stderr.strip())
        if run.returncode not in (0, 1):
            raise RuntimeError(f"{task.name}, {policy}: {run.stderr.strip()}")
    return json.loads(target.read_text())


def uniform(task: Task, preset: Preset) -> dict:
    """The preset's schemes in every layer that a plan of the row has."""
    if preset.schemes is None:
        raise Missing(f"no policy '{preset.name}'")
    try:
        hot_apply.Layer(preset.name, *preset.schemes, 0)
    except hot_apply.PlanError as error:
        raise Missing(str(error)) from None
    plan = analysed(task, preset, "hot")
    layers = [
        layer | {"grad_input": preset.schemes[0], "grad_weight": preset.schemes[1]}
        for layer in plan["layers"]
    ]
    plan = plan | {"policy": preset.name, "layers": layers}
    plan.pop("predicted", None)
    return plan


def plan_of(task: Task, preset: Preset) -> tuple[dict, bool]:
    """The plan, the head kept exact, and whether hot-analyze's own policy made it."""
    try:
        plan, own = analysed(task, preset, preset.policy or preset.name), True
    except Missing:
        plan, own = uniform(task, preset), False
    for layer in plan["layers"]:
        if layer["name"] == "head":
            layer["grad_input"] = layer["grad_weight"] = "exact"
    (FOLDER / f"{task.name}.{preset.name}.used.json").write_text(json.dumps(plan, indent=1))
    return plan, own


def measured(task: Task, preset: Preset) -> dict[str, dict]:
    """What hot-analyze verify measures of the plan: times, saved bytes, gradient error."""
    model, data = files(task)
    plan, report = (FOLDER / f"{task.name}.{preset.name}.{end}.json" for end in ("used", "verify"))
    run = hot_analyze(
        "verify", model, "--data", data, "--plan", plan, "--repeats", 30, "--json", report
    )
    if run.returncode not in (0, 1):
        raise RuntimeError(f"{task.name}, {preset.name}: {run.stderr.strip()}")
    return json.loads(report.read_text())["verification"]["total"]
