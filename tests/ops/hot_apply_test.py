#!/usr/bin/env python3
"""scripts/hot_apply.py on small eager models: what changes (gradients alone) and what doesn't.

hot_apply_test.py LIBHOT_OPS
"""

import copy
import os
import pickle
import sys
import tempfile
import unittest
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import hot_apply  # noqa: E402

INT8 = ("none+int8/row/nearest", "had16+int8/tensor/nearest")
NOISY = ("had16+int4/tensor/stochastic", "none+int8/tensor/stochastic")
ONLY_TRANSFORMS = ("had16", "had16")  # exact but for the order of float32 sums


def plan_of(model, schemes, names=None):
    """A plan with these schemes for every weight that is a matrix or a kernel."""
    layers = []
    for name, weight in model.named_parameters():
        layer = name.removesuffix(".weight")
        if weight.dim() < 2 or (names is not None and layer not in names):
            continue
        layers.append(
            {
                "name": layer,
                "weight_shape": list(weight.shape),
                "grad_input": schemes[0],
                "grad_weight": schemes[1],
            }
        )
    return {"schema": "hot-analyze.plan.v1", "policy": "test", "layers": layers}


class Mixed(nn.Module):
    """Convolutions of every padding, linears on matrices and on rows of three dimensions."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.same = nn.Conv2d(8, 8, 4, padding="same")
        self.mirror = nn.Conv2d(8, 8, 3, padding=1, padding_mode="reflect", bias=False)
        self.dilated = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(8, 12, 3, stride=2, padding=1, output_padding=1)
        self.line = nn.Conv1d(12, 16, 3, padding=(1,))
        self.first = nn.Linear(16, 24)
        self.no_bias = nn.Linear(24, 24, bias=False)
        self.head = nn.Linear(24, 10)

    def body(self, x):
        for conv in (self.stem, self.same, self.mirror, self.dilated, self.up):
            x = F.gelu(conv(x))
        return F.gelu(self.line(x.flatten(2)))

    def forward(self, x):
        tokens = self.body(x).transpose(1, 2)  # not contiguous
        tokens = self.no_bias(F.gelu(self.first(tokens)))
        return self.head(tokens.mean(1))


def batch():
    generator = torch.Generator().manual_seed(3)
    return torch.randn(4, 3, 12, 12, generator=generator), torch.arange(4)


def gradients(model, forward=None):
    x, labels = batch()
    model.zero_grad()
    loss = F.cross_entropy((model if forward is None else forward)(x), labels)
    loss.backward()
    return loss.item(), [p.grad.clone() for p in model.parameters()]


def error(estimate, exact):
    difference = sum((a - b).pow(2).sum().item() for a, b in zip(estimate, exact))
    return (difference / sum(b.pow(2).sum().item() for b in exact)) ** 0.5


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b))


class HotApply(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.model = Mixed()

    def apply(self, schemes, names=None, **named):
        return hot_apply.apply(self.model, plan_of(self.model, schemes, names), **named)

    def test_transforms_alone_reproduce_the_gradients_of_every_kind_of_layer(self):
        loss, exact = gradients(self.model)
        applied = self.apply(ONLY_TRANSFORMS)
        planned_loss, planned = gradients(self.model)
        self.assertEqual(planned_loss, loss)
        self.assertLess(error(planned, exact), 1e-5)
        for name, runs in applied.runs().items():  # nothing below the stem wants a gradient
            self.assertEqual(runs, (0 if name == "stem" else 1, 1), name)

    def test_a_model_of_mostly_exact_layers_keeps_its_bits(self):
        _, exact = gradients(self.model)
        self.apply(("exact", "exact"))
        self.assertEqual(type(self.model.head), nn.Linear)
        self.assertTrue(same(gradients(self.model)[1], exact))

    def test_integer_schemes_change_backward_and_nothing_else(self):
        loss, exact = gradients(self.model)
        self.apply(INT8)
        planned_loss, planned = gradients(self.model)
        self.assertEqual(planned_loss, loss)
        self.assertGreater(error(planned, exact), 1e-4)
        self.assertLess(error(planned, exact), 0.1)

    def test_state_dict_parameters_and_names_are_the_models_own(self):
        before = {name: value.clone() for name, value in self.model.state_dict().items()}
        parameters = dict(self.model.named_parameters())
        self.apply(INT8)
        after = self.model.state_dict()
        self.assertEqual(list(before), list(after))
        self.assertTrue(all(torch.equal(before[name], after[name]) for name in before))
        for name, parameter in self.model.named_parameters():
            self.assertIs(parameter, parameters[name])
        Mixed().load_state_dict(after, strict=True)
        self.model.load_state_dict(before, strict=True)
        self.assertIsInstance(self.model.head, nn.Linear)

    def test_remove_gives_the_model_back(self):
        _, exact = gradients(self.model)
        applied = self.apply(INT8)
        applied.remove()
        self.assertTrue(same(gradients(self.model)[1], exact))
        self.assertIs(type(self.model.stem), nn.Conv2d)
        self.assertNotIn("hot_layer", vars(self.model.stem))

    def test_rounding_repeats_with_its_seed(self):
        def run(seed):
            applied = self.apply(NOISY, seed=seed)
            result = [gradients(self.model)[1] for _ in range(2)]
            applied.remove()
            return result

        first, again, other = run(1), run(1), run(2)
        self.assertTrue(same(first[0], again[0]) and same(first[1], again[1]))
        self.assertFalse(same(first[0], first[1]), "each step draws anew")
        self.assertFalse(same(first[0], other[0]))
        self.assertTrue(same(run(-1)[0], run(2**64 - 1)[0]), "seeds are 64 bits")

    def test_without_gradients_nothing_is_planned(self):
        x, _ = batch()
        expected = self.model(x)
        applied = self.apply(INT8)
        for guard in (torch.no_grad(), torch.inference_mode()):
            with guard:
                self.assertTrue(torch.equal(self.model(x), expected))
        self.assertEqual(set(applied.runs().values()), {(0, 0)})
        torch.nn.Module.to(self.model, "meta")
        self.assertEqual(self.model(x.to("meta")).shape, (4, 10))

    def test_frozen_layers(self):
        self.model.first.weight.requires_grad_(False)
        applied = self.apply(INT8)
        x, labels = batch()
        F.cross_entropy(self.model(x), labels).backward()
        self.assertIsNone(self.model.first.weight.grad)
        self.assertEqual(applied.runs()["first"], (1, 0))

    def test_autocast_is_refused_by_the_layers_name_and_works_switched_off(self):
        self.apply(INT8, ["head"])
        _, expected = gradients(self.model)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with self.assertRaisesRegex(TypeError, "layer 'head' got BFloat16.*autocast"):
                gradients(self.model)
            with torch.autocast("cpu", enabled=False):
                self.assertTrue(same(gradients(self.model)[1], expected))

    def test_gradient_checkpointing_gives_the_same_bits(self):
        for reentrant in (False, True):
            with self.subTest(reentrant=reentrant):
                plain = self.apply(NOISY, seed=5)
                _, expected = gradients(self.model)
                plain.remove()

                def forward(x, reentrant=reentrant):
                    x = x.requires_grad_()
                    y = checkpoint(self.model.body, x, use_reentrant=reentrant).transpose(1, 2)
                    y = self.model.no_bias(F.gelu(self.model.first(y)))
                    return self.model.head(y.mean(1))

                applied = self.apply(NOISY, seed=5)
                _, checkpointed = gradients(self.model, forward)
                self.assertTrue(same(checkpointed, expected))
                self.assertEqual(applied.runs()["same"], (1, 1))
                applied.remove()

    def test_hooks_run(self):
        self.apply(INT8)
        seen = []
        weight = self.model.head.weight
        weight.register_hook(lambda gradient: seen.append("tensor"))
        weight.register_post_accumulate_grad_hook(lambda parameter: seen.append("accumulated"))
        self.model.head.register_forward_hook(lambda *_: seen.append("forward"))
        self.model.head.register_full_backward_hook(lambda *_: seen.append("backward"))
        gradients(self.model)
        self.assertEqual(sorted(seen), ["accumulated", "backward", "forward", "tensor"])
        self.assertEqual(seen[0], "forward")

    def test_distributed_data_parallel(self):
        if not torch.distributed.is_gloo_available():
            self.skipTest("this torch has no gloo")
        self.apply(INT8)
        _, expected = gradients(self.model)
        with tempfile.TemporaryDirectory() as folder:
            torch.distributed.init_process_group(
                "gloo", init_method=f"file://{folder}/store", rank=0, world_size=1
            )
            try:
                parallel = nn.parallel.DistributedDataParallel(self.model)
                seen = []

                def hook(state, bucket):
                    seen.append(bucket.buffer().numel())
                    future = torch.futures.Future()
                    future.set_result(bucket.buffer())
                    return future

                parallel.register_comm_hook(None, hook)
                _, reduced = gradients(self.model, parallel)
            finally:
                torch.distributed.destroy_process_group()
        self.assertTrue(same(reduced, expected))
        self.assertEqual(sum(seen), sum(p.numel() for p in self.model.parameters()))

    def test_compile_breaks_its_graph_around_planned_layers(self):
        torch._dynamo.reset()
        applied = self.apply(NOISY, ["first", "mirror"], seed=2)
        _, expected = gradients(self.model)
        applied.remove()
        applied = self.apply(NOISY, ["first", "mirror"], seed=2)
        compiled = torch.compile(self.model, backend="aot_eager")
        _, found = gradients(self.model, compiled)
        self.assertLess(error(found, expected), 1e-6)
        self.assertEqual(set(applied.runs().values()), {(1, 1)})
        explained = torch._dynamo.explain(self.model)(batch()[0])
        self.assertGreater(explained.graph_break_count, 0)
        for reason in explained.break_reasons:
            self.assertIn("torch.compiler.disable", str(reason.reason))

    def test_copies_and_pickles_train_by_the_same_plan(self):
        self.apply(NOISY, seed=4)
        copies = [copy.deepcopy(self.model), pickle.loads(pickle.dumps(self.model))]
        _, expected = gradients(self.model)
        for other in copies:
            self.assertTrue(same(gradients(other)[1], expected))

    def test_errors_name_the_layer_and_leave_the_model_alone(self):
        good = plan_of(self.model, INT8)
        unknown = copy.deepcopy(good)
        unknown["layers"][-1]["name"] = "tail"
        misshapen = copy.deepcopy(good)
        misshapen["layers"][-1]["weight_shape"] = [10, 25]
        illegal = plan_of(self.model, ("none+int8/column/nearest", "exact"), ["head"])
        nonsense = plan_of(self.model, ("had16+int3/tensor", "exact"), ["head"])
        cases = [
            (unknown, "another model: it has layer 'tail', this model hasn't"),
            (misshapen, "the weight of layer 'head' is 10x25 in the plan, 10x24 in this model"),
            (illegal, "layer 'head', grad_input 'none.int8/column/nearest'"),
            (nonsense, "layer 'head'.*int3"),
            ({"schema": "hot-analyze.report.v1"}, "not a plan of this version"),
            (
                {"schema": "hot-analyze.plan.v1", "layers": [{"name": "head"}]},
                "lacks 'weight_shape'",
            ),
            ("/nowhere/plan.json", "/nowhere/plan.json: no plan can be read there"),
        ]
        for plan, message in cases:
            with self.subTest(message=message):
                with self.assertRaisesRegex(hot_apply.PlanError, message):
                    hot_apply.apply(self.model, plan)
                self.assertIs(type(self.model.stem), nn.Conv2d)
        hot_apply.apply(self.model, good)
        with self.assertRaisesRegex(hot_apply.PlanError, "layer 'stem' has a plan already"):
            hot_apply.apply(self.model, good)

    def test_layers_that_cant_be_planned_are_refused_by_name(self):
        grouped = nn.Sequential(nn.Conv2d(4, 4, 3, groups=2))
        with self.assertRaisesRegex(hot_apply.PlanError, "layer '0' is a convolution in 2 groups"):
            hot_apply.apply(grouped, plan_of(grouped, INT8))
        half = nn.Sequential(nn.Linear(4, 4)).half()
        with self.assertRaisesRegex(hot_apply.PlanError, "layer '0' is float16 on cpu"):
            hot_apply.apply(half, plan_of(half, INT8))
        recurrent = nn.LSTM(4, 4)
        with self.assertRaisesRegex(hot_apply.PlanError, "'weight_ih_l0' of a LSTM"):
            hot_apply.apply(recurrent, plan_of(recurrent, INT8))

    def test_attention_modules(self):
        """Packed self-attention, cross-attention on parts of that weight, separate weights."""
        layers = [
            nn.MultiheadAttention(16, 2, batch_first=True),
            nn.MultiheadAttention(16, 2, kdim=12, vdim=12, batch_first=True),
            nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True),
        ]
        torch.manual_seed(1)
        x = torch.randn(2, 9, 16)
        other = torch.randn(2, 7, 16)
        narrow = torch.randn(2, 7, 12)
        calls = [
            (layers[0], lambda m: m(x, x, x)[0], 1),
            (layers[0], lambda m: m(x, other, other)[0], 2),  # queries; keys and values together
            (layers[1], lambda m: m(x, narrow, narrow)[0], 1),
            (layers[2], lambda m: m(x), 1),
        ]

        def run(module, call):
            module.zero_grad()
            y = call(module)
            y.pow(2).sum().backward()
            return y, [p.grad.clone() for p in module.parameters()]

        for module, call, times in calls:
            with self.subTest(module=type(module).__name__, times=times):
                y, exact = run(module, call)
                applied = hot_apply.apply(module, plan_of(module, ONLY_TRANSFORMS))
                planned_y, planned = run(module, call)
                self.assertTrue(torch.equal(y, planned_y))
                self.assertLess(error(planned, exact), 1e-5)
                runs = applied.runs()
                attention = "in_proj_weight" if "in_proj_weight" in runs else None
                if attention is None and "self_attn.in_proj_weight" in runs:
                    attention = "self_attn.in_proj_weight"
                if attention:
                    self.assertEqual(runs[attention][1], times)
                self.assertTrue(all(weight_runs > 0 for _, weight_runs in runs.values()), runs)
                applied.remove()
                self.assertTrue(same(run(module, call)[1], exact))

    def test_a_tied_weight_is_planned_in_all_its_modules(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(20, 16)
                self.inner = nn.Linear(16, 16)
                self.head = nn.Linear(16, 20, bias=False)
                self.head.weight = self.embed.weight

            def forward(self, tokens):
                return self.head(self.inner(self.embed(tokens)))

        model = Tied()
        plan = plan_of(model, INT8, ["embed", "inner"])
        self.assertEqual(plan["layers"][0]["name"], "embed")
        applied = hot_apply.apply(model, plan)
        model(torch.arange(6).view(2, 3)).sum().backward()
        self.assertEqual(applied.runs(), {"embed": (1, 1), "inner": (1, 1)})

    def test_the_operators_are_there_for_gpus(self):
        for name in ("hot::linear", "hot::conv"):
            for key in ("CUDA", "AutogradCUDA"):
                self.assertTrue(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))


if __name__ == "__main__":
    os.environ["HOT_OPS"] = sys.argv.pop(1)
    hot_apply.load_ops()
    unittest.main()
