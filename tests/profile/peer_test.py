"""Saved activations and the peak of `hot-analyze profile`, found again in Python, to the byte.

The same file, the same inputs, one training step: torch's own saved-tensor hooks tell every tensor
that the graph keeps; each storage counts once, parameters don't. The peak is the allocator's own
maximum, from torch.profiler's memory records.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "models"))


def export(name, folder):
    path = folder / f"{name}.pt"
    subprocess.run(
        [sys.executable, str(ROOT / "models/export.py"), name, "-o", str(path)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return path


def saved_in_python(path, sizes):
    torch.jit.set_fusion_strategy([])
    torch._C._jit_set_profiling_executor(False)
    torch._C._set_graph_executor_optimize(False)
    module = torch.jit.load(str(path), map_location="cpu").train()
    parameters = {p.untyped_storage()._cdata for p in module.parameters()}
    for p in module.parameters():
        p.requires_grad_(True)
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in parameters:
            kept[storage._cdata] = (storage.nbytes(), storage)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        x = torch.randn(sizes)
        output = module(x)
        loss = torch.nn.functional.cross_entropy(output, torch.zeros(sizes[0], dtype=torch.long))
    del loss
    return sum(size for size, _ in kept.values())


def profiled(binary, path, sizes, folder):
    report = folder / "report.json"
    shape = "x".join(map(str, sizes))
    subprocess.run(
        [
            binary,
            "profile",
            str(path),
            "--input",
            shape,
            "--repeats",
            "2",
            "--loss",
            "cross-entropy",
            "--quiet",
            "--json",
            str(report),
        ],
        check=True,
    )
    return json.loads(report.read_text())


def main(binary):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = [
            (ROOT / "models/digits_vit.pt", (8, 1, 8, 8)),
            (export("resnet18", folder), (2, 3, 64, 64)),
            (export("vit_b_16", folder), (2, 3, 224, 224)),
        ]
        failed = False
        for path, sizes in models:
            memory = profiled(binary, path, sizes, folder)["profile"]["memory"]["exact"]
            ours, theirs = memory["saved_bytes"], saved_in_python(path, sizes)
            print(
                f"{path.stem}: {ours} bytes saved, in Python {theirs};"
                f" peak {memory['peak_bytes']}, allocator {memory['allocator_peak_bytes']}"
            )
            by_layer = sum(layer["bytes"] for layer in memory["saved"])
            at_peak = sum(memory["at_peak"].values())
            highest = max(sum(moment[1:]) for moment in memory["timeline"])
            failed |= ours != theirs or ours != by_layer
            failed |= (
                not memory["peak_bytes"] == memory["allocator_peak_bytes"] == at_peak == highest
            )
        if failed:
            sys.exit("the figures differ")


if __name__ == "__main__":
    main(sys.argv[1])
