"""Gradients that are zero, missing, sparse or not finite, and models that can't be analysed."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from zoo import Case, both, integers, tensor


class ZeroHead(nn.Module):
    """A head of zeros: every gradient before it is exactly zero."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(32, 32)
        self.head = nn.Linear(32, 8)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.body(x)))


class DeadRelu(nn.Module):
    """A ReLU that lets nothing through: the layers before it have zero gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.b = nn.Linear(16, 8)
        nn.init.constant_(self.a.bias, -100.0)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x)))


class SparseEmbedding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(50, 16, mode="sum", sparse=True)
        self.fc = nn.Linear(16, 4)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.fc(self.bag(tokens))


class NotANumber(nn.Module):
    """The square root of a negative number between two layers: NaN from `a` on."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.b = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.sqrt(-self.a(x).abs() - 1.0))


class InfiniteGradient(nn.Module):
    """The square root's slope at zero: a finite output whose gradient is infinite."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.b = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        h = self.a(x)
        return self.b(torch.sqrt(h - h.detach()))


class NoDerivative(nn.Module):
    """An operator whose derivative torch doesn't have."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return torch.special.zeta(self.fc(x).abs() + 2.0, torch.ones(1))


class NanWeight(nn.Module):
    """One NaN among the weights of `b`."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.b = nn.Linear(16, 8)
        with torch.no_grad():
            self.b.weight[3, 5] = float("nan")

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x)))


class Detached(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x).detach()


class Argmax(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x).argmax(1)


class NoOutput(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> None:
        self.fc(x)


class NoParameters(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x) * 2.0


class AllFrozen(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)
        self.fc.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x)


class OnlyEncode(nn.Module):
    """Has no forward; `encode` is exported."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)

    @torch.jit.export
    def encode(self, x: Tensor) -> Tensor:
        return self.fc(x)


class OnlyBatchNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bn = nn.BatchNorm2d(3)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.bn(x))


class OnlyDepthwise(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.b = nn.Conv2d(8, 8, 3, padding=1, groups=8)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x)))


class OnlyEmbedding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.embedding(tokens).mean(1)


class OneParameter(nn.Module):
    """Only a scale: there is a gradient and no layer."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


class BatchCheck(nn.Module):
    """Refuses a batch under 4, with a built-in error."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] < 4:
            raise ValueError("batch too small: need at least 4 rows")
        return self.fc(x)


class SizeCheck(nn.Module):
    """Hard-wired to 20x20 images by the width of its linear."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.fc = nn.Linear(8 * 18 * 18, 4)

    def forward(self, x: Tensor) -> Tensor:
        assert x.shape[2] == 20 and x.shape[3] == 20, "images must be 20 by 20"
        return self.fc(self.conv(x).flatten(1))


class FixedLength(nn.Module):
    """Takes few lengths, of which 38 is the shortest."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(1, 8, 3)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[2] % 7 != 3 or x.shape[2] % 11 != 5:
            raise ValueError("no such number of samples is supported")
        return self.conv(x).mean(2)


class BatchOneFails(nn.Module):
    """BatchNorm on vectors: a batch of one raises a built-in ValueError in training."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 4)
        self.bn = nn.BatchNorm1d(4)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(self.fc(x))


class ConstantOutput(nn.Module):
    """The output doesn't depend on the layer at all."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(self.fc(x))


ROW = (8, 16)
AB = [f"{a}.{b}" for a in "ab" for b in ("weight", "bias")]

