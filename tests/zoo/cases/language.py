"""Small language and vision models, and control flow."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from zoo import Case, both, integers, tensor


class Conv1D(nn.Module):
    """GPT-2's linear: addmm with a weight [in, out]."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.1)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        flat = torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight)
        return flat.view(x.shape[0], x.shape[1], self.weight.shape[1])


class CausalBlock(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(dim)
        self.c_attn = Conv1D(dim, 3 * dim)
        self.c_proj = Conv1D(dim, dim)
        self.ln_2 = nn.LayerNorm(dim)
        self.c_fc = Conv1D(dim, 4 * dim)
        self.c_out = Conv1D(4 * dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        n, tokens, dim = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(dim, dim=2)
        q = q.view(n, tokens, self.heads, dim // self.heads).transpose(1, 2)
        k = k.view(n, tokens, self.heads, dim // self.heads).transpose(1, 2)
        v = v.view(n, tokens, self.heads, dim // self.heads).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).reshape(n, tokens, dim))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    """GPT-2 in small: learned positions, pre-norm blocks, the head tied to the embedding."""

    def __init__(
        self,
        vocabulary: int = 97,
        dim: int = 32,
        layers: int = 2,
        heads: int = 4,
        context: int = 16,
    ) -> None:
        super().__init__()
        self.wte = nn.Embedding(vocabulary, dim)
        self.wpe = nn.Embedding(context, dim)
        self.h = nn.ModuleList([CausalBlock(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class RmsNorm(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class GatedMlp(nn.Module):
    """Llama's MLP: three linears without biases and a residual."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = RmsNorm(32)
        self.gate_proj = nn.Linear(32, 88, bias=False)
        self.up_proj = nn.Linear(32, 88, bias=False)
        self.down_proj = nn.Linear(88, 32, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = self.norm(x)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


class Mixer(nn.Module):
    """Linears along channels and, after a transpose, along tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Linear(9, 9)
        self.channels = nn.Linear(16, 16)
        self.head = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = x + F.gelu(self.tokens(x.transpose(1, 2))).transpose(1, 2)
        return self.head((x + F.gelu(self.channels(x))).mean(1))


class Branches(nn.Module):
    """The sign of the input's mean decides which layer runs."""

    def __init__(self) -> None:
        super().__init__()
        self.positive = nn.Linear(16, 8)
        self.negative = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        if x.abs().mean() > 0:
            return self.positive(x)
        return self.negative(x)


class WhileLoop(nn.Module):
    """Calls its layer until the activations are small."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        steps = 0
        while bool(x.abs().max() > 0.05) and steps < 4:
            x = 0.5 * torch.tanh(self.fc(x))
            steps += 1
        return self.fc(x)


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(x + self.bn2(self.conv2(y)))


class ResNet(nn.Module):
    """A stem, two residual blocks, a linear head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(16)
        self.blocks = nn.Sequential(Residual(16), Residual(16))
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(torch.relu(self.bn(self.stem(x)))).mean([2, 3]))


GPT2 = {f"h.{i}.{name}": 1 for i in range(2) for name in ("c_attn", "c_proj", "c_fc", "c_out")}
RESNET = {f"blocks.{i}.conv{j}": 1 for i in range(2) for j in (1, 2)}

# fmt: off
CASES = [
    *both(Case("gpt2", "GPT-2 in small: addmm weights [in, out], causal attention, tied head", Gpt2,
               lambda: [integers("tokens", 2, 12, high=96)], layers={**GPT2, "wte": 1}, products=2)),
    Case("llama_mlp", "RMS norm and a gated MLP", GatedMlp, lambda: [tensor("x", 2, 6, 32)],
         layers={"gate_proj": 1, "up_proj": 1, "down_proj": 1}),
    *both(Case("mixer", "linears along tokens and channels", Mixer, lambda: [tensor("x", 2, 9, 16)],
               layers={"tokens": 1, "channels": 1, "head": 1})),
    Case("branches", "data decides which layer runs", Branches, lambda: [tensor("x", 8, 16)], layers={"positive": 1},
         missing=["negative.weight", "negative.bias"]),
    Case("while_loop", "a layer called until its output is small", WhileLoop, lambda: [tensor("x", 8, 16)]),
    *both(Case("resnet", "a small residual network", ResNet, lambda: [tensor("x", 4, 3, 16, 16)],
               layers={"stem": 1, **RESNET, "head": 1}, task="classification")),
]
