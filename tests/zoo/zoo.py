"""What a zoo entry is, and how it becomes a file."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

warnings.filterwarnings("ignore", category=FutureWarning)
warnings.filterwarnings("ignore", category=DeprecationWarning)

_TYPES = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.int64: "int64",
    torch.bool: "bool",
}


@dataclass
class Input:
    """One argument: its value in the grammar of `--input` (models/README.md) and an example."""

    name: str
    grammar: str
    value: Any


def tensor(name: str, *shape: int, dtype: torch.dtype = torch.float32) -> Input:
    """A tensor from N(0,1); booleans come out all true."""
    size = "x".join(map(str, shape)) if shape else "scalar"
    value = torch.ones(shape, dtype=dtype) if dtype is torch.bool else torch.randn(shape).to(dtype)
    return Input(name, f"{_TYPES[dtype]}:{size}", value)


def integers(name: str, *shape: int, high: int) -> Input:
    """An int64 tensor of 0..high."""
    size = "x".join(map(str, shape))
    return Input(name, f"int64:{size}:0..{high}", torch.randint(0, high + 1, shape))


def scalar(name: str, value: int | float | bool | str) -> Input:
    """A Python scalar or text."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return Input(name, f"{type(value).__name__}:{text}", value)


def none(name: str) -> Input:
    """None, for an optional argument."""
    return Input(name, "none", None)


def sequence(name: str, *items: Input, of: type = list) -> Input:
    """A list or a tuple of the items."""
    brackets = "[]" if of is list else "()"
    inner = ",".join(item.grammar for item in items)
    return Input(name, brackets[0] + inner + brackets[1], of(item.value for item in items))


def mapping(name: str, **items: Input) -> Input:
    """A dictionary with text keys."""
    inner = ",".join(f"{key}:{item.grammar}" for key, item in items.items())
    return Input(name, "{" + inner + "}", {key: item.value for key, item in items.items()})


@dataclass
class Case:
    """One model of the zoo.

    `make` builds the module and `inputs` its arguments, both after seeding. `how` is script, trace,
    freeze (script, then freeze) or ready (make returns a ScriptModule). `layers` maps each layer
    with a weight that runs to its calls, known by the name in the report; None where that
    isn't stated. The other fields name parameters: `zero` have an exactly zero gradient, `missing`
    none, `nonfinite` NaN or infinity, `sparse` a sparse one. `refuses_backward`: torch itself fails
    there, with `expect_words`.
    """

    name: str
    what: str
    make: Callable[[], nn.Module]
    inputs: Callable[[], list[Input]]
    how: str = "script"
    layers: dict[str, int] | None = None
    products: int | None = None
    zero: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    nonfinite: list[str] = field(default_factory=list)
    sparse: list[str] = field(default_factory=list)
    refuses_backward: bool = False
    method: str = "forward"
    task: str | None = None
    specification: bool = True
    expect_exit: int = 0
    expect_words: list[str] = field(default_factory=list)

    def flags(self) -> list[str]:
        """What the command line needs besides the file."""
        return [] if self.method == "forward" else ["--method", self.method]


def both(case: Case) -> list[Case]:
    """The case scripted, and once more traced as NAME_traced."""
    values = dict(case.__dict__)
    values.update(name=case.name + "_traced", how="trace", specification=False)
    return [case, Case(**values)]


def build(case: Case, seed: int) -> tuple[torch.jit.ScriptModule, list[Input]]:
    """The TorchScript module of a case and its inputs."""
    torch.manual_seed(seed)
    inputs = case.inputs()
    module = case.make()
    if case.how == "ready":
        return module, inputs
    if case.how == "script":
        return torch.jit.script(module), inputs
    if case.how == "freeze":
        return torch.jit.freeze(torch.jit.script(module.eval())), inputs
    values = tuple(item.value for item in inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(module.eval(), values, check_trace=False, strict=False), inputs


def write(case: Case, folder: Path, seed: int, specification: bool = True) -> dict[str, Any]:
    """Writes NAME.pt and returns its line of the manifest."""
    module, inputs = build(case, seed)
    extra: dict[str, str] = {}
    if specification and case.specification:
        listed = [{"name": item.name, "spec": item.grammar} for item in inputs]
        content: dict[str, Any] = {"version": 1, "inputs": listed}
        if case.task:
            content["task"] = case.task
        extra["hot_inputs.json"] = json.dumps(content)
    file = folder / f"{case.name}.pt"
    torch.jit.save(module, str(file), _extra_files=extra)
    return {
        "name": case.name,
        "file": file.name,
        "what": case.what,
        "how": case.how,
        "specification": bool(extra),
        "inputs": [f"{item.name}={item.grammar}" for item in inputs],
        "flags": case.flags(),
        "layers": case.layers,
        "products": case.products,
        "zero": case.zero,
        "missing": case.missing,
        "nonfinite": case.nonfinite,
        "sparse": case.sparse,
        "expect_exit": case.expect_exit,
        "expect_words": case.expect_words,
    }


def first_tensor(output: Any) -> Tensor | None:
    """The first floating tensor with a gradient inside an output of any shape."""
    if isinstance(output, Tensor):
        return output if output.requires_grad else None
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (list, tuple)):
        for item in output:
            found = first_tensor(item)
            if found is not None:
                return found
    return None
