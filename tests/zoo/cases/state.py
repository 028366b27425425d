"""Recurrent layers, buffers that change, normalisation, dropout, in-place operations."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from zoo import Case, both, tensor


class Recurrent(nn.Module):
    """An LSTM or GRU under a linear."""

    def __init__(self, kind: str, layers: int, bidirectional: bool) -> None:
        super().__init__()
        make = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}[kind]
        self.rnn = make(16, 24, num_layers=layers, bidirectional=bidirectional, batch_first=True)
        self.head = nn.Linear(48 if bidirectional else 24, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.rnn(x)[0])


class Cell(nn.Module):
    """An LSTM cell, stepped by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(16, 24)
        self.head = nn.Linear(24, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.shape[0], 24)
        c = torch.zeros(x.shape[0], 24)
        for step in range(x.shape[1]):
            h, c = self.cell(x[:, step], (h, c))
        return self.head(h)


class Stateful(nn.Module):
    """Keeps its hidden state from call to call: a second backward through it would fail."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 16)
        self.register_buffer("h", torch.zeros(4, 16))

    def forward(self, x: Tensor) -> Tensor:
        self.h = torch.tanh(self.fc(x) + self.h)
        return self.h


class Counter(nn.Module):
    """Counts its calls in a buffer, in place, and scales by the count."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 16)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.calls.add_(1)
        return self.fc(x) * self.calls


class Normalised(nn.Module):
    """Convolution, BatchNorm with running statistics, in-place ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(16)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(16, 8, 3, padding=1)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.bn(self.conv(x)))
        x = self.relu(self.conv2(x))
        return self.head(x.mean([2, 3]))


class Dropped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.drop = nn.Dropout(0.5)
        self.b = nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(self.drop(torch.relu(self.a(x))))


class Noisy(nn.Module):
    """Adds fresh noise in every forward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 32)
        self.b = nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        h = self.a(x)
        return self.b(h + 0.5 * torch.randn_like(h))


class InPlaceConv(nn.Module):
    """An in-place ReLU straight behind each convolution and linear."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 8, 3)
        self.fc = nn.Linear(8, 8)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.conv2(self.relu(self.conv(x))))
        return self.relu(self.fc(x.mean([2, 3])))


class ChangesInput(nn.Module):
    """Changes its input in place."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        x.sub_(0.5).div_(2.0)
        return self.fc(x)


class BatchNormTranspose(nn.Module):
    """BatchNorm, then flatten and transpose: its gradient comes back with channels-last strides."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.bn = nn.BatchNorm2d(16)
        self.fc = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.bn(self.conv(x)).flatten(2).transpose(1, 2))


STEPS = (2, 5, 16)

# fmt: off
CASES = [
    *both(Case("lstm", "one-layer LSTM", lambda: Recurrent("lstm", 1, False), lambda: [tensor("x", *STEPS)])),
    Case("lstm_bidirectional", "two-layer bidirectional LSTM", lambda: Recurrent("lstm", 2, True),
         lambda: [tensor("x", *STEPS)]),
    *both(Case("gru", "one-layer GRU", lambda: Recurrent("gru", 1, False), lambda: [tensor("x", *STEPS)])),
    Case("rnn", "plain tanh RNN", lambda: Recurrent("rnn", 1, False), lambda: [tensor("x", *STEPS)]),
    Case("lstm_cell", "an LSTM cell in a loop", Cell, lambda: [tensor("x", *STEPS)]),
    Case("stateful", "a buffer that holds the last hidden state", Stateful, lambda: [tensor("x", 4, 16)],
         layers={"fc": 1}),
    Case("counter", "a buffer that counts calls and scales the output", Counter, lambda: [tensor("x", 4, 16)],
         layers={"fc": 1}),
    *both(Case("batch_norm", "convolution, BatchNorm, in-place ReLU", Normalised, lambda: [tensor("x", 4, 3, 10, 10)],
               layers={"conv": 1, "conv2": 1, "head": 1})),
    *both(Case("dropout", "dropout of one half", Dropped, lambda: [tensor("x", 8, 32)], layers={"a": 1, "b": 1})),
    Case("noisy", "fresh noise in every forward pass", Noisy, lambda: [tensor("x", 8, 32)], layers={"a": 1, "b": 1}),
    *both(Case("inplace_relu", "in-place ReLU behind each layer", InPlaceConv, lambda: [tensor("x", 2, 3, 10, 10)],
               layers={"conv": 1, "conv2": 1, "fc": 1})),
    Case("changes_input", "changes its input in place", ChangesInput, lambda: [tensor("x", 8, 32)],
         layers={"fc": 1}),
    Case("batch_norm_transpose", "BatchNorm, flatten and transpose", BatchNormTranspose,
         lambda: [tensor("x", 2, 3, 6, 6)], layers={"conv": 1, "fc": 1}),
]
