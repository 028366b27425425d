"""Attention, and other products of two activations."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from zoo import Case, both, tensor


class MultiheadAttention(nn.Module):
    def __init__(self, weights: bool) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(32, 4, batch_first=True)
        self.out = nn.Linear(32, 8)
        self.weights = weights

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.attn(x, x, x, need_weights=self.weights)[0])


class CrossAttention(nn.Module):
    """Query and key differ in width, so that the three projections are separate weights."""

    def __init__(self) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(32, 4, kdim=24, vdim=16, batch_first=True)

    def forward(self, x: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return self.attn(x, k, v, need_weights=False)[0]


class Projected(nn.Module):
    """Separate query, key and value linears around an attention; heads of 8."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(32, 32)
        self.k = nn.Linear(32, 32)
        self.v = nn.Linear(32, 32)
        self.out = nn.Linear(32, 32)

    def heads(self, x: Tensor) -> Tensor:
        return x.view(x.shape[0], x.shape[1], 4, 8).transpose(1, 2)

    def merge(self, x: Tensor) -> Tensor:
        return self.out(x.transpose(1, 2).flatten(2))


class FusedAttention(Projected):
    def forward(self, x: Tensor) -> Tensor:
        return self.merge(
            F.scaled_dot_product_attention(
                self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
            )
        )


class MaskedAttention(Projected):
    """A boolean mask, true where a key may be seen."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        return self.merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :]))


class AdditiveMaskAttention(Projected):
    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        return self.merge(F.scaled_dot_product_attention(q, k, v, attn_mask=bias))


class CausalAttention(Projected):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        return self.merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class GroupedQueryAttention(nn.Module):
    """Four query heads share two key and value heads."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(32, 32)
        self.k = nn.Linear(32, 16)
        self.v = nn.Linear(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        n, tokens = x.shape[0], x.shape[1]
        q = self.q(x).view(n, tokens, 4, 8).transpose(1, 2)
        k = self.k(x).view(n, tokens, 2, 8).transpose(1, 2)
        v = self.v(x).view(n, tokens, 2, 8).transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2).flatten(2)


class ExplicitAttention(Projected):
    """Two matmuls of activations and a softmax."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(8.0)
        return self.merge(torch.matmul(torch.softmax(scores, -1), v))


class BmmAttention(Projected):
    """Scores by baddbmm, as older transformers write it."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.q(x), self.k(x), self.v(x)
        bias = torch.zeros(1, 1, 1)
        scores = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=0.2)
        return self.out(torch.bmm(torch.softmax(scores, -1), v))


class EinsumAttention(Projected):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        scores = torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k), -1)
        return self.merge(torch.einsum("bhij,bhjd->bhid", scores, v))


class EinsumWeight(nn.Module):
    """A linear written as an einsum with its weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 8, 32) * 0.1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("btd,hed->bhte", x, self.weight)


class Bilinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(16, 8)
        self.bilinear = nn.Bilinear(8, 8, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = self.a(x)
        return self.bilinear(h, torch.tanh(h))


class Encoder(nn.Module):
    def __init__(self, layers: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(x).mean(1))


class GramMatrix(nn.Module):
    """A product of an activation with itself."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        h = self.fc(x)
        return h @ h.t()


class NoWeights(nn.Module):
    """Attention whose only layers are its own products: embeddings are parameters, not layers."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(1, 6, 16))

    def forward(self, x: Tensor) -> Tensor:
        k = self.tokens.expand(x.shape[0], -1, -1)
        return torch.softmax(x @ k.transpose(1, 2), -1) @ k


SEQUENCE = (2, 6, 32)
QKV = {"q": 1, "k": 1, "v": 1, "out": 1}
ENCODER = {
    f"encoder.layers.{i}.{name}": 1
    for i in range(2)
    for name in ("self_attn.in_proj_weight", "self_attn.out_proj", "linear1", "linear2")
}

# fmt: off
CASES = [
    *both(Case("mha", "nn.MultiheadAttention without weights: fused attention", lambda: MultiheadAttention(False),
               lambda: [tensor("x", *SEQUENCE)], products=1)),
    Case("mha_weights", "nn.MultiheadAttention with weights: explicit products", lambda: MultiheadAttention(True),
         lambda: [tensor("x", *SEQUENCE)], products=2),
    Case("cross_attention", "keys and values from other inputs with other widths", CrossAttention,
         lambda: [tensor("x", *SEQUENCE), tensor("k", 2, 5, 24), tensor("v", 2, 5, 16)], products=1),
    *both(Case("sdpa", "fused attention", FusedAttention, lambda: [tensor("x", *SEQUENCE)], layers=QKV, products=1)),
    *both(Case("sdpa_mask", "fused attention with a boolean mask", MaskedAttention,
               lambda: [tensor("x", *SEQUENCE), tensor("mask", 2, 6, dtype=torch.bool)], layers=QKV, products=1)),
    Case("sdpa_additive_mask", "fused attention with an additive mask", AdditiveMaskAttention,
         lambda: [tensor("x", *SEQUENCE), tensor("bias", 2, 4, 6, 6)], layers=QKV, products=1),
    Case("sdpa_causal", "causal fused attention", CausalAttention, lambda: [tensor("x", *SEQUENCE)], layers=QKV,
         products=1),
    Case("sdpa_grouped_query", "four query heads, two key heads", GroupedQueryAttention,
         lambda: [tensor("x", *SEQUENCE)], layers={"q": 1, "k": 1, "v": 1}),
    *both(Case("attention_matmul", "attention as two matmuls", ExplicitAttention,
               lambda: [tensor("x", *SEQUENCE)], layers=QKV, products=2)),
    Case("attention_bmm", "attention as baddbmm and bmm", BmmAttention, lambda: [tensor("x", *SEQUENCE)],
         layers=QKV, products=2),
    Case("attention_einsum", "attention as two einsums", EinsumAttention, lambda: [tensor("x", *SEQUENCE)],
         layers=QKV, products=2),
    Case("einsum_weight", "a linear written as an einsum", EinsumWeight, lambda: [tensor("x", *SEQUENCE)]),
    Case("bilinear", "nn.Bilinear", Bilinear, lambda: [tensor("x", 4, 16)]),
    Case("transformer_encoder", "nn.TransformerEncoder, two layers; with dropout torch leaves the fused attention",
         lambda: Encoder(2), lambda: [tensor("x", *SEQUENCE)], layers={**ENCODER, "head": 1}, products=4),
    Case("transformer_encoder_traced", "the same traced in evaluation mode: no dropout, fused attention",
         lambda: Encoder(2), lambda: [tensor("x", *SEQUENCE)], how="trace", specification=False,
         layers={**ENCODER, "head": 1}, products=2),
    Case("gram", "an activation times itself transposed", GramMatrix, lambda: [tensor("x", 6, 16)],
         layers={"fc": 1}, products=1),
    Case("attention_to_parameters", "attention to learned tokens; no linear at all", NoWeights,
         lambda: [tensor("x", 2, 5, 16)]),
]
