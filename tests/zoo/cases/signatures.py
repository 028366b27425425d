"""Arguments and outputs of every type that TorchScript knows."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from zoo import Case, both, integers, mapping, none, scalar, sequence, tensor


class Base(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)


class ListInput(Base):
    def forward(self, xs: List[Tensor]) -> Tensor:
        return self.fc(torch.cat(xs, 0))


class TupleInput(Base):
    def forward(self, pair: Tuple[Tensor, Tensor]) -> Tensor:
        return self.fc(pair[0]) + self.fc(pair[1])


class DictInput(Base):
    def forward(self, features: Dict[str, Tensor]) -> Tensor:
        return self.fc(features["a"]) * features["b"].unsqueeze(1)


class ListOfDicts(Base):
    def forward(self, items: List[Dict[str, Tensor]]) -> Tensor:
        total = torch.zeros(1)
        for item in items:
            total = total + self.fc(item["x"]).sum()
        return total


class OptionalInput(Base):
    def forward(self, x: Tensor, y: Optional[Tensor] = None) -> Tensor:
        if y is not None:
            x = x + y
        return self.fc(x)


class OptionalTuple(Base):
    def forward(self, x: Tensor, state: Optional[Tuple[Tensor, Tensor]]) -> Tensor:
        if state is not None:
            x = x + state[0] + state[1]
        return self.fc(x)


class Scalars(Base):
    def forward(self, x: Tensor, times: int, scale: float, negate: bool, mode: str) -> Tensor:
        for _ in range(times):
            x = torch.tanh(self.fc(x)).repeat(1, 2)
        if negate:
            x = -x
        if mode == "double":
            x = 2.0 * x
        return x * scale


class Defaults(Base):
    def forward(
        self,
        x: Tensor,
        scale: float = 0.5,
        times: int = 2,
        negate: bool = False,
        mode: str = "plain",
    ) -> Tensor:
        if negate:
            x = -x
        if mode != "plain":
            x = x * 2.0
        return self.fc(x) * scale * times


class StringList(Base):
    def forward(self, x: Tensor, names: List[str]) -> Tensor:
        return self.fc(x) * len(names)


class IntList(Base):
    def forward(self, x: Tensor, shape: List[int]) -> Tensor:
        return self.fc(x).reshape(shape)


class State(nn.Module):
    """An LSTM whose state is an argument and an output."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(16, 24)
        self.fc = nn.Linear(24, 5)

    def forward(
        self, x: Tensor, state: Tuple[Tensor, Tensor]
    ) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        y, state = self.rnn(x, state)
        return self.fc(y), state


class MaskedTokens(nn.Module):
    """Token numbers and a mask of the same shape, as text encoders take them."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.fc = nn.Linear(16, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, tokens: Tensor, attention_mask: Tensor) -> Tensor:
        h = torch.relu(self.fc(self.embedding(tokens))) * attention_mask.unsqueeze(-1)
        return self.head(h.sum(1) / attention_mask.sum(1, keepdim=True))


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.embedding(tokens).mean(1))


class BagOffsets(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(30, 16)
        self.head = nn.Linear(16, 3)

    def forward(self, tokens: Tensor, offsets: Tensor) -> Tensor:
        return self.head(self.bag(tokens, offsets))


class DictOutput(Base):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        h = self.fc(x)
        return {"out": h, "aux": h.mean(1)}


class TupleOutput(Base):
    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, int]:
        h = self.fc(x)
        return h.argmax(1), h, x.shape[0]


class NestedOutput(Base):
    def forward(self, x: Tensor) -> Dict[str, List[Tensor]]:
        h = self.fc(x)
        return {"levels": [h, h * 2.0], "empty": []}


class OptionalOutput(Base):
    def forward(self, x: Tensor) -> Tuple[Tensor, Optional[Tensor]]:
        return self.fc(x), None


class OwnLoss(Base):
    """Returns its own loss, a scalar."""

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(self.fc(x), labels)


class TwoInputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.image = nn.Conv2d(3, 16, 3, padding=1)
        self.text = nn.Linear(24, 16)

    def forward(self, image: Tensor, text: Tensor) -> Tensor:
        return torch.relu(self.image(image)).mean([2, 3]) @ self.text(text).t()


class NoInput(nn.Module):
    """Takes no argument at all."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 8)
        self.register_buffer("seed", torch.randn(4, 16))

    def forward(self) -> Tensor:
        return self.fc(self.seed)


class ComplexInside(Base):
    """A Fourier transform between input and layer."""

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(x, n=30)
        return self.fc(torch.view_as_real(spectrum).flatten(1)[:, :16])


