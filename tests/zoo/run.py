#!/usr/bin/env python3
"""Runs hot-analyze on the zoo and compares what it does with the manifests.

    tests/zoo/run.py [--tool PROGRAM] [--whole POLICY] [--bad-only | --models-only] [NAME…]

Makes the files in a temporary folder. Each model is inspected, or with --whole analysed to the
verification by that policy (auto leaves most of these small products exact; hot puts the kernels
into every layer), and must end with the exit code of the manifest: with the layers and calls that
it states, or with one line on stderr that holds its words. Each bad file must be refused in one
line with its words.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RAW = ("what():", "Traceback", "Exception raised from", "terminate called", "c10::Error", "miniz")
# Threads that spin beside other tests cost minutes; the models are small.
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
OUTCOMES = ("passed", "slower", "unsupported", "over-limit", "not-run")


def make(script: str, folder: Path, names: list[str]) -> list[dict[str, Any]]:
    """Writes the files and returns the manifest's lines."""
    folder.mkdir()
    command = [sys.executable, "-W", "ignore", str(HERE / script), "--out", str(folder), *names]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{script}: {run.stderr.strip() or run.stdout.strip()}")
    return next(iter(json.loads((folder / "manifest.json").read_text(encoding="utf-8")).values()))


def refusal_problems(run: subprocess.CompletedProcess[str], words: list[str]) -> list[str]:
    """A refusal is one line with the words, nothing on stdout, no raw exception text."""
    lines = run.stderr.strip().splitlines()
    if not lines:
        return ["nothing on stderr"]
    problems = [f"says {raw!r}" for raw in RAW if raw in run.stderr]
    problems += [
        f"doesn't say {word!r}" for word in words if word.lower() not in run.stderr.lower()
    ]
    if len(lines) > 1:
        problems.append(f"{len(lines)} lines on stderr")
    if run.stdout:
        problems.append("something on stdout")
    return [f"{problem}: {lines[-1]}" for problem in problems]


def layer_problems(entry: dict[str, Any], trace: dict[str, Any]) -> list[str]:
    """Layers and products that the manifest states, against the trace."""
    weighted = {layer["name"]: layer["calls"] for layer in trace["layers"] if layer["weight_shape"]}
    products = sum(
        layer["calls"]
        for layer in trace["layers"]
        if not layer["weight_shape"] and layer["kind"] in ("matmul", "attention")
    )
    problems = []
    if entry["layers"] is not None and weighted != entry["layers"]:
        problems.append(f"layers {weighted}, expected {entry['layers']}")
    if entry["products"] is not None and products != entry["products"]:
        problems.append(f"{products} products of activations, expected {entry['products']}")
    return problems


def check(tool: Path, folder: Path, entry: dict[str, Any], policy: str | None) -> list[str]:
    command = [str(tool)] + (["--policy", policy] if policy else ["inspect"])
    command += [
        str(folder / entry["file"]),
        *entry.get("flags", []),
        "--json",
        "-",
        "--no-progress",
    ]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=300, env=ENVIRONMENT
        )
    except subprocess.TimeoutExpired:
        return ["ran longer than 300 s"]
    if run.returncode != entry["expect_exit"]:
        last = (run.stderr.strip().splitlines() or ["nothing on stderr"])[-1]
        return [f"exit code {run.returncode}, expected {entry['expect_exit']}: {last[:400]}"]
    if run.returncode:
        return refusal_problems(run, entry["expect_words"])
    report = json.loads(run.stdout)
    problems = layer_problems(entry, report["trace"]) if "layers" in entry else []
    problems += [f"says {raw!r}" for raw in RAW if raw in run.stderr]
    if policy and (outcome := report["verification"]["outcome"]) not in OUTCOMES:
        problems.append(f"verification {outcome}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="as make.py and make_bad.py take them"
    )
    parser.add_argument("--tool", type=Path, default=HERE.parents[1] / "build" / "hot-analyze")
    parser.add_argument("--whole", metavar="POLICY", help="the whole analysis in place of inspect")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--bad-only", action="store_true")
    what.add_argument("--models-only", action="store_true")
    arguments = parser.parse_args()
    if not arguments.tool.is_file():
        parser.error(f"{arguments.tool}: no such program; build it first")

    failed = total = 0
    with tempfile.TemporaryDirectory() as name:
        sets = [] if arguments.bad_only else [("make.py", Path(name) / "models")]
        sets += [] if arguments.models_only else [("make_bad.py", Path(name) / "bad")]
        for script, folder in sets:
            for entry in make(script, folder, arguments.names):
                problems = check(arguments.tool, folder, entry, arguments.whole)
                total += 1
                failed += bool(problems)
                for problem in problems:
                    print(f"{entry['name']} ({entry['what']}): {problem}", flush=True)
    print(f"{total - failed} of {total} as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
