#!/usr/bin/env python3
"""Exports a model to TorchScript with its input specification inside.

NAME is a model of torchvision (resnet50, vit_b_16), timm:NAME, or module:factory for one of your
own, importable from the current folder. Weights are random unless --weights gives a state_dict;
nothing is downloaded.

    models/export.py resnet50 -o resnet50.pt
    models/export.py timm:vit_tiny_patch16_224 -o vit_tiny.pt --batch 4
    models/export.py mymodels:TinyNet --arg width=64 --input 8x3x32x32 -o tiny.pt
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from models.exporter.errors import EnvironmentFailure, ExportError, UsageError, one_line  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="export.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "name", metavar="NAME", help="torchvision model, timm:NAME or module:factory"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="file to write, e.g. model.pt",
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SPEC",
        help="[NAME=]8x3x224x224, int64:8x128:0..30521, …; once an argument (models/README.md)",
    )
    parser.add_argument(
        "--batch", type=int, default=0, help="first dimension of every input (default: 8)"
    )
    parser.add_argument(
        "--weights", type=Path, metavar="FILE", help="state_dict as .pt, .pth or .safetensors"
    )
    parser.add_argument(
        "--arg", action="append", default=[], metavar="KEY=VALUE", help="argument of the factory"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of weights and example values (default: 0)"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--script", dest="how", action="store_const", const="script", help="script, or fail"
    )
    how.add_argument(
        "--trace",
        dest="how",
        action="store_const",
        const="trace",
        help="trace instead of scripting",
    )
    parser.add_argument(
        "--freeze",
        action="store_true",
        help="freeze: weights become constants, BatchNorm is folded",
    )
    parser.add_argument(
        "--no-check",
        dest="check",
        action="store_false",
        help="skip the training step that checks FILE",
    )
    parser.set_defaults(how="auto")
    return parser.parse_args(words)


def check_output(target: Path, force: bool) -> None:
    """Before any work: the file may be written."""
    if target.is_dir():
        raise UsageError(f"{target}: is a directory; give a file name")
    if target.exists() and not force:
        raise UsageError(f"{target}: exists already; --force overwrites it")
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: no such directory; make it first")
    if not os.access(target.parent, os.W_OK):
        raise EnvironmentFailure(f"{target.parent}: no permission to write there")


def choose_inputs(
    given: list[tuple[str, Any]], known: list[tuple[str, Any]], names: list[str], batch: int
) -> list[Any]:
    """What the command line gives, else what the source knows, under forward's argument names."""
    from models.exporter.inputs import with_batch

    if not given and not known and names:
        raise UsageError(
            f"the inputs of {', '.join(names)} aren't known; give --input, e.g. --input 8x3x224x224"
        )
    chosen = given or [
        (names[i] if i < len(names) else name, spec) for i, (name, spec) in enumerate(known)
    ]
    used = {name for name, _ in chosen if name}
    free = (name for name in names if name not in used)
    named = []
    for name, spec in chosen:
        name = name or next(free, "")
        if name not in names:
            raise UsageError(
                f"forward takes {', '.join(names) or 'nothing'}; there is no argument for "
                f"--input {name or spec.text()}"
            )
        named.append((name, spec))
    return with_batch(named, batch) if batch else named


def export(arguments: argparse.Namespace) -> None:
    check_output(arguments.output, arguments.force)
    if arguments.batch < 0:
        raise UsageError("--batch must be positive")
    try:
        import torch
    except ImportError as error:
        raise EnvironmentFailure(
            f"torch is missing ({one_line(error)}): run scripts/setup, then "
            ".venv/bin/python models/export.py"
        ) from error
    from models.exporter import convert, inputs, sources, weights

    given = [inputs.parse_input(text) for text in arguments.input]
    torch.manual_seed(arguments.seed)
    source = sources.build(arguments.name, arguments.arg)
    notes = []
    if arguments.weights:
        weights.load(source.model, arguments.weights)
    else:
        changed = weights.replace_zeros(source.model)
        if changed:
            names = ", ".join(changed[:3]) + (
                f" and {len(changed) - 3} more" if len(changed) > 3 else ""
            )
            notes.append(
                "small random values in place of all zeros, which would make every gradient "
                f"behind them zero: {names}"
            )

    specs = choose_inputs(
        given, source.inputs, convert.argument_names(source.model), arguments.batch
    )
    generator = torch.Generator().manual_seed(arguments.seed)
    values = {name: inputs.example(spec, generator) for name, spec in specs}
    specification = {"version": 1, "inputs": [inputs.to_json(name, spec) for name, spec in specs]}
    if source.task:
        specification["task"] = source.task
    if source.mean and source.std:
        specification |= {
            "mean": [float(v) for v in source.mean],
            "std": [float(v) for v in source.std],
        }

    converted = convert.convert(source.model, values, arguments.how, arguments.freeze)
    count = sum(p.numel() for p in source.model.parameters())
    with convert.Draft(arguments.output) as draft:
        draft.write(converted.module, specification)
        if arguments.check and not arguments.freeze:
            notes += convert.check(draft.file, values, arguments.seed)
        draft.publish()

    origin = (
        f"weights from {arguments.weights}"
        if arguments.weights
        else f"random weights (seed {arguments.seed})"
    )
    print(f"{arguments.name}: {converted.how}, {count:,} parameters, {origin}")
    for name, spec in specs:
        print(f"input: {name}={spec.text()}")
    for note in converted.notes + notes:
        print(f"note: {note}")
    print(f"wrote {arguments.output} ({arguments.output.stat().st_size / 1e6:.1f} MB)")
    print(f"next: {os.path.relpath(ROOT / 'scripts' / 'analyze')} {arguments.output}")


def main(argv: list[str]) -> int:
    """Returns the exit code, as hot-analyze's: 2 wrong usage, 3 the model can't be used, 4 the
    environment failed."""
    arguments = parse_arguments(argv[1:])
    warnings.filterwarnings("ignore")
    try:
        export(arguments)
    except ExportError as error:
        print(f"export.py: {error}", file=sys.stderr)
        return error.code
    except MemoryError:
        print("export.py: out of memory: a smaller --batch or model may fit", file=sys.stderr)
        return EnvironmentFailure.code
    except KeyboardInterrupt:
        print("export.py: interrupted; nothing was written", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
