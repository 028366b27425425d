#!/usr/bin/env python3
"""Runs the fidelity study; see scripts/fidelity."""

from __future__ import annotations

import argparse
import csv
import fnmatch
import itertools
import multiprocessing
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import hot_apply  # noqa: E402
import page  # noqa: E402
import torch  # noqa: E402
from plans import FOLDER, PRESETS, Preset, measured, plan_of  # noqa: E402
from tasks import TASKS, Task  # noqa: E402
from training import run  # noqa: E402

RUNS = ROOT / "docs" / "fidelity.csv"
PLANS = ROOT / "docs" / "fidelity_plans.csv"
RUN_COLUMNS = ["row", "plan", "seed", "accuracy", "loss", "seconds"]
METRICS = [
    "eligible_exact_ms",
    "eligible_plan_ms",
    "eligible_speedup",
    "saved_bytes_exact",
    "saved_bytes_plan",
    "gradient_error",
]
PLAN_COLUMNS = ["row", "plan", *METRICS, "eligible_speedup_ci95"]


def read(path: Path) -> list[dict]:
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def write(path: Path, columns: list[str], rows: list[dict]) -> None:
    temporary = path.with_suffix(".tmp")
    with temporary.open("w") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)


Work = tuple[Task, Preset | None, int]


def wanted(tasks: list, plans: str, seeds: int) -> Iterator[Work]:
    """Task, preset (None: FP32) and seed of every run, one seed after the other."""
    for seed in range(seeds):
        for task in tasks:
            for preset in [None, *PRESETS]:
                if preset is None or fnmatch.fnmatch(preset.name, plans):
                    yield task, preset, seed


def one_run(work: Work) -> dict:
    """A row of RUNS; in a process of its own, whose plans are there already."""
    task, preset, seed = work
    result = run(task, plan_of(task, preset) if preset else None, seed)
    figures = {key: f"{value:.6g}" for key, value in result.items()}
    return {"row": task.name, "plan": preset.name if preset else "FP32", "seed": seed, **figures}


def forget(tasks: set[str], plans: str) -> None:
    """Runs, figures and plans of these rows and presets; FP32's too where all presets are meant."""

    def meant(row: dict) -> bool:
        own = row["plan"] != "FP32" or plans == "*"
        return row["row"] in tasks and own and (plans == "*" or fnmatch.fnmatch(row["plan"], plans))

    for path, columns in ((RUNS, RUN_COLUMNS), (PLANS, PLAN_COLUMNS)):
        write(path, columns, [row for row in read(path) if not meant(row)])
    for file in FOLDER.glob("*.json"):
        task, preset = file.name.split(".")[:2]
        if task in tasks and fnmatch.fnmatch(preset, plans):
            file.unlink()


def start_process() -> None:
    warnings.filterwarnings("ignore", category=FutureWarning)
    torch.set_num_threads(1)
    hot_apply.load_ops()


def train(tasks: list, plans: str, seeds: int, jobs: int) -> None:
    """All runs that aren't there yet, `jobs` at a time; each is written down as it ends."""
    runs = read(RUNS)
    done = {(r["row"], r["plan"], int(r["seed"])) for r in runs}
    works = []
    for task, preset, seed in wanted(tasks, plans, seeds):
        name = preset.name if preset else "FP32"
        if (task.name, name, seed) not in done:
            works.append((task, preset, seed))
    with multiprocessing.get_context("spawn").Pool(jobs, start_process) as pool:
        for row in pool.imap_unordered(one_run, works):
            runs.append(row)
            runs.sort(key=lambda r: (r["row"], r["plan"], int(r["seed"])))
            write(RUNS, RUN_COLUMNS, runs)
            print(
                f"{row['row']}, {row['plan']}, seed {row['seed']}: {row['accuracy']} %", flush=True
            )


def measure(tasks: list, plans: str, again: bool) -> None:
    """Times and bytes of the rows' plans."""
    rows = read(PLANS)
    if again:
        names = {task.name for task in tasks}
        rows = [r for r in rows if r["row"] not in names or not fnmatch.fnmatch(r["plan"], plans)]
    done = {(r["row"], r["plan"]) for r in rows}
    for task, preset in itertools.product(tasks, PRESETS):
        if (task.name, preset.name) in done or not fnmatch.fnmatch(preset.name, plans):
            continue
        total = measured(task, preset)
        row = {"row": task.name, "plan": preset.name}
        # What simulates a format has no times.
        row |= {name: f"{total[name]['value']:.9g}" for name in METRICS if name in total}
        if "eligible_speedup" in total:
            row["eligible_speedup_ci95"] = f"{total['eligible_speedup']['ci95']:.3g}"
        rows.append(row)
        write(PLANS, PLAN_COLUMNS, rows)


def make_plans(tasks: list, plans: str) -> None:
    """Makes every plan that isn't there yet, alone on the machine since auto's depends on times."""
    for task, preset in itertools.product(tasks, PRESETS):
        if fnmatch.fnmatch(preset.name, plans):
            plan_of(task, preset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rows", default="*")
    parser.add_argument("--plans", default="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--measure", action="store_true")
    arguments = parser.parse_args()
    start_process()
    tasks = [task for task in TASKS if fnmatch.fnmatch(task.name, arguments.rows)]
    if not tasks:
        names = ", ".join(task.name for task in TASKS)
        sys.exit(f"scripts/fidelity: no row is called {arguments.rows}; the rows are {names}")
    if arguments.again:
        forget({task.name for task in tasks}, arguments.plans)
    make_plans(tasks, arguments.plans)
    if not arguments.page:
        if not arguments.measure:
            train(tasks, arguments.plans, arguments.seeds, arguments.jobs)
        measure(tasks, arguments.plans, arguments.measure)
    target = ROOT / "docs" / "fidelity.md"
    target.write_text(page.text(read(RUNS), read(PLANS)))
    print(f"wrote {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
