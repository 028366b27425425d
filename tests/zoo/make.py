#!/usr/bin/env python3
"""Writes the zoo: small TorchScript models for every odd case, with a manifest.json.

    tests/zoo/make.py --out FOLDER [NAME…] [--seed N] [--no-specification] [--check] [--list]

NAME may end in * . Without names everything is written.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cases import (  # noqa: E402
    attention,
    conv,
    gradients,
    language,
    linear,
    precision,
    sharing,
    signatures,
    state,
)
from zoo import Case, first_tensor, write  # noqa: E402

MODULES = (linear, conv, attention, sharing, state, gradients, precision, signatures, language)


def all_cases() -> list[Case]:
    """Every case; names are unique."""
    cases = [case for module in MODULES for case in module.CASES]
    names = [case.name for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SystemExit(f"zoo: repeated names: {', '.join(sorted(repeated))}")
    return cases


def check(case: Case, file: Path, seed: int) -> list[str]:
    """What the manifest says of the gradients and the loaded file doesn't do, in torch itself."""
    torch.manual_seed(seed)
    values = [item.value for item in case.inputs()]
    model = torch.jit.load(str(file), map_location="cpu").train()
    output = first_tensor(getattr(model, case.method)(*values))
    if output is not None:
        try:
            (output * torch.randn(output.shape).to(output.dtype)).sum().backward()
        except RuntimeError as error:
            told = all(word in str(error) for word in case.expect_words)
            return [] if case.expect_exit and told else [f"{case.name}: {error}"]
        if case.refuses_backward:
            return [f"{case.name}: the backward pass doesn't fail"]
    problems = []
    for name, parameter in model.named_parameters():
        gradient = parameter.grad
        facts = {
            "missing": gradient is None,
            "sparse": gradient is not None and gradient.is_sparse,
            "nonfinite": gradient is not None
            and not gradient.is_sparse
            and not gradient.isfinite().all(),
            "zero": gradient is not None and not gradient.is_sparse and not gradient.any(),
        }
        for fact, holds in facts.items():
            if bool(holds) != (name in getattr(case, fact)):
                problems.append(f"{case.name}: {name} {'is' if holds else 'is not'} {fact}")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cases to write; * stands for anything")
    parser.add_argument("--out", type=Path, help="folder to write into")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--no-specification", action="store_true", help="leave hot_inputs.json out everywhere"
    )
    parser.add_argument(
        "--check", action="store_true", help="run each file in torch and compare with the manifest"
    )
    parser.add_argument("--list", action="store_true", help="print the names and end")
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    cases = all_cases()
    wanted = arguments.names or ["*"]
    for pattern in wanted:
        if not any(fnmatch.fnmatchcase(case.name, pattern) for case in cases):
            parser.error(f"no case named {pattern}; --list prints them")
    cases = [case for case in cases if any(fnmatch.fnmatchcase(case.name, p) for p in wanted)]
    if arguments.list:
        print("\n".join(f"{case.name:34}{case.what}" for case in cases))
        return
    if arguments.out is None:
        parser.error("--out FOLDER is needed")

    arguments.out.mkdir(parents=True, exist_ok=True)
    manifest, problems = [], []
    for case in cases:
        manifest.append(write(case, arguments.out, arguments.seed, not arguments.no_specification))
        if arguments.check:
            problems += check(case, arguments.out / f"{case.name}.pt", arguments.seed)
    (arguments.out / "manifest.json").write_text(json.dumps({"models": manifest}, indent=1) + "\n")
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(manifest)} models in {arguments.out}")
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
