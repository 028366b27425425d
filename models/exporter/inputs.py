"""The grammar of `--input` (models/README.md): text to a specification, and to example values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import torch

from .errors import UsageError

DTYPES = {
    name: getattr(torch, name)
    for name in (
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
    )
}


@dataclass(frozen=True)
class TensorSpec:
    """A tensor; its values lie in low..high, both ends included, if a range is given."""

    dtype: str
    shape: tuple[int, ...]
    range: tuple[float, float] | None = None

    def text(self) -> str:
        size = "x".join(map(str, self.shape)) or "scalar"
        limits = f":{self.range[0]:g}..{self.range[1]:g}" if self.range else ""
        if self.range and DTYPES[self.dtype].is_floating_point is False:
            limits = f":{int(self.range[0])}..{int(self.range[1])}"
        return f"{self.dtype}:{size}{limits}"


@dataclass(frozen=True)
class ScalarSpec:
    """A Python number, truth value, text or None."""

    value: int | float | bool | str | None

    def text(self) -> str:
        if self.value is None:
            return "none"
        if isinstance(self.value, bool):
            return f"bool:{str(self.value).lower()}"
        if isinstance(self.value, str):
            return (
                f'str:"{self.value}"'
                if re.search(r"[,\])}\s]", self.value)
                else f"str:{self.value}"
            )
        return f"{type(self.value).__name__}:{self.value}"


@dataclass(frozen=True)
class ContainerSpec:
    """A list, tuple or (with keys) dictionary of values."""

    kind: type
    items: tuple[Spec, ...]
    keys: tuple[str, ...] = ()

    def text(self) -> str:
        inner = [item.text() for item in self.items]
        if self.kind is dict:
            return "{" + ",".join(f"{key}:{item}" for key, item in zip(self.keys, inner)) + "}"
        left, right = "[]" if self.kind is list else "()"
        return left + ",".join(inner) + right


Spec = TensorSpec | ScalarSpec | ContainerSpec


class _Parser:
    """Recursive descent; `rest` is what hasn't been read."""

    def __init__(self, text: str) -> None:
        self.rest = text

    def whole(self) -> Spec:
        spec = self.value(top=True)
        if self.rest:
            raise UsageError(f"'{self.rest}' is left over behind the value")
        return spec

    def value(self, top: bool = False) -> Spec:
        self.rest = self.rest.lstrip(" ")
        if self.take("["):
            spec: Spec = ContainerSpec(list, *self.items("]", False))
        elif self.take("("):
            spec = ContainerSpec(tuple, *self.items(")", False))
        elif self.take("{"):
            spec = ContainerSpec(dict, *self.items("}", True))
        elif self.take("str:"):
            spec = ScalarSpec(self.string(top))
        else:
            spec = _atom(self.until("" if top else ",])}"))
        self.rest = self.rest.lstrip(" ")
        return spec

    def items(self, close: str, keyed: bool) -> tuple[tuple[Spec, ...], tuple[str, ...]]:
        items: list[Spec] = []
        keys: list[str] = []
        self.rest = self.rest.lstrip(" ")
        if self.take(close):
            return (), ()
        while True:
            if keyed:
                key = re.match(r" *([^,:\[\](){}]+):", self.rest)
                if not key:
                    raise UsageError(f"'{self.rest}' has no key; write {{KEY:value}}")
                keys.append(key.group(1))
                self.rest = self.rest[key.end() :]
            items.append(self.value())
            if self.take(close):
                return tuple(items), tuple(keys)
            if not self.take(","):
                raise UsageError(f"',' or '{close}' is missing before '{self.rest}'")

    def string(self, top: bool) -> str:
        if not self.take('"'):
            return self.until("" if top else ",])}")
        text, quote, self.rest = self.rest.partition('"')
        if not quote:
            raise UsageError("the closing quote is missing")
        return text

    def until(self, stops: str) -> str:
        end = next((i for i, c in enumerate(self.rest) if c in stops), len(self.rest))
        text, self.rest = self.rest[:end], self.rest[end:]
        return text.rstrip(" ")

    def take(self, start: str) -> bool:
        if not self.rest.startswith(start):
            return False
        self.rest = self.rest[len(start) :]
        return True


def _number(kind: type, text: str, example: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"'{text}' is not a number; write {example}") from None


