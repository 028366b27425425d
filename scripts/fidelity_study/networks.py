"""The study's two networks, for square grey images; every width is a multiple of 16."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models"))
from digits_vit import Block  # noqa: E402

WIDTH = 64


class VisionTransformer(nn.Module):
    """Three pre-norm blocks of width 64, 16 patches and a class token. x: [N, 1, size, size]."""

    def __init__(self, size: int, classes: int = 10) -> None:
        super().__init__()
        patch = size // 4
        self.patch_embed = nn.Conv2d(1, WIDTH, kernel_size=patch, stride=patch)
        self.class_token = nn.Parameter(torch.randn(1, 1, WIDTH) * 0.02)
        self.position = nn.Parameter(torch.randn(1, 17, WIDTH) * 0.02)
        self.blocks = nn.ModuleList([Block(WIDTH, 4) for _ in range(3)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, classes)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), patches], dim=1) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))


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


NETWORKS = {"vit": VisionTransformer, "conv": ConvNet}
