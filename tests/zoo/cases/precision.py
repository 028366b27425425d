"""Half, double and mixed precision, and int8."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from zoo import Case, both, tensor


class Small(nn.Module):
    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.norm = nn.LayerNorm(32)
        self.b = nn.Linear(32, 8)
        self.to(dtype)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.norm(self.a(x))))


class HalfConv(nn.Module):
    """With a BatchNorm, whose counter is an integer buffer that must stay one."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 4)
        self.register_buffer("order", torch.arange(7, -1, -1))
        self.to(dtype)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.bn(self.conv(x)))
        return self.head(x[:, self.order].mean([2, 3]))


class CastsInside(nn.Module):
    """float32 weights; the second layer's input is cast to bfloat16 and back."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.b = nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(self.a(x).to(torch.bfloat16).float())


def dynamic_int8() -> torch.jit.ScriptModule:
    """A linear quantized dynamically, beside a normal one."""
    model = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    return torch.jit.script(torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, torch.qint8))


def static_int8() -> torch.jit.ScriptModule:
    """A linear quantized statically, between a quantizer and a dequantizer."""
    model = nn.Sequential(
        torch.ao.quantization.QuantStub(), nn.Linear(32, 16), torch.ao.quantization.DeQuantStub()
    ).eval()
    model.qconfig = torch.ao.quantization.get_default_qconfig(torch.backends.quantized.engine)
    prepared = torch.ao.quantization.prepare(model)
    prepared(torch.randn(8, 32))
    return torch.jit.script(torch.ao.quantization.convert(prepared))


LAYERS = {"a": 1, "b": 1}
CONV = {"conv": 1, "head": 1}

# fmt: off
CASES = [
    *both(Case("float16", "float16 weights", lambda: Small(torch.float16),
               lambda: [tensor("x", 8, 32, dtype=torch.float16)], layers=LAYERS)),
    *both(Case("bfloat16", "bfloat16 weights", lambda: Small(torch.bfloat16),
               lambda: [tensor("x", 8, 32, dtype=torch.bfloat16)], layers=LAYERS)),
    Case("float64", "float64 weights", lambda: Small(torch.float64), lambda: [tensor("x", 8, 32, dtype=torch.float64)],
         layers=LAYERS),
    Case("float16_conv", "float16 convolution and BatchNorm with an index buffer", lambda: HalfConv(torch.float16),
         lambda: [tensor("x", 2, 3, 8, 8, dtype=torch.float16)], layers=CONV),
    Case("bfloat16_conv", "bfloat16 convolution and BatchNorm with an index buffer", lambda: HalfConv(torch.bfloat16),
         lambda: [tensor("x", 2, 3, 8, 8, dtype=torch.bfloat16)], layers=CONV),
    Case("casts_inside", "casts to bfloat16 and back between layers", CastsInside, lambda: [tensor("x", 8, 32)],
         layers=LAYERS),
    Case("int8_dynamic", "dynamically quantized linears", dynamic_int8, lambda: [tensor("input", 8, 32)], how="ready",
         expect_exit=3, expect_words=["int8"]),
    Case("int8_static", "a statically quantized linear", static_int8, lambda: [tensor("input", 8, 32)], how="ready",
         expect_exit=3, expect_words=["int8"]),
]
