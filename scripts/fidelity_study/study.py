#!/usr/bin/env python3
"""Runs the fidelity study; see scripts/fidelity."""

from __future__ import annotations

import argparse
import csv
import fnmatch
import shutil
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import hot_apply  # noqa: E402
import page  # noqa: E402
import torch  # noqa: E402
from plans import FOLDER, PRESETS, Missing, measured, plan_of  # noqa: E402
from tasks import TASKS  # noqa: E402
from training import run  # noqa: E402

RUNS = ROOT / "docs" / "fidelity.csv"
PLANS = ROOT / "docs" / "fidelity_plans.csv"
RUN_COLUMNS = ["row", "plan", "seed", "accuracy", "loss", "seconds"]
METRICS = [
    "exact_ms",
    "plan_ms",
    "speedup",
    "saved_bytes_exact",
    "saved_bytes_plan",
    "gradient_error",
]
PLAN_COLUMNS = ["row", "plan", "policy", *METRICS, "speedup_ci95"]


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


def train(tasks: list, plans: str, seeds: int, missing: dict[str, str]) -> None:
    """All runs that aren't there yet, one seed after the other."""
    runs = read(RUNS)
    done = {(r["row"], r["plan"], int(r["seed"])) for r in runs}
    for seed in range(seeds):
        for task in tasks:
            for preset in [None, *(p for p in PRESETS if p.fits(task))]:
                name = preset.name if preset else "FP32"
                wanted = preset is None or fnmatch.fnmatch(name, plans)
                if (task.name, name, seed) in done or name in missing or not wanted:
                    continue
                try:
                    plan = plan_of(task, preset)[0] if preset else None
                except Missing as error:
                    missing[name] = str(error)
                    continue
                result = run(task, plan, seed)
                figures = {key: f"{value:.6g}" for key, value in result.items()}
                runs.append({"row": task.name, "plan": name, "seed": seed, **figures})
                write(RUNS, RUN_COLUMNS, runs)
                print(f"{task.name}, {name}, seed {seed}: {result['accuracy']:.2f} %", flush=True)


def measure(tasks: list, again: bool, missing: dict[str, str]) -> None:
    """Times and bytes of the rows' plans."""
    rows = read(PLANS)
    if again:
        rows = [r for r in rows if r["row"] not in {task.name for task in tasks}]
    done = {(r["row"], r["plan"]) for r in rows}
    for task in tasks:
        for preset in PRESETS:
            if (task.name, preset.name) in done or preset.name in missing or not preset.fits(task):
                continue
            try:
                _, own = plan_of(task, preset)
            except Missing as error:
                missing[preset.name] = str(error)
                continue
            total = measured(task, preset)
            row = {"row": task.name, "plan": preset.name, "policy": "own" if own else "uniform"}
            row |= {name: f"{total[name]['value']:.6g}" for name in METRICS if name in total}
            if "speedup" in total:
                row["speedup_ci95"] = f"{total['speedup'].get('ci95', float('nan')):.3g}"
            rows.append(row)
            write(PLANS, PLAN_COLUMNS, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", default="*")
    parser.add_argument("--plans", default="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--measure", action="store_true")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning)
    torch.set_num_threads(1)
    hot_apply.load_ops()
    if arguments.again:
        for path in (RUNS, PLANS):
            path.unlink(missing_ok=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
    tasks = [task for task in TASKS if fnmatch.fnmatch(task.name, arguments.rows)]
    if not tasks:
        names = ", ".join(task.name for task in TASKS)
        sys.exit(f"scripts/fidelity: no row is called {arguments.rows}; the rows are {names}")
    missing: dict[str, str] = {}
    for preset in PRESETS:  # says at once what isn't there
        try:
            plan_of(tasks[0], preset)
        except Missing as error:
            missing[preset.name] = str(error)
            print(f"{preset.name}: not in this build ({error})", flush=True)
    if not arguments.page:
        if not arguments.measure:
            train(tasks, arguments.plans, arguments.seeds, missing)
        measure(tasks, arguments.measure, missing)
    target = ROOT / "docs" / "fidelity.md"
    target.write_text(page.text(read(RUNS), read(PLANS), missing))
    print(f"wrote {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
