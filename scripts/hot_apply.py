"""Trains an ordinary PyTorch model with a plan of hot-analyze.

    import hot_apply

    applied = hot_apply.apply(model, "plan.json", seed=0)
    ...                 # any training loop: parameters, hooks and state_dict are the model's own
    applied.runs()      # backward products that really ran by the plan, by layer
    applied.remove()    # the model as it was

The planned layers run forward as ever and backward by their schemes, through the operators
hot::linear and hot::conv of libhot_ops.so (built into build/, or wherever HOT_OPS says), which
share their code with hot-analyze's own verification and training. They run in float32, on a CPU
or a CUDA GPU; anything else is refused by the layer's name.
"""

from __future__ import annotations

import json
import os
import types
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

__all__ = ["Applied", "PlanError", "apply", "load_ops"]

SCHEMA = "hot-analyze.plan.v1"
ROOT = Path(__file__).resolve().parents[1]


class PlanError(ValueError):
    """The plan can't be read, or doesn't fit the model: one line that names the layer."""


def load_ops(path: str | os.PathLike | None = None) -> None:
    """Loads libhot_ops.so once: `path`, else HOT_OPS of the environment, else build's own."""
    if hasattr(torch.ops.hot, "linear"):
        return
    library = Path(path or os.environ.get("HOT_OPS") or ROOT / "build" / "libhot_ops.so")
    if not library.exists():
        raise PlanError(
            f"{library}: no such file; build it with scripts/build hot_ops, or set HOT_OPS"
        )
    try:
        torch.ops.load_library(library)
    except OSError as error:
        raise PlanError(
            f"{library} doesn't load into torch {torch.__version__} ({error}); "
            "it must be built with this very torch: scripts/build hot_ops"
        ) from None


class Layer:
    """One planned layer: its schemes and its counters, of which copies start anew."""

    def __init__(self, name: str, grad_input: str, grad_weight: str, seed: int) -> None:
        self.arguments = (name, grad_input, grad_weight, seed)
        try:
            # The operators read seeds as 64 bits with a sign.
            self.op = torch.classes.hot.Layer(
                name, grad_input, grad_weight, (seed + 2**63) % 2**64 - 2**63
            )
        except RuntimeError as error:
            raise PlanError(str(error).splitlines()[0]) from None

    def __reduce__(self) -> tuple:  # for copy and pickle: what the operators hold has no state_dict
        return make_layer, self.arguments

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return torch.ops.hot.linear(x, weight, bias, self.op)


def make_layer(*arguments: Any) -> Layer:
    load_ops()
    return Layer(*arguments)


# A module's class is exchanged, not the module: parameters, buffers, hooks and names stay.


class PlannedLinear(nn.Linear):
    """nn.Linear with a planned backward. torch.compile breaks its graph around the call."""

    hot_layer: Layer

    @torch.compiler.disable
    def forward(self, input: Tensor) -> Tensor:
        return self.hot_layer.linear(input, self.weight, self.bias)


def convolve(
    conv: nn.Module, x: Tensor, weight: Tensor, bias: Tensor | None, padding: Any, outer: Any = None
) -> Tensor:
    """hot::conv with the module's window; `outer`: of a transposed one, its output padding."""
    unbatched = x.dim() == weight.dim() - 1
    y = torch.ops.hot.conv(
        x.unsqueeze(0) if unbatched else x,
        weight,
        bias,
        conv.stride,
        padding,
        conv.dilation,
        outer is not None,
        outer or [0] * len(conv.stride),
        conv.hot_layer.op,
    )
    return y.squeeze(0) if unbatched else y


class PlannedConv:
    """nn.ConvNd's side: all its paddings come down to zeros by hand or the operator's own."""

    hot_layer: Layer

    @torch.compiler.disable
    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        mode = "constant" if self.padding_mode == "zeros" else self.padding_mode
        around = self._reversed_padding_repeated_twice
        symmetric = around[::2] == around[1::2]
        if mode == "constant" and symmetric:
            return convolve(self, input, weight, bias, around[::2][::-1])
        return convolve(self, F.pad(input, around, mode=mode), weight, bias, [0] * len(self.stride))


class PlannedConvTranspose:
    """nn.ConvTransposeNd's side."""

    hot_layer: Layer

    @torch.compiler.disable
    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        spatial = len(self.stride)
        outer = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, spatial, self.dilation
        )
        return convolve(self, input, self.weight, self.bias, self.padding, list(outer))


