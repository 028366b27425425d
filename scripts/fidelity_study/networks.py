"""The study's two networks, for square grey images; every width is a multiple of 16."""

from __future__ import annotations

import sys
from pathlib import Path

from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models"))
from digits_vit import DigitsViT  # noqa: E402


def vision_transformer(size: int) -> nn.Module:
    """The shipped model's, of width 64: three pre-norm blocks, 16 patches and a class token."""
    return DigitsViT(dim=64, patch=size // 4)


def stage(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    """A 3x3 convolution, batch normalization, ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class ConvNet(nn.Module):
    """Four convolutions and a linear head; images larger than 8x8 shrink twice as often."""

    def __init__(self, size: int, classes: int = 10) -> None:
        super().__init__()
        first = 1 if size <= 8 else 2
        self.stages = nn.Sequential(
            stage(1, 16, first), stage(16, 32, 2), stage(32, 64, 2), stage(64, 64, 1)
        )
        self.head = nn.Linear(64, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.stages(x).mean([2, 3]))


NETWORKS = {"vit": vision_transformer, "conv": ConvNet}
