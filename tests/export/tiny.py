"""Factories that the tests of export.py name as module:factory."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Tiny(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.fc = nn.Linear(8, width)
        self.head = nn.Linear(width, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.fc(x)))


class ZeroHead(Tiny):
    """Untrained with a head and a residual scale of zeros, as vision transformers and ResNets."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        for parameter in (self.head.weight, self.head.bias, self.norm.weight):
            nn.init.zeros_(parameter)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.norm(self.fc(x)))


class OnlyTraceable(Tiny):
    """Keyword dictionaries can't be scripted."""

    def forward(self, x: Tensor, **extra: Tensor) -> Tensor:
        return super().forward(x)


class RunningMean(nn.Module):
    """Tracing runs it once in training mode: its running statistics must not move."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.bn = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.fc(x))


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.head = nn.Linear(8, 4)

    def forward(self, tokens: Tensor, mask: Tensor, pair: tuple[Tensor, Tensor]) -> Tensor:
        h = self.embedding(tokens) * mask.unsqueeze(-1)
        return self.head(h).mean(1) + pair[0] * pair[1]


def breaks() -> nn.Module:
    raise RuntimeError("no luck\nwith a second line")


def gives_text() -> str:
    return "not a module"
