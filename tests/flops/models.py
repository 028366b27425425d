"""The models whose FLOPs are compared: module, inputs, and the specification of the inputs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
import torchvision
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "zoo"))
from cases.attention import Encoder  # noqa: E402
from cases.language import Gpt2  # noqa: E402

BATCH = 2


class Model(NamedTuple):
    """`make` builds it, `shape` is its one input; `vocabulary` is 0 for float inputs."""

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    vocabulary: int = 0

    def example(self) -> Tensor:
        if self.vocabulary:
            return torch.randint(0, self.vocabulary, self.shape)
        return torch.randn(self.shape)

    def specification(self) -> str:
        """The input in the grammar of `--input`."""
        size = "x".join(map(str, self.shape))
        return f"int64:{size}:0..{self.vocabulary - 1}" if self.vocabulary else size


def vision(name: str) -> Model:
    """A torchvision model at 224x224."""
    return Model(lambda: getattr(torchvision.models, name)(weights=None), (BATCH, 3, 224, 224))


MODELS = {
    **{
        name: vision(name)
        for name in (
            "resnet18",
            "resnet50",
            "vit_b_16",
            "mobilenet_v3_small",
            "swin_t",
            "convnext_tiny",
        )
    },
    "transformer_encoder": Model(lambda: Encoder(4), (BATCH, 48, 32)),
    "gpt2": Model(
        lambda: Gpt2(vocabulary=513, dim=96, layers=4, heads=6, context=64), (BATCH, 40), 513
    ),
}
