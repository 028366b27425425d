"""One run of the study: a start, an order of batches and a plan give an accuracy."""

from __future__ import annotations

import functools
import time

import hot_apply
import torch
import torch.nn.functional as F
from networks import NETWORKS
from tasks import BATCH, TASKS, Task
from torch import nn


@functools.cache
def pretrained(name: str, seed: int) -> dict:
    """The state that a row's FP32 training ends in."""
    task = next(task for task in TASKS if task.name == name)
    model = start(task, seed)
    fit(model, task, seed)
    return model.state_dict()


def start(task: Task, seed: int) -> nn.Module:
    """The network as training finds it; the same for every plan of a seed."""
    torch.manual_seed(seed)
    model = NETWORKS[task.network](task.size)
    if task.before:
        model.load_state_dict(pretrained(task.before, seed))
        torch.manual_seed(seed)
        model.head.reset_parameters()
    return model


def warmed(task: Task) -> nn.Module:
    """The network of seed 0 after one epoch in FP32, or as fine-tuning finds it."""
    model = start(task, 0)
    if not task.before:
        fit(model, task, 0, epochs=1)
    return model


def fit(model: nn.Module, task: Task, seed: int, epochs: int | None = None) -> float:
    """Trains in place, the first `epochs` alone if given; the mean loss of the last one. Batches
    depend on the seed alone."""
    data = task.data()
    generator = torch.Generator().manual_seed(seed)
    steps = len(data.train) // BATCH
    optimizer = torch.optim.AdamW(model.parameters(), lr=task.rate, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=task.rate, total_steps=task.epochs * steps
    )
    model.train()
    for _ in range(epochs or task.epochs):
        order = torch.randperm(len(data.train), generator=generator)
        losses = []
        for chosen in order.split(BATCH)[:steps]:
            loss = F.cross_entropy(model(data.train[chosen]), data.train_labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    return sum(losses) / len(losses)


def accuracy(model: nn.Module, task: Task) -> float:
    """Percent of the held-out images whose largest logit is the label's."""
    data = task.data()
    model.eval()
    with torch.no_grad():
        right = model(data.test).argmax(1) == data.test_labels
    return 100 * right.float().mean().item()


def run(task: Task, plan: dict | None, seed: int) -> dict[str, float]:
    """Trains from the seed's start by `plan` (None: FP32)."""
    model = start(task, seed)
    applied = hot_apply.apply(model, plan, seed=seed) if plan else None
    began = time.monotonic()
    loss = fit(model, task, seed)
    seconds = time.monotonic() - began
    if applied:
        idle = [name for name, runs in applied.runs().items() if not any(runs)]
        if idle:
            raise RuntimeError(f"{task.name}: layer {idle[0]} never ran by its plan")
    return {"accuracy": accuracy(model, task), "loss": loss, "seconds": seconds}