class PlannedConv1d(PlannedConv, nn.Conv1d):
    pass


class PlannedConv2d(PlannedConv, nn.Conv2d):
    pass


class PlannedConv3d(PlannedConv, nn.Conv3d):
    pass


class PlannedConvTranspose1d(PlannedConvTranspose, nn.ConvTranspose1d):
    pass


class PlannedConvTranspose2d(PlannedConvTranspose, nn.ConvTranspose2d):
    pass


class PlannedConvTranspose3d(PlannedConvTranspose, nn.ConvTranspose3d):
    pass


def rebound(function: types.FunctionType, **names: Any) -> types.FunctionType:
    """The function's own code, in which `names` mean something else."""
    copy = types.FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


class Functional:
    """torch.nn.functional as nn.MultiheadAttention is to see it: with another `linear`."""

    def __init__(self, linear: Any) -> None:
        self.linear = linear
        projections = {
            name: rebound(getattr(F, name), linear=linear)
            for name in ("_in_projection_packed", "_in_projection")
        }
        self.multi_head_attention_forward = rebound(
            F.multi_head_attention_forward, linear=linear, **projections
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(F, name)


class PlannedAttention(nn.MultiheadAttention):
    """Its projections are no calls of modules: they run where torch's own code calls F.linear."""

    hot_layers: list[tuple[str, Layer]]  # name of the parameter below this module, its layer

    @torch.compiler.disable
    def forward(self, *arguments: Any, **named: Any) -> Any:
        if not torch.is_grad_enabled():
            return nn.MultiheadAttention.forward(self, *arguments, **named)
        planned = {id(self.get_parameter(name)): layer for name, layer in self.hot_layers}

        def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
            whole = weight if id(weight) in planned else weight._base  # a third of a packed weight
            layer = planned.get(id(whole))
            return F.linear(x, weight, bias) if layer is None else layer.linear(x, weight, bias)

        return rebound(nn.MultiheadAttention.forward, F=Functional(linear))(
            self, *arguments, **named
        )


PLANNED: dict[type, type] = {
    nn.Linear: PlannedLinear,
    nn.Conv1d: PlannedConv1d,
    nn.Conv2d: PlannedConv2d,
    nn.Conv3d: PlannedConv3d,
    nn.ConvTranspose1d: PlannedConvTranspose1d,
    nn.ConvTranspose2d: PlannedConvTranspose2d,
    nn.ConvTranspose3d: PlannedConvTranspose3d,
}


class Applied:
    """What apply() did to a model."""

    def __init__(self, layers: dict[str, Layer], undo: list[tuple[nn.Module, type]]) -> None:
        self.layers = layers
        self._undo = undo

    def runs(self) -> dict[str, tuple[int, int]]:
        """By layer: how many grad_input and grad_weight products ran since apply()."""
        return {name: tuple(layer.op.runs()) for name, layer in self.layers.items()}

    def remove(self) -> None:
        """Gives the modules their own classes back."""
        for module, own in self._undo:
            module.__class__ = own
            for name in ("hot_layer", "hot_layers"):
                module.__dict__.pop(name, None)
        self._undo = []


def read_plan(plan: str | os.PathLike | dict) -> list[dict]:
    """The layers of a plan file (or of its parsed JSON) that the plan changes."""
    where = "the plan"
    if not isinstance(plan, dict):
        where = os.fspath(plan)
        try:
            plan = json.loads(Path(plan).read_text())
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise PlanError(f"{where}: no plan can be read there: {error}") from None
    if not isinstance(plan, dict) or plan.get("schema") != SCHEMA:
        raise PlanError(f"{where}: not a plan of this version: its 'schema' isn't '{SCHEMA}'")
    try:
        layers = [
            {key: layer[key] for key in ("name", "weight_shape", "grad_input", "grad_weight")}
            for layer in plan["layers"]
        ]
    except (KeyError, TypeError) as error:
        raise PlanError(f"{where}: a layer of the plan lacks {error}") from None
    return [layer for layer in layers if {layer["grad_input"], layer["grad_weight"]} != {"exact"}]


def shape_text(shape: Any) -> str:
    return "x".join(str(size) for size in shape)


def find_parameter(model: nn.Module, layer: dict) -> nn.Parameter:
    """The weight that a planned layer is known by."""
    named = dict(model.named_parameters(remove_duplicate=False))
    name = layer["name"]
    weight = named.get(f"{name}.weight", named.get(name))
    if weight is None:
        raise PlanError(f"the plan is for another model: it has layer '{name}', this model hasn't")
    if list(weight.shape) != list(layer["weight_shape"]):
        raise PlanError(
            f"the plan is for another model: the weight of layer '{name}' is "
            f"{shape_text(layer['weight_shape'])} in the plan, {shape_text(weight.shape)} in this "
            "model"
        )
    if weight.device.type not in ("cpu", "cuda", "meta") or weight.dtype != torch.float32:
        raise PlanError(
            f"layer '{name}' is {str(weight.dtype).removeprefix('torch.')} on {weight.device}: "
            "planned layers run in float32 on a CPU or a CUDA GPU; convert the model, or make the "
            "layer exact in the plan"
        )
    return weight


class Replacing:
    """The classes that modules are to get; nothing is changed before all of them are known."""

    def __init__(self) -> None:
        self.classes: dict[nn.Module, type] = {}
        self.attributes: dict[nn.Module, dict[str, Any]] = {}

    def plan(self, model: nn.Module, name: str, weight: nn.Parameter, layer: Layer) -> None:
        """Every module that multiplies by `weight`, tied ones too."""
        found = False
        attention = [
            m for m in model.modules() if type(m) in (nn.MultiheadAttention, PlannedAttention)
        ]
        inside = {id(child): m for m in attention for child in m.modules()}
        for module in model.modules():
            for own_name, own in module.named_parameters(recurse=False, remove_duplicate=False):
                if own is not weight or isinstance(module, nn.Embedding):
                    continue
                if hasattr(module, "hot_layer") or hasattr(inside.get(id(module)), "hot_layers"):
                    raise PlanError(
                        f"layer '{name}' has a plan already: remove() what apply() returned for it"
                    )
                if id(module) in inside:
                    owner = inside[id(module)]
                    path = next(n for n, p in owner.named_parameters() if p is weight)
                    self.classes[owner] = PlannedAttention
                    attributes = self.attributes.setdefault(owner, {"hot_layers": []})
                    attributes["hot_layers"].append((path, layer))
                elif type(module) in PLANNED and own_name == "weight":
                    self.refuse_groups(module, name)
                    self.classes[module] = PLANNED[type(module)]
                    self.attributes[module] = {"hot_layer": layer}
                else:
                    raise PlanError(
                        f"layer '{name}' is parameter '{own_name}' of a {type(module).__name__}, "
                        "which has code of its own: make the layer exact in the plan "
                        f"(hot-analyze --keep-exact '{name}')"
                    )
                found = True
        if not found:
            raise PlanError(f"layer '{name}': no module multiplies by its weight")

    @staticmethod
    def refuse_groups(module: nn.Module, name: str) -> None:
        if getattr(module, "groups", 1) != 1:
            raise PlanError(
                f"layer '{name}' is a convolution in {module.groups} groups, which can't be planned"
            )

    def run(self) -> list[tuple[nn.Module, type]]:
        undo = [(module, type(module)) for module in self.classes]
        for module, planned in self.classes.items():
            module.__class__ = planned
            module.__dict__.update(self.attributes[module])
        return undo


def apply(
    model: nn.Module,
    plan: str | os.PathLike | dict,
    *,
    seed: int = 0,
    library: str | os.PathLike | None = None,
) -> Applied:
    """Lets the layers that `plan` changes train by it, in place; all else stays exact.

    `plan`: a file that hot-analyze --plan wrote, or its parsed JSON. `seed`: of stochastic
    rounding; hot-analyze train draws the same numbers from the same seed. Throws PlanError, with
    the model as it was, for a layer that the model lacks, whose weight has another shape, or that
    can't be replaced.
    """
    layers = read_plan(plan)
    load_ops(library)
    replacing = Replacing()
    planned: dict[str, Layer] = {}
    for layer in layers:
        name = layer["name"]
        weight = find_parameter(model, layer)
        planned[name] = Layer(name, layer["grad_input"], layer["grad_weight"], seed)
        replacing.plan(model, name, weight, planned[name])
    return Applied(planned, replacing.run())