def _atom(text: str) -> Spec:
    if not text:
        raise UsageError("a value is missing; write sizes as 8x3x224x224")
    if text in ("none", "None"):
        return ScalarSpec(None)
    head, colon, tail = text.partition(":")
    if head == "int" and colon:
        return ScalarSpec(_number(int, tail, "int:16000"))
    if head == "float" and colon:
        return ScalarSpec(_number(float, tail, "float:0.5"))
    if head == "bool" and tail in ("true", "false"):
        return ScalarSpec(tail == "true")
    if head[0].isdigit() or head == "scalar":
        head, tail = "float32", text
    return _tensor(head, tail)


def _tensor(dtype: str, text: str) -> TensorSpec:
    if dtype not in DTYPES:
        raise UsageError(f"'{dtype}' is no tensor type; one of {', '.join(DTYPES)}")
    size, colon, limits = text.partition(":")
    if size != "scalar" and not re.fullmatch(r"\d+(x\d+)*", size):
        raise UsageError(f"'{size}' is not a shape; write sizes as 8x3x224x224")
    shape = () if size == "scalar" else tuple(map(int, size.split("x")))
    if 0 in shape:
        raise UsageError(f"'{size}' has a size of 0")
    if not colon:
        return TensorSpec(dtype, shape)
    low, dots, high = limits.partition("..")
    if not dots:
        raise UsageError(f"'{limits}' is not a range; write LOW..HIGH, both ends included")
    kind = float if DTYPES[dtype].is_floating_point else int
    ends = _number(kind, low, "0..9"), _number(kind, high, "0..9")
    if ends[0] > ends[1]:
        raise UsageError(f"the range {limits} runs backwards")
    return TensorSpec(dtype, shape, ends)


def parse_input(text: str) -> tuple[str, Spec]:
    """Name (empty: by position) and specification. Raises UsageError that quotes the text."""
    try:
        named = re.match(r"([A-Za-z_][\w.]*)=", text)
        if named:
            return named.group(1), _Parser(text[named.end() :]).whole()
        return "", _Parser(text).whole()
    except UsageError as error:
        raise UsageError(f"--input '{text}': {error}") from None


def example(spec: Spec, generator: torch.Generator) -> Any:
    """A value as hot-analyze would make it: floats from N(0,1), integers 0..1 without a range."""
    if isinstance(spec, ScalarSpec):
        return spec.value
    if isinstance(spec, ContainerSpec):
        values = [example(item, generator) for item in spec.items]
        return dict(zip(spec.keys, values)) if spec.kind is dict else spec.kind(values)
    dtype = DTYPES[spec.dtype]
    if dtype.is_floating_point:
        if spec.range is None:
            return torch.randn(spec.shape, generator=generator).to(dtype)
        low, high = spec.range
        return (torch.rand(spec.shape, generator=generator) * (high - low) + low).to(dtype)
    if dtype is torch.bool and spec.range is None:
        return torch.ones(spec.shape, dtype=dtype)
    low, high = spec.range or (0, 1)
    return torch.randint(int(low), int(high) + 1, spec.shape, generator=generator).to(dtype)


def with_batch(specs: list[tuple[str, Spec]], batch: int) -> list[tuple[str, Spec]]:
    """Sets the first dimension of every tensor whose first dimension equals the first tensor's."""

    def tensors(spec: Spec) -> list[TensorSpec]:
        if isinstance(spec, ContainerSpec):
            return [found for item in spec.items for found in tensors(item)]
        return [spec] if isinstance(spec, TensorSpec) and spec.shape else []

    def resized(spec: Spec) -> Spec:
        if isinstance(spec, ContainerSpec):
            return replace(spec, items=tuple(resized(item) for item in spec.items))
        if isinstance(spec, TensorSpec) and spec.shape and spec.shape[0] == old:
            return replace(spec, shape=(batch, *spec.shape[1:]))
        return spec

    found = [t for _, spec in specs for t in tensors(spec)]
    if not found:
        return specs
    old = found[0].shape[0]
    return [(name, resized(spec)) for name, spec in specs]


def to_json(name: str, spec: Spec) -> dict[str, Any]:
    """One entry of `inputs` in hot_inputs.json."""
    entry: dict[str, Any] = {"name": name} if name else {}
    if not isinstance(spec, TensorSpec):
        return {**entry, "spec": spec.text()}
    entry |= {"dtype": spec.dtype, "shape": list(spec.shape)}
    if spec.range:
        entry |= {"low": spec.range[0], "high": spec.range[1]}
    return entry
