"""docs/fidelity.md from the study's runs."""

from __future__ import annotations

import math
import statistics
import subprocess
from pathlib import Path

import torch
from plans import AUTO, AUTO_WITHIN, HOT, PRESETS
from scipy import stats
from tasks import BATCH, TASKS, Task

LIMIT = 0.3  # points that auto may lose
ROOT = Path(__file__).resolve().parents[2]

HEAD = """# Fidelity: what plans cost in accuracy

Small networks trained in FP32 and by every plan, from the same starts, on the same batches in the
same order; a pair of runs differs in the plan alone. Written by `scripts/fidelity` from
[fidelity.csv](fidelity.csv) (every run) and [fidelity_plans.csv](fidelity_plans.csv) (what
`hot-analyze verify` measured of the plans).

- **difference**: accuracy by the plan minus accuracy in FP32, in points, mean over seeds, with
  the half width of its 95 % interval (Student's t over the pairs). Accuracy is measured on
  held-out images: 360 of the digits (one image is 0.28 points), 1,000 of MNIST (0.1 points).
- **loss**: mean training loss of the last epoch, measured.
- **gradient error**: relative, of all parameter gradients together in one step of the network that
  the plan was made from, measured.
- **backward**: speed of all layers' backward pass but the head's relative to exact, measured with
  1 thread in pairs of steps, with the half width of its 95 % interval; above 1 is faster.
- **saved**: bytes kept for backward relative to exact, measured.
"""

