"""Weights: loaded from a file, or random with the zeros that would hide every gradient replaced."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .errors import ModelError, one_line

_NORMS = (nn.modules.batchnorm._BatchNorm, nn.LayerNorm, nn.GroupNorm)


def load(model: nn.Module, file: Path) -> None:
    """Loads a state_dict (.pt, .pth, .safetensors), also one inside a checkpoint or a TorchScript
    file; every key must fit."""
    try:
        state = _read(file)
    except FileNotFoundError:
        raise ModelError(f"{file}: no such file") from None
    except Exception as error:
        raise ModelError(f"{file}: no state_dict could be read: {one_line(error)}") from error
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict) or not all(isinstance(v, torch.Tensor) for v in state.values()):
        raise ModelError(f"{file}: holds no state_dict")
    state = {key.removeprefix("module."): value for key, value in state.items()}
    own = model.state_dict()
    missing = [key for key in own if key not in state]
    unknown = [key for key in state if key not in own]
    wrong = [key for key in own if key in state and own[key].shape != state[key].shape]
    for keys, what in (
        (missing, "lacks"),
        (unknown, "has unknown"),
        (wrong, "has another shape for"),
    ):
        if keys:
            raise ModelError(f"{file}: {what} {len(keys)} of the model's weights, e.g. {keys[0]}")
    model.load_state_dict(state)


def _read(file: Path) -> Any:
    if file.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(str(file))
    if zipfile.is_zipfile(file) and any(
        n.endswith("/constants.pkl") for n in zipfile.ZipFile(file).namelist()
    ):
        return dict(torch.jit.load(str(file), map_location="cpu").state_dict())
    return torch.load(str(file), map_location="cpu", weights_only=True)


def replace_zeros(model: nn.Module) -> list[str]:
    """Gives weights that are all zero small random values (linear, convolution: N(0, 0.02²)) or 0.1
    (normalisation scale), in place; returns their names. Untrained models start so on purpose, and
    every gradient behind such a weight is exactly zero."""
    changed = []
    with torch.no_grad():
        for name, module in model.named_modules():
            weight = getattr(module, "weight", None)
            if not isinstance(weight, nn.Parameter) or nn.parameter.is_lazy(weight) or weight.any():
                continue
            if isinstance(module, (nn.Linear, nn.modules.conv._ConvNd)):
                weight.normal_(std=0.02)
            elif isinstance(module, _NORMS):
                weight.fill_(0.1)
            else:
                continue
            changed.append(f"{name}.weight" if name else "weight")
    return changed
