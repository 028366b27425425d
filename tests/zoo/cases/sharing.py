"""Weights and layers that are shared, reused, computed, frozen or unused."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations
from zoo import Case, both, integers, tensor


class TiedHead(nn.Module):
    """The head's weight is the embedding's."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.body = nn.Linear(32, 32)
        self.head = nn.Linear(32, 50, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(torch.relu(self.body(self.embedding(tokens))))


class TwoNames(nn.Module):
    """One layer registered as `a` and `b`, called under both names."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.b = self.a

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x)))


class SharedWeight(nn.Module):
    """Two layers, one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.b = nn.Linear(32, 32)
        self.b.weight = self.a.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x)))


class Looped(nn.Module):
    """One layer called three times in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(32, 32)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(3):
            x = torch.tanh(self.fc(x))
        return x


class LoopedConv(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(3):
            x = torch.tanh(self.conv(x))
        return x


class DifferentRows(nn.Module):
    """One layer called on inputs with different numbers of rows."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(32, 16)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.fc(x).mean(0) + self.fc(y).mean(0)


class Forked(nn.Module):
    """Two layers in tasks of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 16)
        self.b = nn.Linear(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        first = torch.jit.fork(self.a, x)
        second = torch.jit.fork(self.b, x)
        return torch.jit.wait(first) * torch.jit.wait(second)


class LoraLinear(nn.Module):
    """A frozen base and a low-rank adapter of its own two linears."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.base = nn.Linear(inputs, outputs)
        self.base.requires_grad_(False)
        self.down = nn.Linear(inputs, 4, bias=False)
        self.up = nn.Linear(4, outputs, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + 0.5 * self.up(self.down(x))


class Lora(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = LoraLinear(32, 48)
        self.second = LoraLinear(48, 16)

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.relu(self.first(x)))


class MergedLora(nn.Module):
    """The adapter is added to the weight before the product: W + B A."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(16, 32) * 0.1, requires_grad=False)
        self.a = nn.Parameter(torch.randn(4, 32) * 0.1)
        self.b = nn.Parameter(torch.randn(16, 4) * 0.1)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight + self.b @ self.a)


class WeightNorm(nn.Module):
    """A weight computed from magnitude and direction."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = parametrizations.weight_norm(nn.Linear(32, 16))
        self.out = nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.relu(self.fc(x)))


class PartlyFrozen(nn.Module):
    """The first linear is frozen; the last one trains."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, 8)
        self.a.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.c(torch.relu(self.b(torch.relu(self.a(x)))))


class MiddleFrozen(PartlyFrozen):
    """The middle linear is frozen: it has a grad_input and no grad_weight."""

    def __init__(self) -> None:
        super().__init__()
        self.a.requires_grad_(True)
        self.b.requires_grad_(False)


class Unreached(nn.Module):
    """`side` runs, but the output doesn't depend on it."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(32, 16)
        self.side = nn.Linear(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.fc(x)
        ignored = self.side(x)
        if ignored.shape[0] == 0:
            hidden = hidden + ignored
        return hidden


class Uncalled(nn.Module):
    """`spare` is registered and never called."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(32, 16)
        self.spare = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x)


class Experts(nn.Module):
    """Tokens go to the expert that the gate likes best; the third one is never chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList([nn.Linear(16, 16) for _ in range(3)])
        with torch.no_grad():
            self.gate.bias.copy_(torch.tensor([0.0, 0.0, -100.0]))

    def forward(self, x: Tensor) -> Tensor:
        weights = torch.softmax(self.gate(x), -1)
        chosen = weights.argmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = torch.nonzero(chosen == i).flatten()
            if rows.numel() > 0:
                out = out.index_add(0, rows, expert(x[rows]) * weights[rows, i].unsqueeze(1))
        return out


class BufferWeight(nn.Module):
    """A fixed projection kept as a buffer between two linears."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.c = nn.Linear(24, 8)
        self.register_buffer("projection", torch.randn(24, 32) * 0.2)

    def forward(self, x: Tensor) -> Tensor:
        return self.c(F.linear(torch.tanh(self.a(x)), self.projection))


class Detached(nn.Module):
    """A no_grad block around the first layer."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.b = nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            h = torch.relu(self.a(x))
        return self.b(h)


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.norm(self.conv(x))).mean([2, 3]))


