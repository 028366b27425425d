"""torch's own count of a backward pass, and where it differs from the products that are computed.

`count` runs one training step of an eager model and counts its backward under FlopCounterMode. A
second dispatch mode notes the shapes of the two kinds of operation that the counter treats
otherwise (README.md): fused attention on the CPU, and grad_weight of grouped convolutions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import prod
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count

aten = torch.ops.aten


@dataclass
class Count:
    """FLOPs of one backward pass. `raw` is FlopCounterMode's total, `by_operation` its parts."""

    raw: int = 0
    by_operation: dict[str, int] = field(default_factory=dict)
    attention: int = 0  # missing from raw: fused attention on the CPU
    grouped: int = 0  # too much in raw: grad_weight of grouped convolutions
    calls: Counter[str] = field(default_factory=Counter)

    @property
    def corrected(self) -> int:
        return self.raw + self.attention - self.grouped


def grouped_excess(
    x: list[int], gy: list[int], weight: list[int], transposed: bool, groups: int
) -> int:
    """What the counter has too much for grad_weight: it multiplies every input channel by every
    output channel, so its count is `groups` times the products of the separate convolutions."""
    places = prod(x[2:]) if transposed else prod(gy[2:])
    counted = 2 * x[0] * places * x[1] * gy[1] * prod(weight[2:])
    return counted - counted // groups


class _Shapes(TorchDispatchMode):
    """Notes the two corrections from the shapes of the operations that run."""

    def __init__(self, count: Count) -> None:
        super().__init__()
        self.count = count

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        packet = func._overloadpacket
        self.count.calls[str(packet)] += 1
        if packet is aten._scaled_dot_product_flash_attention_for_cpu_backward:
            self.count.attention += sdpa_backward_flop_count(*(list(a.shape) for a in args[:4]))
        elif packet is aten.convolution_backward and args[9] > 1 and args[10][1]:
            gy, x, weight = (list(a.shape) for a in args[:3])
            self.count.grouped += grouped_excess(x, gy, weight, args[7], args[9])
        return func(*args, **(kwargs or {}))


def count(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> Count:
    """One training step of `model` in training mode; inputs get no gradient. The loss is a random
    projection of the output (its first tensor), whose own backward has no product."""
    result = Count()
    model.train()
    output = model(*inputs)
    output = output[0] if isinstance(output, (tuple, list)) else output
    loss = (output * torch.randn_like(output)).sum()
    with FlopCounterMode(display=False) as counter, _Shapes(result):
        loss.backward()
    result.raw = counter.get_total_flops()
    result.by_operation = {str(op): n for op, n in counter.get_flop_counts()["Global"].items()}
    return result