ROW = (8, 16)
FC = {"fc": 1}

# fmt: off
CASES = [
    Case("list_input", "List[Tensor]", ListInput,
         lambda: [sequence("xs", tensor("", 4, 16), tensor("", 2, 16))], layers=FC),
    *both(Case("tuple_input", "Tuple[Tensor, Tensor]", TupleInput,
               lambda: [sequence("pair", tensor("", *ROW), tensor("", *ROW), of=tuple)], layers={"fc": 2})),
    Case("dict_input", "Dict[str, Tensor]", DictInput,
         lambda: [mapping("features", a=tensor("", *ROW), b=tensor("", 8))], layers=FC),
    Case("list_of_dicts", "List[Dict[str, Tensor]]", ListOfDicts,
         lambda: [sequence("items", mapping("", x=tensor("", *ROW)), mapping("", x=tensor("", 4, 16)))],
         layers={"fc": 2}),
    Case("optional_input", "an optional tensor, left out", OptionalInput, lambda: [tensor("x", *ROW)], layers=FC),
    Case("optional_input_given", "an optional tensor, given", OptionalInput,
         lambda: [tensor("x", *ROW), tensor("y", *ROW)], layers=FC),
    Case("optional_tuple", "Optional[Tuple[Tensor, Tensor]], none", OptionalTuple,
         lambda: [tensor("x", *ROW), none("state")], layers=FC),
    Case("scalars", "int, float, bool and str arguments", Scalars,
         lambda: [tensor("x", *ROW), scalar("times", 2), scalar("scale", 0.5), scalar("negate", True),
                  scalar("mode", "double")], layers={"fc": 2}),
    Case("defaults", "arguments with defaults", Defaults, lambda: [tensor("x", *ROW)], layers=FC),
    Case("string_list", "List[str]", StringList,
         lambda: [tensor("x", *ROW), sequence("names", scalar("", "a"), scalar("", "b"))], layers=FC),
    Case("int_list", "List[int]", IntList,
         lambda: [tensor("x", *ROW), sequence("shape", scalar("", 4), scalar("", 16))], layers=FC),
    Case("lstm_state", "an LSTM's state as argument and output", State,
         lambda: [tensor("x", 5, 2, 16), sequence("state", tensor("", 1, 2, 24), tensor("", 1, 2, 24), of=tuple)]),
    *both(Case("masked_tokens", "token numbers and a mask", MaskedTokens,
               lambda: [integers("tokens", 2, 6, high=49), tensor("attention_mask", 2, 6, dtype=torch.bool)],
               layers={"fc": 1, "head": 1}, task="classification")),
    Case("masked_tokens_no_specification", "token numbers and a mask; nothing in the file tells shapes", MaskedTokens,
         lambda: [integers("tokens", 2, 6, high=49), tensor("attention_mask", 2, 6, dtype=torch.bool)],
         layers={"fc": 1, "head": 1}, specification=False),
    Case("tokens_no_specification", "token numbers; nothing in the file tells shapes", Tokens,
         lambda: [integers("tokens", 2, 6, high=49)], layers={"head": 1}, specification=False),
    Case("bag_offsets", "embedding_bag with offsets", BagOffsets,
         lambda: [integers("tokens", 12, high=29), integers("offsets", 4, high=0)], layers={"head": 1}),
    *both(Case("dict_output", "Dict[str, Tensor] out", DictOutput, lambda: [tensor("x", *ROW)], layers=FC)),
    Case("tuple_output", "a tuple whose first tensor has no gradient", TupleOutput, lambda: [tensor("x", *ROW)],
         layers=FC),
    Case("nested_output", "a dictionary of lists, one empty", NestedOutput, lambda: [tensor("x", *ROW)], layers=FC),
    Case("optional_output", "a tuple with None", OptionalOutput, lambda: [tensor("x", *ROW)], layers=FC),
    Case("own_loss", "the model returns its own loss", OwnLoss,
         lambda: [tensor("x", *ROW), integers("labels", 8, high=7)], layers=FC),
    Case("two_inputs", "an image and a vector", TwoInputs, lambda: [tensor("image", 2, 3, 8, 8), tensor("text", 4, 24)],
         layers={"image": 1, "text": 1}, products=1),
    Case("no_input", "forward takes nothing", NoInput, lambda: [], layers=FC),
    Case("fourier", "a Fourier transform before the layer", ComplexInside, lambda: [tensor("x", 8, 30)], layers=FC),
]
