#!/usr/bin/env python3
"""Trains the shipped model on scikit-learn's digits and writes it with a calibration batch.

    models/train_digits.py [--out FOLDER] [--epochs N]

Writes digits_vit.pt (TorchScript, input specification inside) and digits_calibration.pt (a dict of
x: float32 [64, 1, 8, 8] and labels: int64 [64], held-out images). Seeded and single-threaded: the
same machine and versions give the same weights.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import zipfile
from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parent))
from digits_vit import DigitsViT  # noqa: E402

SEED = 0
BATCH = 64
REQUIRED_ACCURACY = 0.94
SPECIFICATION = {
    "version": 1,
    "inputs": [{"name": "x", "dtype": "float32", "shape": [BATCH, 1, 8, 8]}],
    "task": "classification",
}


def load_split() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Images as float32 [N, 1, 8, 8] in 0..1 and int64 labels: train, train, test, test (20 %)."""
    digits = load_digits()
    images = torch.from_numpy(digits.images).float().div(16).unsqueeze(1)
    labels = torch.from_numpy(digits.target).long()
    train, test = train_test_split(
        range(len(labels)), test_size=0.2, random_state=SEED, stratify=labels.numpy()
    )
    return images[train], labels[train], images[test], labels[test]


def shifted(images: Tensor, generator: torch.Generator) -> Tensor:
    """Moves each image by up to one pixel in each direction, filling with black."""
    padded = F.pad(images, (1, 1, 1, 1))
    offsets = torch.randint(0, 3, (len(images), 2), generator=generator).tolist()
    return torch.stack([p[:, dy : dy + 8, dx : dx + 8] for p, (dy, dx) in zip(padded, offsets)])


def train(model: DigitsViT, images: Tensor, labels: Tensor, epochs: int) -> None:
    """AdamW with a one-cycle rate; label smoothing keeps the gradients from vanishing."""
    generator = torch.Generator().manual_seed(SEED)
    steps = epochs * (len(images) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=steps)
    model.train()
    for epoch in range(epochs):
        order = torch.randperm(len(images), generator=generator)
        for chosen in order.split(BATCH)[: len(images) // BATCH]:
            logits = model(shifted(images[chosen], generator))
            loss = F.cross_entropy(logits, labels[chosen], label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}", file=sys.stderr)


def accuracy(model: torch.nn.Module, images: Tensor, labels: Tensor) -> float:
    """Share of images whose largest logit is the label's."""
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def save_script(scripted: torch.jit.ScriptModule, path: Path) -> None:
    """Writes the archive without its debug records, which hold this machine's source paths."""
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer, _extra_files={"hot_inputs.json": json.dumps(SPECIFICATION)})
    temporary = path.with_suffix(".tmp")
    with zipfile.ZipFile(buffer) as source:
        names = [name.split("/", 1)[1] for name in source.namelist()]
        folder = source.namelist()[0].split("/", 1)[0]
        writer = torch._C.PyTorchFileWriter(str(temporary))
        for name in names:
            if name.endswith(".debug_pkl") or name in ("version", ".data/serialization_id"):
                continue
            data = source.read(f"{folder}/{name}")
            writer.write_record(name, data, len(data))
        writer.write_end_of_file()
    temporary.replace(path)


def check_gradients(path: Path, calibration: dict[str, Tensor]) -> None:
    """The written file loads and every parameter gets a finite gradient that isn't zero."""
    model = torch.jit.load(str(path)).train()
    F.cross_entropy(model(calibration["x"]), calibration["labels"]).backward()
    for name, parameter in model.named_parameters():
        gradient = parameter.grad
        if gradient is None or not gradient.isfinite().all() or not gradient.any():
            raise SystemExit(f"{path}: no usable gradient for {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent)
    parser.add_argument("--epochs", type=int, default=100)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(SEED)
    train_images, train_labels, test_images, test_labels = load_split()
    model = DigitsViT()
    train(model, train_images, train_labels, arguments.epochs)
    model.eval()
    reached = accuracy(model, test_images, test_labels)
    print(f"test accuracy {100 * reached:.2f} % on {len(test_labels)} images")
    if reached <= REQUIRED_ACCURACY:
        raise SystemExit(
            f"test accuracy is not over {100 * REQUIRED_ACCURACY:.0f} %: nothing written"
        )

    calibration = {"x": test_images[:BATCH].clone(), "labels": test_labels[:BATCH].clone()}
    arguments.out.mkdir(parents=True, exist_ok=True)
    save_script(torch.jit.script(model), arguments.out / "digits_vit.pt")
    torch.save(calibration, arguments.out / "digits_calibration.pt")
    check_gradients(arguments.out / "digits_vit.pt", calibration)
    sizes = sum(
        (arguments.out / f).stat().st_size for f in ("digits_vit.pt", "digits_calibration.pt")
    )
    print(f"wrote digits_vit.pt and digits_calibration.pt, {sizes / 1e6:.2f} MB together")


if __name__ == "__main__":
    main()