# fmt: off
CASES = [
    *both(Case("zero_head", "a head of zeros", ZeroHead, lambda: [tensor("x", 8, 32)], layers={"body": 1, "head": 1},
               zero=["body.weight", "body.bias"])),
    Case("dead_relu", "a ReLU that lets nothing through", DeadRelu, lambda: [tensor("x", *ROW)],
         layers={"a": 1, "b": 1}, zero=["a.weight", "a.bias", "b.weight"]),
    Case("sparse_embedding", "embedding_bag with a sparse gradient", SparseEmbedding,
         lambda: [integers("tokens", 4, 6, high=49)], sparse=["bag.weight"]),
    Case("nan", "NaN from the first layer on", NotANumber, lambda: [tensor("x", *ROW)],
         nonfinite=["a.weight", "a.bias", "b.weight"], expect_exit=3, expect_words=["NaN"]),
    Case("nan_weight", "one NaN among the weights of b", NanWeight, lambda: [tensor("x", *ROW)],
         nonfinite=["a.weight", "a.bias"], expect_exit=3, expect_words=["b"]),
    Case("infinite_gradient", "a finite output whose gradient is infinite or NaN", InfiniteGradient,
         lambda: [tensor("x", *ROW)], nonfinite=["a.weight", "a.bias"], zero=["b.weight"], expect_exit=3, expect_words=["a"]),
    Case("no_derivative", "an operator without a derivative", NoDerivative, lambda: [tensor("x", *ROW)],
         refuses_backward=True, expect_exit=3, expect_words=["zeta"]),
    Case("detached", "the output is detached", Detached, lambda: [tensor("x", *ROW)],
         missing=["fc.weight", "fc.bias"], expect_exit=3, expect_words=["gradient"]),
    Case("argmax", "the output is an index", Argmax, lambda: [tensor("x", *ROW)],
         missing=["fc.weight", "fc.bias"], expect_exit=3, expect_words=["gradient"]),
    Case("no_output", "forward returns nothing", NoOutput, lambda: [tensor("x", *ROW)],
         missing=["fc.weight", "fc.bias"], expect_exit=3, expect_words=["output"]),
    Case("constant_output", "the output doesn't depend on the layer", ConstantOutput, lambda: [tensor("x", *ROW)],
         missing=["fc.weight", "fc.bias"], expect_exit=3, expect_words=["gradient"]),
    Case("no_parameters", "no parameters", NoParameters, lambda: [tensor("x", *ROW)], expect_exit=3,
         expect_words=["no parameters"]),
    Case("all_frozen", "no parameter requires a gradient: all are made to", AllFrozen, lambda: [tensor("x", *ROW)],
         missing=["fc.weight", "fc.bias"], layers={"fc": 1}),
    Case("no_forward", "no forward, another method is exported", OnlyEncode, lambda: [tensor("x", *ROW)],
         method="encode", layers={"fc": 1}),
    Case("only_batch_norm", "no layer that could be eligible", OnlyBatchNorm, lambda: [tensor("x", 4, 3, 6, 6)],
         layers={}),
    Case("only_depthwise", "depthwise convolutions alone", OnlyDepthwise, lambda: [tensor("x", 2, 8, 6, 6)],
         layers={"a": 1, "b": 1}),
    Case("only_embedding", "an embedding alone", OnlyEmbedding, lambda: [integers("tokens", 4, 6, high=19)],
         layers={}),
    Case("one_parameter", "a scale alone", OneParameter, lambda: [tensor("x", *ROW)], layers={}),
    Case("batch_check", "refuses a batch under 4; a larger one is tried", BatchCheck, lambda: [tensor("x", 4, 16)],
         specification=False, layers={"fc": 1}),
    Case("size_check", "hard-wired to 20x20 images, which only the linear tells", SizeCheck,
         lambda: [tensor("x", 2, 3, 20, 20)], specification=False, layers={"conv": 1, "fc": 1}),
    Case("fixed_length", "takes few lengths, which nothing tells", FixedLength,
         lambda: [tensor("x", 2, 1, 38)], specification=False, expect_exit=3,
         expect_words=["no such number of samples", "--input"]),
    Case("batch_norm_vectors", "a batch of one raises ValueError in training", BatchOneFails,
         lambda: [tensor("x", *ROW)], layers={"fc": 1}),
]
