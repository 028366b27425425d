#!/usr/bin/env python3
"""The corrections to torch's count are exact: each against the same computation in another form
that FlopCounterMode counts right."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, str(Path(__file__).resolve().parent))
import peer  # noqa: E402


class Split(nn.Module):
    """A grouped convolution as one convolution a group."""

    def __init__(self, conv: nn.Module) -> None:
        super().__init__()
        self.groups = conv.groups
        make = type(conv)
        self.parts = nn.ModuleList(
            make(
                conv.in_channels // conv.groups,
                conv.out_channels // conv.groups,
                conv.kernel_size,
                stride=conv.stride,
                padding=conv.padding,
                dilation=conv.dilation,
            )
            for _ in range(conv.groups)
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat(
            [part(piece) for part, piece in zip(self.parts, x.chunk(self.groups, 1))], 1
        )


class Behind(nn.Module):
    """Puts a 1x1 convolution in front, so that grad_input is needed."""

    def __init__(self, first: nn.Module, conv: nn.Module) -> None:
        super().__init__()
        self.first, self.conv = first, conv

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(self.first(x))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(24, 72)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, 6)).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v)


class PeerTest(unittest.TestCase):
    CONVOLUTIONS = {
        "grouped": (nn.Conv2d(3, 8, 1), nn.Conv2d(8, 16, 3, padding=1, groups=4), (2, 3, 10, 12)),
        "depthwise, strided": (
            nn.Conv2d(3, 8, 1),
            nn.Conv2d(8, 16, 3, stride=2, groups=8),
            (2, 3, 11, 9),
        ),
        "dilated, 1-d": (nn.Conv1d(3, 8, 1), nn.Conv1d(8, 8, 3, dilation=2, groups=2), (3, 3, 20)),
        "3-d": (nn.Conv3d(3, 8, 1), nn.Conv3d(8, 8, 3, groups=2), (2, 3, 5, 6, 7)),
        "transposed": (
            nn.Conv2d(3, 8, 1),
            nn.ConvTranspose2d(8, 12, 3, stride=2, padding=1, groups=4),
            (2, 3, 6, 5),
        ),
    }

    def test_grouped_convolutions_equal_their_separate_groups(self) -> None:
        for name, (first, conv, shape) in self.CONVOLUTIONS.items():
            with self.subTest(name):
                together = peer.count(Behind(first, conv), (torch.randn(shape),))
                apart = peer.count(Behind(first, Split(conv)), (torch.randn(shape),))
                self.assertGreater(together.raw, apart.raw)
                self.assertEqual(apart.grouped, 0)
                self.assertEqual(together.corrected, apart.raw)

    def test_fused_attention_is_the_four_products_of_its_plain_form_and_the_recomputed_scores(
        self,
    ) -> None:
        model, x = Attention(), torch.randn(2, 9, 24)
        fused = peer.count(model, (x,))
        with sdpa_kernel(SDPBackend.MATH):
            plain = peer.count(model, (x,))
        scores = 2 * (2 * 4) * 9 * 9 * 6
        self.assertEqual(plain.attention, 0)
        self.assertEqual(fused.attention, 5 * scores)
        self.assertEqual(fused.corrected, plain.raw + scores)

    def test_no_correction_where_none_is_needed(self) -> None:
        count = peer.count(
            nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), (torch.randn(5, 8),)
        )
        first, second = 2 * 5 * 8 * 16, 2 * 5 * 16 * 4
        self.assertEqual(count.raw, first + 2 * second)
        self.assertEqual(count.corrected, count.raw)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
