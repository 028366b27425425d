"""Convolutions of one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from zoo import Case, Input, both, tensor


class Pair(nn.Module):
    """The convolution under test behind a 1x1-like one, so that it has a grad_input."""

    def __init__(self, first: nn.Module, conv: nn.Module) -> None:
        super().__init__()
        self.first = first
        self.conv = conv

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(torch.tanh(self.first(x)))


class Pointwise(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.point = nn.Conv2d(16, 32, 1, bias=False)
        self.head = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.point(torch.relu(self.conv(x)))).mean([2, 3]))


class Rectangular(nn.Module):
    """Kernel, stride, padding and dilation differ per axis."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 1)
        self.conv = nn.Conv2d(8, 12, (3, 5), stride=(1, 2), padding=(2, 1), dilation=(2, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(self.first(x))


class ChannelsLast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(3, 16, 3, padding=1)
        self.b = nn.Conv2d(16, 16, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x.contiguous(memory_format=torch.channels_last))))


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(16, 3, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(torch.relu(self.down(x)))


BOTH = {"first": 1, "conv": 1}


def pair(
    name: str, what: str, dims: int, make: Callable[[], nn.Module], shape: tuple[int, ...]
) -> Case:
    """A Pair with a 1-wide convolution from 3 to 8 channels in front."""
    first = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[dims]

    def inputs() -> list[Input]:
        return [tensor("x", *shape)]

    return Case(name, what, lambda: Pair(first(3, 8, 1), make()), inputs, layers=BOTH)


IMAGE = (2, 3, 12, 12)

# fmt: off
CASES = [
    pair("conv1d", "1-d convolution", 1, lambda: nn.Conv1d(8, 16, 3, padding=1), (2, 3, 20)),
    *both(pair("conv2d", "2-d convolution", 2, lambda: nn.Conv2d(8, 16, 3, padding=1), IMAGE)),
    pair("conv3d", "3-d convolution", 3, lambda: nn.Conv3d(8, 16, 3, padding=1), (2, 3, 6, 6, 6)),
    pair("conv1d_strided_dilated", "1-d, stride 2, dilation 2", 1,
         lambda: nn.Conv1d(8, 16, 3, stride=2, dilation=2, padding=2), (2, 3, 21)),
    pair("conv2d_strided", "2-d, stride 2, odd size", 2, lambda: nn.Conv2d(8, 16, 3, stride=2, padding=1),
         (2, 3, 13, 11)),
    pair("conv2d_dilated", "2-d, dilation 2", 2, lambda: nn.Conv2d(8, 16, 3, dilation=2, padding=2), IMAGE),
    pair("conv3d_strided", "3-d, stride 2", 3, lambda: nn.Conv3d(8, 16, 3, stride=2), (2, 3, 7, 7, 7)),
    Case("conv2d_rectangular", "kernel, stride, padding and dilation differ per axis", Rectangular,
         lambda: [tensor("x", *IMAGE)], layers=BOTH),
    *both(pair("conv2d_grouped", "2-d, 4 groups", 2, lambda: nn.Conv2d(8, 16, 3, padding=1, groups=4), IMAGE)),
    pair("conv1d_grouped", "1-d, 2 groups", 1, lambda: nn.Conv1d(8, 16, 3, padding=1, groups=2), (2, 3, 20)),
    *both(pair("conv2d_depthwise", "depthwise", 2, lambda: nn.Conv2d(8, 8, 3, padding=1, groups=8), IMAGE)),
    pair("conv2d_depthwise_multiplier", "depthwise, two outputs a channel", 2,
         lambda: nn.Conv2d(8, 16, 3, padding=1, groups=8), IMAGE),
    *both(pair("conv2d_same", "padding='same'", 2, lambda: nn.Conv2d(8, 16, 3, padding="same"), IMAGE)),
    pair("conv2d_same_even", "padding='same' with an even kernel", 2,
         lambda: nn.Conv2d(8, 16, 4, padding="same"), IMAGE),
    pair("conv1d_same_dilated", "1-d padding='same', dilation 3", 1,
         lambda: nn.Conv1d(8, 16, 3, padding="same", dilation=3), (2, 3, 20)),
    pair("conv2d_valid", "padding='valid'", 2, lambda: nn.Conv2d(8, 16, 3, padding="valid"), IMAGE),
    pair("conv2d_circular", "circular padding", 2,
         lambda: nn.Conv2d(8, 16, 3, padding=1, padding_mode="circular"), IMAGE),
    pair("conv_transpose1d", "1-d transposed", 1, lambda: nn.ConvTranspose1d(8, 16, 4, stride=2, padding=1),
         (2, 3, 10)),
    *both(pair("conv_transpose2d", "2-d transposed", 2,
               lambda: nn.ConvTranspose2d(8, 16, 4, stride=2, padding=1), (2, 3, 6, 6))),
    pair("conv_transpose3d", "3-d transposed", 3, lambda: nn.ConvTranspose3d(8, 16, 2, stride=2), (2, 3, 4, 4, 4)),
    pair("conv_transpose2d_grouped", "2-d transposed, 2 groups", 2,
         lambda: nn.ConvTranspose2d(8, 16, 3, stride=2, groups=2, output_padding=1), (2, 3, 6, 6)),
    pair("conv2d_unbatched", "2-d convolution on one image without a batch dimension", 2,
         lambda: nn.Conv2d(8, 16, 3, padding=1), (3, 12, 12)),
    pair("conv2d_big_kernel", "the kernel covers the whole image", 2, lambda: nn.Conv2d(8, 16, 12), IMAGE),
    Case("conv2d_channels_last", "channels-last activations", ChannelsLast, lambda: [tensor("x", *IMAGE)],
         layers={"a": 1, "b": 1}),
    *both(Case("cnn", "3x3, 1x1 without bias, linear head", Pointwise, lambda: [tensor("x", *IMAGE)],
               layers={"conv": 1, "point": 1, "head": 1}, task="classification")),
    Case("cnn_no_specification", "a small CNN; nothing in the file tells the input's shape", Pointwise,
         lambda: [tensor("x", 2, 3, 64, 64)], layers={"conv": 1, "point": 1, "head": 1}, specification=False),
    Case("autoencoder", "convolution down, transposed convolution up", Autoencoder, lambda: [tensor("x", *IMAGE)],
         layers={"down": 1, "up": 1}),
]