HOW = """
## How

AdamW (weight decay 0.05) with a one-cycle rate, gradients clipped to norm 1, batches of {batch},
one thread, no augmentation: the study compares, it doesn't tune. Planned layers run by
`scripts/hot_apply.py`; that each of them really ran is checked in every run. A row has one plan a
policy, made by `hot-analyze` from four batches and the network of seed 0 after its first epoch in
FP32 (fine-tuning: the pretrained network); the head stays exact in all of them. `auto` has default
options (gradient error up to 0.1, least time); `auto-within-hot` is the least error that is to be
had in the time and the bytes of `hot` (`--minimize error --time-budget --memory-budget`); where
exact training keeps both, that is exact training.
Seeds change the start, the order of batches and the rounding. Fine-tuning starts from the same
seed's FP32 run on MNIST with a new head, on digits enlarged to 28x28.

| row | network | epochs | largest rate |
|---|---|---|---|
{rows}

Networks: `scripts/fidelity_study/networks.py`. Environment: {environment}.
"""


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and half width of the 95 % interval."""
    if len(values) < 2:
        return statistics.fmean(values), math.nan
    t = stats.t.ppf(0.975, len(values) - 1)
    return statistics.fmean(values), t * statistics.stdev(values) / math.sqrt(len(values))


def signed(value: float, digits: int = 2) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


class Runs:
    """Accuracies and losses by row, plan and seed."""

    def __init__(self, runs: list[dict]) -> None:
        self.by_key = {(r["row"], r["plan"], int(r["seed"])): r for r in runs}

    def of(self, row: str, plan: str, column: str) -> dict[int, float]:
        return {
            seed: float(r[column])
            for (own, name, seed), r in sorted(self.by_key.items())
            if (own, name) == (row, plan)
        }

    def differences(self, row: str, plan: str) -> list[float]:
        exact, planned = self.of(row, "FP32", "accuracy"), self.of(row, plan, "accuracy")
        return [planned[seed] - exact[seed] for seed in planned if seed in exact]


def by_row_and_plan(plans: list[dict]) -> dict[tuple[str, str], dict]:
    """What was measured, by row and plan; of one that changes nothing: what exact takes."""
    found = {(p["row"], p["plan"]): p for p in plans}
    for (row, _), plan in found.items():
        if not plan["gradient_error"]:
            exact = found[row, HOT]["saved_bytes_exact"]
            plan |= {"gradient_error": "0", "eligible_speedup": "1", "eligible_speedup_ci95": "0"}
            plan |= {"saved_bytes_exact": exact, "saved_bytes_plan": exact}
    return found


def cells(task: Task, name: str, runs: Runs, plan: dict | None) -> str:
    accuracies = list(runs.of(task.name, name, "accuracy").values())
    loss = statistics.fmean(runs.of(task.name, name, "loss").values())
    mean, half = interval(accuracies)
    row = [name, str(len(accuracies)), f"{mean:.2f} ±{half:.2f} %"]
    if name == "FP32":
        row += ["", f"{loss:.4f}", "", "", ""]
    else:
        mean, half = interval(runs.differences(task.name, name))
        row += [f"{signed(mean)} ±{half:.2f}", f"{loss:.4f}"]
        if plan and not plan["eligible_speedup"]:
            row += [f"{float(plan['gradient_error']):.3f}", "simulated", "simulated"]
        elif plan:
            speed, half = (float(plan[f"eligible_speedup{end}"]) for end in ("", "_ci95"))
            saved = float(plan["saved_bytes_plan"]) / float(plan["saved_bytes_exact"])
            row += [
                f"{float(plan['gradient_error']):.3f}",
                f"{speed:.2f} ±{half:.2f}",
                f"{100 * saved:.1f} %",
            ]
        else:
            row += ["", "", ""]
    return "| " + " | ".join(row) + " |"


def table(task: Task, runs: Runs, plans: dict) -> str:
    names = ["FP32", *(preset.name for preset in PRESETS)]
    lines = [
        f"\n## {task.text} (`{task.name}`)\n",
        "| plan | seeds | accuracy | difference | loss | gradient error | backward | saved |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        if runs.of(task.name, name, "accuracy"):
            lines.append(cells(task, name, runs, plans.get((task.name, name))))
    return "\n".join(lines) + "\n"


def accuracy_verdict(mean: float, half: float) -> str:
    """Whether a difference in points stays within LIMIT below FP32."""
    if mean >= -LIMIT:
        whole = mean - half >= -LIMIT
        return "yes, with its whole interval" if whole else "yes, but the interval is wider"
    return "no, but the interval holds 0" if mean + half >= 0 else "no"


def cost_verdict(auto: dict, hot: dict) -> tuple[str, str]:
    """Backward time and saved bytes of exact's that a plan takes, beside `hot`'s."""
    slower = float(hot["eligible_speedup"]) - float(auto["eligible_speedup"])
    margin = math.hypot(*(float(p["eligible_speedup_ci95"]) for p in (auto, hot)))
    ms = [100 / float(p["eligible_speedup"]) for p in (auto, hot)]
    longer = "less" if slower < -margin else "same" if slower <= margin else "**more**"
    size = [float(p["saved_bytes_plan"]) for p in (auto, hot)]
    larger = "**more**" if size[0] > size[1] else "same" if size[0] == size[1] else "less"
    return (
        f"{ms[0]:.0f} %, {ms[1]:.0f} %: {longer}",
        f"{size[0] / 1e6:.3f} MB, {size[1] / 1e6:.3f} MB: {larger}",
    )


def auto_line(task: Task, name: str, runs: Runs, plans: dict) -> str:
    """How a plan does in a row: against FP32 in accuracy, against `hot` in time and bytes."""
    mean, half = interval(runs.differences(task.name, name))
    auto, hot = (plans.get((task.name, plan)) for plan in (name, HOT))
    costs = cost_verdict(auto, hot) if auto and hot else ("not measured",) * 2
    row = [f"`{task.name}`", f"`{name}`", f"{signed(mean)} ±{half:.2f}"]
    return "| " + " | ".join([*row, accuracy_verdict(mean, half), *costs]) + " |"


def summary(tasks: list[Task], runs: Runs, plans: dict) -> str:
    lines = [
        "\n## In short\n",
        f"Are `auto`'s plans within {LIMIT} points of FP32, and cost no more than `hot`?",
        "Backward time: all layers' but the head's, of exact's; `same`: within both intervals.\n",
        f"| row | plan | difference to FP32 | mean within {LIMIT} | backward time, `hot`'s | "
        "bytes kept, `hot`'s |",
        "|---|---|---|---|---|---|",
        *(
            auto_line(task, name, runs, plans)
            for task in tasks
            for name in (AUTO, AUTO_WITHIN)
            if runs.differences(task.name, name)
        ),
    ]
    return "\n".join(lines) + "\n"


def environment() -> str:
    program = ROOT / "build" / "hot-analyze"
    text = subprocess.run([program, "devices"], capture_output=True, text=True).stdout
    facts = dict(line.strip().split(None, 1) for line in text.splitlines() if " " in line.strip())
    return f"{facts.get('CPU', 'unknown CPU')}, torch {torch.__version__}"


def text(runs: list[dict], plans: list[dict]) -> str:
    """The whole page."""
    known = Runs(runs)
    by_key = by_row_and_plan(plans)
    tasks = [task for task in TASKS if known.of(task.name, "FP32", "accuracy")]
    rows = "\n".join(f"| `{t.name}` | {t.text} | {t.epochs} | {t.rate:g} |" for t in tasks)
    return (
        HEAD
        + summary(tasks, known, by_key)
        + "".join(table(task, known, by_key) for task in tasks)
        + HOW.format(batch=BATCH, rows=rows, environment=environment())
    )
