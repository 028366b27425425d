"""Where models come from: torchvision, timm, or a factory of the user's own."""

from __future__ import annotations

import ast
import difflib
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import nn

from .errors import EnvironmentFailure, ModelError, UsageError, one_line
from .inputs import Spec, TensorSpec

BATCH = 8


@dataclass
class Source:
    """A model with random weights, and what its source knows of the inputs."""

    model: nn.Module
    inputs: list[tuple[str, Spec]] = field(default_factory=list)
    task: str | None = None
    mean: list[float] | None = None
    std: list[float] | None = None


def build(name: str, arguments: list[str]) -> Source:
    """Builds timm:NAME, MODULE:FACTORY, or a torchvision model. `arguments` are KEY=VALUE."""
    options = dict(map(_argument, arguments))
    prefix, colon, rest = name.partition(":")
    if colon and prefix == "timm":
        return _timm(rest, options)
    if colon:
        return _factory(prefix, rest, options)
    return _torchvision(name, options)


def _argument(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise UsageError(f"--arg '{text}': write KEY=VALUE")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value


def _call(what: str, make: Callable[[], Any]) -> nn.Module:
    try:
        model = make()
    except TypeError as error:
        raise UsageError(
            f"{what} can't be made with these arguments: {one_line(error)} (see --arg)"
        ) from error
    except Exception as error:
        raise ModelError(
            f"{what} failed while it was made: {type(error).__name__}: {one_line(error)}"
        ) from error
    if not isinstance(model, nn.Module):
        raise ModelError(f"{what} gives a {type(model).__name__}, not a torch.nn.Module")
    return model


def _unknown(name: str, where: str, known: list[str]) -> UsageError:
    close = difflib.get_close_matches(name, known, 3)
    hint = (
        f"; did you mean {' or '.join(close)}?"
        if close
        else "; own models are given as module:factory"
    )
    return UsageError(f"'{name}' is no model of {where}{hint}")


def _torchvision(name: str, options: dict[str, Any]) -> Source:
    try:
        from torchvision import models
    except ImportError as error:
        raise EnvironmentFailure(
            f"torchvision is missing ({one_line(error)}): run scripts/setup"
        ) from error
    if name not in models.list_models():
        raise _unknown(name, "torchvision", models.list_models())
    kind = models.get_model_builder(name).__module__.split(".")[2]
    if kind in ("detection", "quantization"):
        why = (
            "needs targets in training"
            if kind == "detection"
            else "has int8 weights, which can't be trained"
        )
        raise ModelError(
            f"{name}: a {kind} model of torchvision {why}; export its backbone by module:factory"
        )
    source = Source(
        _call(name, lambda: models.get_model(name, weights=None, **_no_download(kind, options)))
    )
    preset = (
        models.get_model_weights(name).DEFAULT.transforms()
        if list(models.get_model_weights(name))
        else None
    )
    size = getattr(preset, "crop_size", [224])
    size = size[0] if isinstance(size, (list, tuple)) else size
    if kind == "optical_flow":
        image = TensorSpec("float32", (2, 3, 128, 128))
        source.inputs = [("image1", image), ("image2", image)]
    elif kind == "video":
        source.inputs = [("x", TensorSpec("float32", (2, 3, 16, size, size)))]
    else:
        source.inputs = [("x", TensorSpec("float32", (BATCH, 3, size, size)))]
    if kind not in ("optical_flow", "segmentation"):
        source.task = "classification"
    source.mean, source.std = getattr(preset, "mean", None), getattr(preset, "std", None)
    return source


def _no_download(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    return {"weights_backbone": None, **options} if kind == "segmentation" else options


def _timm(name: str, options: dict[str, Any]) -> Source:
    try:
        import timm
        from timm.data import resolve_model_data_config
    except ImportError as error:
        raise EnvironmentFailure(
            f"timm is missing ({one_line(error)}): run scripts/setup"
        ) from error
    if not timm.is_model(name.split(".")[0]):
        raise _unknown(name, "timm", timm.list_models())
    source = Source(
        _call(
            f"timm:{name}",
            lambda: timm.create_model(name, pretrained=False, scriptable=True, **options),
        )
    )
    config = resolve_model_data_config(source.model)
    source.inputs = [("x", TensorSpec("float32", (BATCH, *config["input_size"])))]
    source.task = "classification" if getattr(source.model, "num_classes", 0) else None
    source.mean, source.std = list(config["mean"]), list(config["std"])
    return source


def _factory(module: str, factory: str, options: dict[str, Any]) -> Source:
    if not factory:
        raise UsageError(f"'{module}:' names no factory; write module:factory")
    for folder in (str(Path(__file__).resolve().parents[2]), str(Path.cwd())):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    try:
        place = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(error.name + ".")):
            raise UsageError(
                f"no module named '{error.name}' here; run from its folder, or set PYTHONPATH"
            ) from error
        raise EnvironmentFailure(
            f"{module} needs a module that is missing: {error.name}"
        ) from error
    except Exception as error:
        raise ModelError(
            f"{module} can't be imported: {type(error).__name__}: {one_line(error)}"
        ) from error
    for part in factory.split("."):
        if not hasattr(place, part):
            raise UsageError(f"{module} has no '{factory}'")
        place = getattr(place, part)
    if isinstance(place, nn.Module):
        return Source(place)
    if not callable(place):
        raise UsageError(f"{module}:{factory} is neither a module nor a function that makes one")
    return Source(_call(f"{module}:{factory}", lambda: place(**options)))
