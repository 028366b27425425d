#!/usr/bin/env python3
"""Compares hot-analyze's FLOPs of grad_input + grad_weight with torch's own count of the backward.

    tests/flops/compare_flops.py [MODEL…] [--tool build/hot-analyze] [--peer-only] [--write]

For each model: the eager backward under FlopCounterMode, with the corrections of README.md, against
expected.json and against `hot-analyze inspect` on the same model as TorchScript. Every number must
agree to the operation. Without MODEL all are compared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]
import peer  # noqa: E402

from models import MODELS, Model  # noqa: E402

EXPECTED = Path(__file__).resolve().parent / "expected.json"
FIELDS = ("raw", "attention", "grouped", "corrected")


def peer_counts(model: Model) -> tuple[torch.nn.Module, dict[str, int]]:
    torch.manual_seed(0)
    module = model.make()
    count = peer.count(module, (model.example(),))
    return module, {field: getattr(count, field) for field in FIELDS}


def tool_counts(tool: Path, module: torch.nn.Module, model: Model, folder: Path) -> dict[str, Any]:
    """The trace of `hot-analyze inspect` on the scripted module."""
    file = folder / "model.pt"
    torch.jit.save(torch.jit.script(module), str(file))
    command = [str(tool), "inspect", str(file), "--input", model.specification(), "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)["trace"]


def path_flops(layer: dict[str, Any]) -> int:
    gemms = layer["gemms"]
    return sum(
        int((gemms.get(path) or {}).get("flops", 0)) for path in ("grad_input", "grad_weight")
    )


def compare(
    name: str, model: Model, tool: Path | None, expected: dict[str, Any] | None
) -> list[str]:
    """Prints one line and returns what doesn't agree."""
    module, counted = peer_counts(model)
    problems = []
    if expected is not None:
        problems += [
            f"{name}: torch counts {counted[f]} ({f}), expected.json says {expected[f]}"
            for f in FIELDS
            if counted[f] != expected[f]
        ]
    line = f"{name:22}{counted['raw']:>18,}{counted['attention']:>16,}"
    line += f"{-counted['grouped']:>18,}{counted['corrected']:>18,}"
    if tool:
        with tempfile.TemporaryDirectory() as folder:
            trace = tool_counts(tool, module, model, Path(folder))
        total = sum(map(path_flops, trace["layers"]))
        line += f"{total:>18,}"
        if total != counted["corrected"]:
            problems.append(
                f"{name}: hot-analyze counts {total}, torch {counted['corrected']} "
                f"({total - counted['corrected']:+})"
            )
            problems += [
                f"  {layer['name']} ({layer['kind']}): {path_flops(layer)}"
                for layer in trace["layers"]
            ]
    print(line, flush=True)
    return problems


def write_expected(names: list[str]) -> None:
    """Pins torch's counts."""
    pinned = {name: peer_counts(MODELS[name])[1] for name in names}
    EXPECTED.write_text(
        json.dumps({"torch": torch.__version__.split("+")[0], "models": pinned}, indent=1) + "\n"
    )
    print(f"wrote {EXPECTED}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--tool", type=Path, default=ROOT / "build" / "hot-analyze")
    parser.add_argument(
        "--peer-only", action="store_true", help="compare torch with expected.json alone"
    )
    parser.add_argument(
        "--write", action="store_true", help="write expected.json from torch's counts"
    )
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for name in arguments.models:
        if name not in MODELS:
            parser.error(f"no model {name}; there are {', '.join(MODELS)}")
    names = arguments.models or list(MODELS)
    if arguments.write:
        write_expected(list(MODELS))
        return 0
    expected = json.loads(EXPECTED.read_text())["models"]
    tool = None if arguments.peer_only else arguments.tool
    if tool and not tool.is_file():
        parser.error(f"{tool}: no such program; build it, or say --peer-only")

    heads = ["FlopCounterMode", "+ attention", "- grouped", "torch, corrected"] + [
        "hot-analyze"
    ] * bool(tool)
    print(
        f"{'FLOPs of one backward':22}"
        + "".join(f"{h:>{w}}" for h, w in zip(heads, (18, 16, 18, 18, 18)))
    )
    problems = [p for name in names for p in compare(name, MODELS[name], tool, expected.get(name))]
    print("\n".join(problems) if problems else "all equal")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
