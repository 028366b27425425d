#!/usr/bin/env python3
"""Writes tests/models/files/traced_*.pt: tiny traced models that keep the shapes of their inputs.

tests/models/make_traced.py    (with a Python that has torch)
"""

from __future__ import annotations

import warnings
from pathlib import Path

import torch
from torch import Tensor, nn

warnings.filterwarnings("ignore")


class Tokens(nn.Module):
    """An embedding of 11 rows, and an attention mask."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 4)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.embedding(tokens) * mask.unsqueeze(-1)


class Baked(nn.Module):
    """Merges the batch into the rows: of two samples it makes one of twice the length."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x).reshape(1, -1)


class Fixed(nn.Module):
    """Works on the traced batch alone."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x).view(2, 5)


def main() -> None:
    torch.manual_seed(0)
    folder = Path(__file__).parent / "files"
    folder.mkdir(exist_ok=True)
    tokens = torch.zeros(3, 5, dtype=torch.int64)
    torch.jit.trace(Tokens(), (tokens, torch.ones_like(tokens))).save(folder / "traced_tokens.pt")
    torch.jit.trace(nn.Linear(7, 5), torch.zeros(1, 7)).save(folder / "traced_one.pt")
    torch.jit.trace(Baked(), torch.zeros(1, 7)).save(folder / "traced_baked.pt")
    torch.jit.trace(Fixed(), torch.zeros(2, 7)).save(folder / "traced_fixed.pt")


if __name__ == "__main__":
    main()
