#!/usr/bin/env python3
"""What an analysis costs, how well it predicts, and that `auto` is never worse than a whole method.

usage: bench_analysis.py HOT_ANALYZE NAME=MODEL[,HOT-ANALYZE OPTIONS...] ...

For each model: a run with default options; then for each method the method alone, `auto` at its
measured error, and `auto` at its measured time. Exit code 1 where
`auto` is worse by more than the intervals of the measurement.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

METHODS = ("hot", "hlq", "int8")


def run(program, model, options):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [program, model, *options, "--json", str(report), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not report.exists():
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        return json.loads(report.read_text())


def value(metrics, name):
    return metrics.get(name, {}).get("value", float("nan"))


def half(metrics, name):
    return metrics.get(name, {}).get("ci95") or 0


def cost_row(name, report):
    metrics = report["run"]["metrics"]
    stages = ", ".join(
        f"{key.removesuffix('_seconds')} {value(metrics, key):.1f}"
        for key in metrics
        if key.endswith("_seconds")
    )
    print(
        f"{name:<10} {report['run']['elapsed_seconds']:7.1f} s",
        f"{value(metrics, 'run_to_step_ratio'):6.1f} steps",
        f"{value(metrics, 'run_to_step_per_batch'):6.2f} a batch",
        f"{value(metrics, 'run_peak_bytes') / 1e9:6.2f} GB",
        f"{value(metrics, 'run_to_step_memory'):5.2f} of a step's   ({stages})",
    )


def prediction_row(name, report):
    predicted, total = report["plan"]["predicted"], report["verification"]["total"]
    for what, p, m in (
        ("gradient error", "predicted_error", "gradient_error"),
        ("backward ms", "predicted_ms", "eligible_plan_ms"),
        ("exact backward ms", "predicted_exact_ms", "eligible_exact_ms"),
        ("saved bytes", "predicted_saved_bytes", "saved_bytes_plan"),
    ):
        a, b = value(predicted, p), value(total, m)
        if b > 0:
            print(
                f"{name:<10} {what:<18} predicted {a:<12.5g} measured {b:<12.5g}",
                f"{100 * (a / b - 1):+6.1f} %",
            )


def totals(program, model, options):
    return run(program, model, options)["verification"]["total"]


def longer(auto, uniform):
    """Whether auto's backward pass takes longer, by more than both intervals."""
    name = "eligible_plan_ms"
    margin = half(uniform, name) + half(auto, name)
    return value(auto, name) > value(uniform, name) + margin


def contest(program, name, model, options):
    """One row for each method; the number of limits at which auto is worse."""
    worse = 0
    for method in METHODS:
        uniform = totals(program, model, [*options, "--policy", method])
        error, ms = value(uniform, "gradient_error"), value(uniform, "eligible_plan_ms")
        same_error = totals(program, model, [*options, "--max-error", f"{error:.6g}"])
        in_time = ["--max-error", "1e6", "--time-budget", f"{ms:.6g}ms"]
        same_time = totals(program, model, [*options, *in_time])
        slower, late = longer(same_error, uniform), longer(same_time, uniform)
        larger = value(same_time, "gradient_error") > error * 1.001
        worse += slower + larger + late
        print(
            f"{name:<10} {method:<4} error {error:<8.3g} {ms:8.1f} ms | at its error auto has",
            f"{value(same_error, 'gradient_error'):<8.3g}",
            f"{value(same_error, 'eligible_plan_ms'):8.1f} ms,",
            "LONGER" if slower else "no longer",
            f"| at its time {value(same_time, 'gradient_error'):<8.3g}",
            f"{value(same_time, 'eligible_plan_ms'):8.1f} ms,",
            ("LARGER" if larger else "no larger") + (", LONGER" if late else ""),
        )
    return worse


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program = sys.argv[1]
    models = {}
    for argument in sys.argv[2:]:
        name, rest = argument.split("=", 1)
        model, *options = rest.split(",")
        models[name] = (model, options)
    reports = {name: run(program, model, options) for name, (model, options) in models.items()}
    print("cost of an analysis (measured)")
    for name, report in reports.items():
        cost_row(name, report)
    print("\npredicted and measured, whole plan")
    for name, report in reports.items():
        prediction_row(name, report)
    print("\nauto beside whole methods (measured; longer: by more than both intervals)")
    worse = sum(contest(program, name, model, options) for name, (model, options) in models.items())
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
