"""From a module to TorchScript, one training step as a check, and the file."""

from __future__ import annotations

import inspect
import json
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .errors import EnvironmentFailure, ModelError, one_line


@dataclass
class Converted:
    """A TorchScript module, how it was made, and what is worth saying."""

    module: torch.jit.ScriptModule
    how: str
    notes: list[str]


def argument_names(model: nn.Module) -> list[str]:
    """The names of forward's arguments."""
    return [name for name in inspect.signature(model.forward).parameters]


def convert(model: nn.Module, values: dict[str, Any], how: str, freeze: bool) -> Converted:
    """`how`: script, trace, or auto (script, else trace). In training mode, or frozen in evaluation
    mode. Raises ModelError with the reason where neither works."""
    model.train(not freeze)
    notes = []
    if how == "trace":
        module, made = _trace(model, values, notes), "traced"
    else:
        try:
            module, made = torch.jit.script(model), "scripted"
        except Exception as error:
            if how == "script":
                raise ModelError(f"can't be scripted: {one_line(error)}; try --trace") from error
            notes.append(f"traced, since it can't be scripted: {one_line(error)}")
            module, made = _trace(model, values, notes), "traced"
    if freeze:
        try:
            module, made = torch.jit.freeze(module), made + " and frozen"
        except Exception as error:
            raise ModelError(f"can't be frozen: {one_line(error)}; leave --freeze out") from error
    return Converted(module, made, notes)


def _trace(model: nn.Module, values: dict[str, Any], notes: list[str]) -> torch.jit.ScriptModule:
    """Traces with the buffers (running statistics) put back afterwards."""
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            module = torch.jit.trace(
                model, example_kwarg_inputs=values, check_trace=False, strict=False
            )
        except Exception as error:
            raise ModelError(f"can't be traced: {one_line(error)}; does --input fit?") from error
    with torch.no_grad():
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])
    fixed = [w for w in caught if issubclass(w.category, torch.jit.TracerWarning)]
    if fixed:
        notes.append(
            f"tracing fixed {len(fixed)} values that may depend on the input, first: "
            f"{one_line(fixed[0].message)}"
        )
    return module


def _projection(output: Any, generator: torch.Generator) -> Tensor | None:
    """Sum of all outputs with a gradient, each times a fixed random tensor."""
    if isinstance(output, Tensor):
        if not output.requires_grad:
            return None
        return (output * torch.randn(output.shape, generator=generator).to(output.dtype)).sum()
    items = (
        output.values()
        if isinstance(output, dict)
        else output
        if isinstance(output, (list, tuple))
        else []
    )
    terms = [term for term in (_projection(item, generator) for item in items) if term is not None]
    return torch.stack([term.float() for term in terms]).sum() if terms else None


def check(file: Path, values: dict[str, Any], seed: int) -> list[str]:
    """One forward and backward pass of the written file; returns notes on its gradients. Raises
    ModelError where it doesn't run."""
    module = torch.jit.load(str(file), map_location="cpu").train()
    torch.manual_seed(seed)
    try:
        loss = _projection(module(**values), torch.Generator().manual_seed(seed))
        if loss is None:
            return (
                ["no output has a gradient: the model can't be analysed"]
                if any(True for _ in module.parameters())
                else []
            )
        if loss.requires_grad:
            loss.backward()
    except Exception as error:
        raise ModelError(
            f"doesn't run a training step with this input: {one_line(error)}"
        ) from error
    wanted = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    zero = [
        name
        for name, p in wanted
        if p.grad is not None and not p.grad.is_sparse and not p.grad.any()
    ]
    missing = [name for name, p in wanted if p.grad is None]
    notes = []
    if zero:
        notes.append(f"{len(zero)} of {len(wanted)} gradients are exactly zero, e.g. {zero[0]}")
    if missing:
        notes.append(
            f"{len(missing)} of {len(wanted)} parameters get no gradient, e.g. {missing[0]}"
        )
    return notes


class Draft:
    """A file under its final name in a temporary folder beside it; `publish` renames it into place,
    leaving the `with` block without that removes it."""

    def __init__(self, target: Path) -> None:
        self.target = target
        try:
            self._folder = tempfile.TemporaryDirectory(prefix=".export-", dir=target.parent)
        except OSError as error:
            raise EnvironmentFailure(
                f"{target.parent}: nothing can be written there: {error.strerror}"
            ) from error
        self.file = Path(self._folder.name) / target.name

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def write(self, module: torch.jit.ScriptModule, specification: dict[str, Any]) -> None:
        text = json.dumps(specification)
        try:
            torch.jit.save(module, str(self.file), _extra_files={"hot_inputs.json": text})
        except (OSError, RuntimeError) as error:
            raise EnvironmentFailure(
                f"{self.target}: can't be written: {one_line(error)}"
            ) from error

    def publish(self) -> None:
        os.replace(self.file, self.target)
