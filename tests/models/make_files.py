#!/usr/bin/env python3
"""Writes the small TorchScript models that the loader's tests read.

tests/models/make_files.py --out FOLDER
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
import torchvision
from torch import Tensor, nn

warnings.filterwarnings("ignore")


class Net(nn.Module):
    """A convolution, running statistics, an integer buffer counting runs, a linear, dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(4, 5)
        self.register_buffer("runs", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        self.runs += 1
        return self.fc(self.drop(self.bn(self.conv(x)).relu().mean([2, 3])))


class Tied(nn.Module):
    """An embedding whose weight is the head's too, and one layer registered under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.embedding.weight
        self.a = nn.Linear(4, 4)
        self.b = self.a

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.b(self.a(self.embedding(x))))


class Stateful(nn.Module):
    """Keeps its last hidden value, with its graph, and a list of tensors, as attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.last = torch.zeros(2, 4)
        self.seen: list[Tensor] = [torch.zeros(1)]

    def forward(self, x: Tensor) -> Tensor:
        self.last = self.fc(x + self.last)
        self.seen.append(self.last)
        return self.last


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 5, 2, batch_first=True)
        self.head = nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0])


class Forks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        task = torch.jit.fork(self.a, x)
        return self.b(x) + torch.jit.wait(task)


class Methods(nn.Module):
    """No forward."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @torch.jit.export
    def encode(self, x: Tensor) -> Tensor:
        return self.fc(x)

    @torch.jit.export
    def decode(self, x: Tensor) -> Tensor:
        return self.fc(x) * 2


class NoParameters(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class Fixed(nn.Module):
    """Adds a constant, and multiplies by one that is no weight of a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x) * torch.tensor([1.0, 2.0, 3.0, 4.0]) + torch.tensor([1.0, 2.0, 3.0, 4.0])


class CudaBranch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        y = self.fc(x)
        if y.sum() > 1e6:
            y = y + torch.ones(4, device="cuda")
        return y


class CudaAlways(CudaBranch):
    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x).to(torch.device("cuda:0"))


class Boxes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, boxes: Tensor, scores: Tensor) -> Tensor:
        return torchvision.ops.nms(self.fc(boxes), scores, 0.5)


def script(model: nn.Module) -> torch.jit.ScriptModule:
    return torch.jit.script(model)


def trace(model: nn.Module, *inputs: Tensor) -> torch.jit.ScriptModule:
    return torch.jit.trace(model.eval(), inputs, check_trace=False)


def freeze(model: nn.Module, **options: list[str]) -> torch.jit.ScriptModule:
    return torch.jit.freeze(torch.jit.script(model.eval()), **options)


def quantized_static() -> torch.jit.ScriptModule:
    model = nn.Sequential(
        torch.ao.quantization.QuantStub(), nn.Linear(4, 4), torch.ao.quantization.DeQuantStub()
    )
    model.eval().qconfig = torch.ao.quantization.default_qconfig
    prepared = torch.ao.quantization.prepare(model)
    prepared(torch.randn(8, 4))
    return torch.jit.script(torch.ao.quantization.convert(prepared))


def quantized_dynamic() -> torch.jit.ScriptModule:
    return torch.jit.script(
        torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 4)), {nn.Linear})
    )


def no_gradients() -> torch.jit.ScriptModule:
    return trace(nn.Linear(4, 4).requires_grad_(False), torch.randn(2, 4))


def partly_frozen() -> torch.jit.ScriptModule:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[0].requires_grad_(False)
    return script(model)


def integer_parameter() -> torch.jit.ScriptModule:
    model = nn.Linear(4, 4)
    model.weight = nn.Parameter(torch.ones(4, 4, dtype=torch.int64), requires_grad=False)
    model.bias = None
    return script(model)


def traced_function() -> torch.jit.ScriptFunction:
    weight = torch.randn(4, 4)
    return torch.jit.trace(lambda x: x @ weight.t(), torch.randn(2, 4))


def transformer() -> nn.Module:
    """Random weights throughout: freezing merges equal constants, as fresh layer norms are."""
    model = torchvision.models.VisionTransformer(32, 16, 1, 2, 16, 32, num_classes=5)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
    return model


MODELS: dict[str, Callable[[], torch.jit.ScriptModule]] = {
    "scripted": lambda: script(Net()),
    "traced": lambda: trace(Net(), torch.rand(2, 3, 8, 8)),
    "frozen": lambda: freeze(Net()),
    "half": lambda: script(Net().half()),
    "bfloat16": lambda: script(Tied().bfloat16()),
    "double": lambda: script(Net().double()),
    "frozen_half": lambda: freeze(nn.Sequential(nn.Linear(4, 4)).half()),
    "tied": lambda: script(Tied()),
    "stateful": lambda: script(Stateful()),
    "frozen_lstm": lambda: freeze(Recurrent()),
    "mixed": lambda: freeze(Recurrent(), preserved_attrs=["head"]),
    "frozen_transformer": lambda: torch.jit.freeze(trace(transformer(), torch.rand(2, 3, 32, 32))),
    "transformer": lambda: trace(transformer(), torch.rand(2, 3, 32, 32)),
    "forks": lambda: script(Forks()),
    "frozen_forks": lambda: freeze(Forks()),
    "methods": lambda: script(Methods()),
    "no_parameters": lambda: script(NoParameters()),
    "fixed_constants": lambda: trace(Fixed(), torch.rand(2, 4)),
    "cuda_branch": lambda: script(CudaBranch()),
    "cuda_always": lambda: script(CudaAlways()),
    "boxes": lambda: script(Boxes()),
    "quantized_static": quantized_static,
    "quantized_dynamic": quantized_dynamic,
    "no_gradients": no_gradients,
    "partly_frozen": partly_frozen,
    "integer_parameter": integer_parameter,
    "traced_function": traced_function,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for name, make in MODELS.items():
        torch.manual_seed(0)
        make().save(str(folder / f"{name}.pt"))
    script(Net())._save_for_lite_interpreter(str(folder / "lite.ptl"))
    script(Net())._save_for_lite_interpreter(str(folder / "flatbuffer.ptl"), _use_flatbuffer=True)


if __name__ == "__main__":
    main()
