"""Linear layers, in every way to write one."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from zoo import Case, both, tensor


class Linear(nn.Module):
    def __init__(self, bias: bool) -> None:
        super().__init__()
        self.fc = nn.Linear(32, 16, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x)


class Weight(nn.Module):
    """Holds `weight` [rows, columns] and `bias` [16]."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(rows, columns) * 0.1)
        self.bias = nn.Parameter(torch.randn(16) * 0.1)


class Functional(Weight):
    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


class AddmmTransposed(Weight):
    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight.t())


class AddmmPlain(Weight):
    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight)


class MatmulTransposed(Weight):
    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.weight.t()) + self.bias


class MatmulPlain(Weight):
    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.weight) + self.bias


class MatmulLeft(Weight):
    """The weight is the left factor: W xᵀ."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(self.weight, x.t()).t() + self.bias


class MmTransposed(Weight):
    def forward(self, x: Tensor) -> Tensor:
        return torch.mm(x, self.weight.t()) + self.bias


class MatrixVector(Weight):
    def forward(self, x: Tensor) -> Tensor:
        return torch.mv(self.weight, x) + self.bias


class BatchedWeights(nn.Module):
    """One weight a batch item (experts): baddbmm of [4, 8, 32] by [4, 32, 16]."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 32, 16) * 0.1)
        self.bias = nn.Parameter(torch.randn(4, 1, 16) * 0.1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, x, self.weight)


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class OddSizes(nn.Module):
    """No dimension is a multiple of 16, nor of 8."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(37, 19)
        self.b = nn.Linear(19, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.tanh(self.a(x)))


class OneWide(nn.Module):
    """A hidden width of one and a single output."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(16, 1)
        self.b = nn.Linear(1, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(self.a(x))


ONE = {"fc": 1}
ROOT = {"weight": 1}

# fmt: off
CASES = [
    *both(Case("linear", "one linear with a bias", lambda: Linear(True), lambda: [tensor("x", 8, 32)], layers=ONE)),
    *both(Case("linear_no_bias", "one linear without a bias", lambda: Linear(False),
               lambda: [tensor("x", 8, 32)], layers=ONE)),
    Case("linear_1d", "a linear on a vector", lambda: Linear(True), lambda: [tensor("x", 32)], layers=ONE),
    Case("linear_no_bias_1d", "a linear without a bias on a vector", lambda: Linear(False),
         lambda: [tensor("x", 32)], layers=ONE),
    Case("linear_3d", "a linear on 3-d input", lambda: Linear(True), lambda: [tensor("x", 2, 8, 32)], layers=ONE),
    Case("linear_no_bias_3d", "a linear without a bias on 3-d input", lambda: Linear(False),
         lambda: [tensor("x", 2, 8, 32)], layers=ONE),
    Case("linear_4d", "a linear on 4-d input", lambda: Linear(True), lambda: [tensor("x", 2, 3, 4, 32)], layers=ONE),
    Case("functional", "F.linear with a parameter of the model itself", lambda: Functional(16, 32),
         lambda: [tensor("x", 8, 32)], layers=ROOT),
    *both(Case("addmm_transposed", "a linear written as addmm with weight.t()", lambda: AddmmTransposed(16, 32),
               lambda: [tensor("x", 8, 32)], layers=ROOT)),
    *both(Case("addmm_plain", "a linear written as addmm, weight [in, out]", lambda: AddmmPlain(32, 16),
               lambda: [tensor("x", 8, 32)], layers=ROOT)),
    *both(Case("matmul_transposed", "a linear written as matmul with weight.t(), 3-d input",
               lambda: MatmulTransposed(16, 32), lambda: [tensor("x", 2, 8, 32)], layers=ROOT)),
    Case("matmul_plain", "a linear written as matmul, weight [in, out], 3-d input", lambda: MatmulPlain(32, 16),
         lambda: [tensor("x", 2, 8, 32)], layers=ROOT),
    Case("matmul_1d", "a linear written as matmul on a vector", lambda: MatmulPlain(32, 16),
         lambda: [tensor("x", 32)], layers=ROOT),
    Case("matmul_left", "a linear written as weight times transposed input", lambda: MatmulLeft(16, 32),
         lambda: [tensor("x", 8, 32)], layers=ROOT),
    Case("mm_transposed", "a linear written as mm with weight.t()", lambda: MmTransposed(16, 32),
         lambda: [tensor("x", 8, 32)], layers=ROOT),
    Case("mv", "a matrix times a vector", lambda: MatrixVector(16, 32), lambda: [tensor("x", 32)], layers=None),
    Case("baddbmm_weights", "one weight for each batch item", BatchedWeights, lambda: [tensor("x", 4, 8, 32)],
         layers=None),
    *both(Case("mlp", "three linears", Mlp, lambda: [tensor("x", 16, 32)],
               layers={"net.0": 1, "net.2": 1, "net.4": 1}, task="classification")),
    Case("odd_sizes", "no dimension is a multiple of 16", OddSizes, lambda: [tensor("x", 7, 37)],
         layers={"a": 1, "b": 1}),
    Case("one_wide", "a hidden width of one", OneWide, lambda: [tensor("x", 4, 16)], layers={"a": 1, "b": 1}),
    Case("mlp_no_specification", "three linears; nothing in the file tells the input's shape", Mlp,
         lambda: [tensor("x", 2, 32)], layers={"net.0": 1, "net.2": 1, "net.4": 1}, specification=False),
]