# fmt: off
CASES = [
    *both(Case("tied_head", "the head's weight is the embedding's", TiedHead, lambda: [integers("tokens", 2, 8, high=49)],
               layers={"embedding": 1, "body": 1}, task=None)),
    Case("two_names", "a layer registered and called under two names", TwoNames, lambda: [tensor("x", 8, 32)],
         layers={"a": 2}),
    Case("shared_weight", "two layers with one weight", SharedWeight, lambda: [tensor("x", 8, 32)], layers={"a": 2}),
    *both(Case("looped", "a layer called three times", Looped, lambda: [tensor("x", 8, 32)], layers={"fc": 3})),
    Case("looped_conv", "a convolution called three times", LoopedConv, lambda: [tensor("x", 2, 8, 10, 10)],
         layers={"conv": 3}),
    Case("different_rows", "a layer called with different numbers of rows", DifferentRows,
         lambda: [tensor("x", 8, 32), tensor("y", 5, 32)], layers={"fc": 2}),
    Case("forked", "two layers in forked tasks", Forked, lambda: [tensor("x", 8, 32)], layers={"a": 1, "b": 1}),
    Case("lora", "frozen linears with low-rank adapters", Lora, lambda: [tensor("x", 8, 32)],
         layers={f"{a}.{b}": 1 for a in ("first", "second") for b in ("base", "down", "up")},
         missing=[f"{a}.base.{b}" for a in ("first", "second") for b in ("weight", "bias")]),
    Case("lora_merged", "a weight computed as W + B A", MergedLora, lambda: [tensor("x", 8, 32)], missing=["weight"]),
    Case("weight_norm", "a weight computed from magnitude and direction", WeightNorm, lambda: [tensor("x", 8, 32)],
         how="trace", specification=False),
    Case("frozen_first", "the first linear doesn't require a gradient", PartlyFrozen, lambda: [tensor("x", 8, 32)],
         layers={"a": 1, "b": 1, "c": 1}, missing=["a.weight", "a.bias"]),
    Case("frozen_middle", "the middle linear has a grad_input alone", MiddleFrozen, lambda: [tensor("x", 8, 32)],
         layers={"a": 1, "b": 1, "c": 1}, missing=["b.weight", "b.bias"]),
    Case("unreached", "a layer runs, but the loss doesn't reach it", Unreached, lambda: [tensor("x", 8, 32)],
         missing=["side.weight", "side.bias"]),
    Case("uncalled", "a layer is never called", Uncalled, lambda: [tensor("x", 8, 32)], layers={"fc": 1},
         missing=["spare.weight", "spare.bias"]),
    Case("experts", "a mixture of experts; one gets no token", Experts, lambda: [tensor("x", 12, 16)],
         missing=["experts.2.weight", "experts.2.bias"]),
    Case("buffer_weight", "a fixed projection kept as a buffer", BufferWeight, lambda: [tensor("x", 8, 32)]),
    Case("no_grad_block", "a layer inside a no_grad block", Detached, lambda: [tensor("x", 8, 32)],
         missing=["a.weight", "a.bias"]),
    Case("frozen_cnn", "torch.jit.freeze: weights are constants, BatchNorm is folded", Cnn,
         lambda: [tensor("x", 2, 3, 12, 12)], how="freeze"),
    Case("frozen_mlp", "torch.jit.freeze of linears", lambda: nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 8)),
         lambda: [tensor("input", 8, 32)], how="freeze"),
]
