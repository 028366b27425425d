#!/usr/bin/env python3
"""Writes files that are passed to the tool by mistake, with a manifest.json.

    tests/zoo/make_bad.py --out FOLDER [NAME…] [--list]

Each row of FILES is: name of the file, what it is, exit code, words of the message, and a function
that writes it. Where the exit code is 0, the file is odd and yet must work.
"""

from __future__ import annotations

import argparse
import fnmatch
import gzip
import io
import json
import os
import pickle
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy
import safetensors.torch
import torch
import torch.package
from torch import Tensor, nn

warnings.filterwarnings("ignore")


class Net(nn.Module):
    """A small healthy model: every bad file starts from it."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 64)
        self.b = nn.Linear(64, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.b(torch.relu(self.a(x)))


class MakesTensor(nn.Module):
    """Creates a tensor on a device that tracing turns into a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(32, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.a(x + torch.zeros(32, device=x.device))


def seeded() -> Net:
    torch.manual_seed(0)
    return Net().eval()


def script_bytes(model: nn.Module | None = None, trace: bool = False) -> bytes:
    """A TorchScript archive in memory; its top folder is `archive`."""
    model = model or seeded()
    scripted = torch.jit.trace(model, torch.randn(4, 32)) if trace else torch.jit.script(model)
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    return buffer.getvalue()


def edited(
    archive: bytes, change: Callable[[str, bytes], bytes | None], root: str | None = None
) -> bytes:
    """The archive with each record passed through `change` (None leaves it out); names are given
    without the top folder, which `root` replaces."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(out, "w") as target:
        for info in source.infolist():
            folder, name = info.filename.split("/", 1)
            data = change(name, source.read(info))
            if data is not None:
                prefix = f"{folder}/" if root is None else root
                target.writestr(zipfile.ZipInfo(prefix + name), data)
    return out.getvalue()


def without(record: str) -> bytes:
    return edited(script_bytes(), lambda name, data: None if name == record else data)


def flipped(record: str) -> bytes:
    """One bit of a record's stored data turned over, the rest untouched."""
    archive = bytearray(script_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(archive))) as source:
        name = next(n for n in source.namelist() if n.split("/", 1)[1] == record)
        data = source.read(name)
    place = bytes(archive).find(data)
    archive[place + len(data) // 2] ^= 0x10
    return bytes(archive)


def replaced_code(old: str, new: str, archive: bytes) -> bytes:
    """The archive with text replaced in its code; fails where the text doesn't occur."""
    seen = []

    def change(name: str, data: bytes) -> bytes | None:
        if name.endswith(".debug_pkl"):
            return None
        if name.startswith("code/") and old.encode() in data:
            seen.append(name)
            return data.replace(old.encode(), new.encode())
        return data

    result = edited(archive, change)
    if not seen:
        raise SystemExit(f"make_bad: the code doesn't hold {old}")
    return result


def torch_save(value: object, legacy: bool = False) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, _use_new_zipfile_serialization=not legacy)
    return buffer.getvalue()


def lone_state_dict() -> bytes:
    return torch_save(seeded().state_dict())


def checkpoint() -> bytes:
    return torch_save({"epoch": 3, "model": seeded().state_dict(), "optimizer": {"lr": 0.1}})


def package(scripted: bool) -> bytes:
    """A torch.package with a pickled value, or with a TorchScript module, in it."""
    torch.package.package_exporter._gate_torchscript_serialization = False
    buffer = io.BytesIO()
    with torch.package.PackageExporter(buffer) as exporter:
        value = torch.jit.script(seeded()) if scripted else {"weights": torch.randn(3)}
        exporter.save_pickle("model", "model.pkl", value)
    return buffer.getvalue()


def exported_program() -> bytes:
    buffer = io.BytesIO()
    torch.export.save(torch.export.export(seeded(), (torch.randn(4, 32),)), buffer)
    return buffer.getvalue()


def onnx() -> bytes:
    """The first fields of an ONNX ModelProto: ir_version 8, producer, an empty graph, opset 17."""
    producer = b"\x12\x07pytorch\x1a\x052.0.0"
    graph = b"\x3a\x0c\x12\x0amain_graph"
    opset = b"\x42\x02\x10\x11"
    return b"\x08\x08" + producer + graph + opset


def flatbuffer() -> bytes:
    return (24).to_bytes(4, "little") + b"PTMF" + bytes(200)


def lfs_pointer() -> bytes:
    return (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 102400\n"
    )


def web_page() -> bytes:
    return b"<!DOCTYPE html>\n<html><head><title>404</title></head><body>Not found</body></html>\n"


def npz() -> bytes:
    buffer = io.BytesIO()
    numpy.savez(buffer, a=numpy.zeros(3), b=numpy.ones((2, 2)))
    return buffer.getvalue()


def npy() -> bytes:
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.zeros((4, 32), dtype=numpy.float32))
    return buffer.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, data in files.items():
            target.writestr(name, data)
    return buffer.getvalue()


def tarred() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as target:
        info = tarfile.TarInfo("model.pt")
        data = script_bytes()
        info.size = len(data)
        target.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def cuda_weights() -> bytes:
    """Weights that say they lie on cuda:0, as a file saved on a GPU does."""

    def change(name: str, data: bytes) -> bytes | None:
        if name != "data.pkl":
            return data
        old, new = b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"
        if old not in data:
            raise SystemExit("make_bad: data.pkl doesn't hold the device as expected")
        return data.replace(old, new)

    return edited(script_bytes(), change)


def newer_version() -> bytes:
    return edited(
        script_bytes(), lambda name, data: b"99\n" if name in ("version", ".data/version") else data
    )


class RunsCommand:
    """Its pickle calls os.system when it is loaded by Python."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("echo unsafe",)


def calls_system() -> bytes:
    """A TorchScript archive whose data.pkl is a pickle that calls os.system."""
    return edited(
        script_bytes(),
        lambda name, data: pickle.dumps(RunsCommand(), 2) if name == "data.pkl" else data,
    )


def optimized_for_inference() -> bytes:
    class Conv(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3)

        def forward(self, x: Tensor) -> Tensor:
            return torch.relu(self.conv(x))

    traced = torch.jit.trace(Conv().eval(), torch.randn(1, 3, 8, 8))
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.optimize_for_inference(traced), buffer)
    return buffer.getvalue()


def lite_interpreter() -> bytes:
    return torch.jit.script(seeded())._save_to_buffer_for_lite_interpreter()


def unknown_operator() -> bytes:
    """`relu` renamed to a custom operator that no library here provides."""
    return replaced_code("torch.relu(", "ops.mylib.fused_relu(", script_bytes())


def cuda_constant() -> bytes:
    """A device that tracing wrote into the code, turned into a GPU."""
    return replaced_code(
        'torch.device("cpu")', 'torch.device("cuda:0")', script_bytes(MakesTensor().eval(), True)
    )


class File(NamedTuple):
    """One bad file; `content` gives its bytes."""

    name: str
    what: str
    expect_exit: int
    expect_words: list[str]
    content: Callable[[], bytes]


HALF = len(script_bytes()) // 2

# fmt: off
FILES = [
    File("no_constants.pt", "an archive without constants.pkl", 3, ["constants.pkl", "export"],
         lambda: without("constants.pkl")),
    File("no_data.pt", "an archive without data.pkl", 3, ["data.pkl", "export"], lambda: without("data.pkl")),
    File("no_version.pt", "an archive without its version", 3, ["version"],
         lambda: edited(script_bytes(), lambda n, d: None if n.endswith("version") else d)),
    File("no_code.pt", "an archive without its code", 3, [],
         lambda: edited(script_bytes(), lambda n, d: None if n.startswith("code/") else d)),
    File("no_tensor.pt", "an archive without one of its tensors", 3, [], lambda: without("data/1")),
    File("empty.pt", "an empty file", 3, ["empty"], lambda: b""),
    File("one_byte.pt", "a file of one byte", 3, [], lambda: b"P"),
    File("zeros.pt", "a file of zeros", 3, ["zeros"], lambda: bytes(5000)),
    File("text.pt", "a line of text", 3, ["text"], lambda: b"hello, world\n"),
    File("truncated.pt", "the first half of an archive", 3, ["incomplete"], lambda: script_bytes()[:HALF]),
    File("truncated_tail.pt", "an archive without its last ten bytes", 3, ["incomplete"],
         lambda: script_bytes()[:-10]),
    File("flipped_tensor.pt", "one bit flipped in a tensor", 3, ["damaged"], lambda: flipped("data/0")),
    File("flipped_code.pt", "one bit flipped in the code", 3, ["damaged"],
         lambda: flipped("code/__torch__/torch/nn/modules/linear.py")),
    File("state_dict.pt", "a state_dict", 3, ["state_dict", "torch.jit"], lone_state_dict),
    File("checkpoint.pt", "a training checkpoint", 3, ["checkpoint", "torch.jit"], checkpoint),
    File("tensor.pt", "a saved tensor", 3, ["tensor"], lambda: torch_save(torch.randn(4, 32))),
    File("pickled_module.pt", "a whole pickled module", 3, ["Net", "torch.jit"], lambda: torch_save(seeded())),
    File("legacy_state_dict.pt", "a state_dict in the old format", 3, ["old format", "torch.jit"],
         lambda: torch_save(seeded().state_dict(), True)),
    File("plain_pickle.pt", "a Python pickle", 3, ["pickle"], lambda: pickle.dumps({"a": 1}, 4)),
    File("package.pt", "a torch.package without TorchScript", 3, ["torch.package"], lambda: package(False)),
    File("program.pt2", "a program of torch.export", 3, ["torch.export", "torch.jit"], exported_program),
    File("model.onnx", "an ONNX model", 3, ["ONNX"], onnx),
    File("weights.safetensors", "safetensors", 3, ["safetensors"],
         lambda: safetensors.torch.save({k: v.contiguous() for k, v in seeded().state_dict().items()})),
    File("flatbuffer.ptl", "a flatbuffer model", 3, ["flatbuffer"], flatbuffer),
    File("lfs_pointer.pt", "a Git LFS pointer", 3, ["git lfs pull"], lfs_pointer),
    File("page.pt", "a web page", 3, ["web page"], web_page),
    File("error.json", "an error message in JSON", 3, [], lambda: b'{"error": "Not found"}\n'),
    File("model.pt.gz", "a gzipped model", 3, ["gzip", "unpack"], lambda: gzip.compress(script_bytes(), mtime=0)),
    File("model.tar", "a model in a tar archive", 3, ["tar", "unpack"], tarred),
    File("arrays.npz", "a NumPy archive", 3, ["NumPy", "--data"], npz),
    File("array.npy", "a NumPy array", 3, ["NumPy", "--data"], npy),
    File("plain.zip", "a zip archive of text", 3, ["zip"], lambda: zipped({"notes.txt": b"nothing"})),
    File("empty.zip", "a zip archive without files", 3, ["empty"], lambda: zipped({})),
    File("zipped_model.zip", "a zip archive with a model in it", 3, ["unpack"],
         lambda: zipped({"model.pt": script_bytes()})),
    File("repacked.pt", "an archive repacked without its top folder", 3, ["repacked"],
         lambda: edited(script_bytes(), lambda n, d: d, root="")),
    File("newer.pt", "a format version that doesn't exist yet", 3, ["99", "10"], newer_version),
    File("unknown_operator.pt", "a custom operator that isn't loaded", 3, ["mylib::fused_relu", "--load-library"],
         unknown_operator),
    File("cuda_constant.pt", "a CUDA device in traced code", 3, ["cuda", "CPU"], cuda_constant),
    File("calls_system.pt", "a pickle that calls os.system", 3, [], calls_system),
    File("optimized.pt", "torch.jit.optimize_for_inference", 3, ["optimize_for_inference"], optimized_for_inference),
    File("cuda_weights.pt", "weights saved on a GPU: loads on the CPU", 0, [], cuda_weights),
    File("package_script.pt", "a torch.package with a TorchScript module: loads", 0, [], lambda: package(True)),
    File("lite.ptl", "saved for the lite interpreter: loads", 0, [], lite_interpreter),
    File("name with spaces é.pt", "a healthy model under an odd name", 0, [], script_bytes),
]
# fmt: on


def write_others(folder: Path) -> list[dict[str, object]]:
    """What isn't a regular file: a directory, an unpacked archive, a dangling link, nothing."""
    (folder / "directory").mkdir(exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(script_bytes())) as archive:
        archive.extractall(folder / "unpacked")
    link = folder / "dangling.pt"
    link.unlink(missing_ok=True)
    link.symlink_to("nowhere.pt")
    rows = [
        ("directory", "an empty directory", ["directory"]),
        ("unpacked/archive", "the folder of an unpacked archive", ["zip"]),
        ("dangling.pt", "a link to nothing", ["No such file"]),
        ("missing.pt", "a file that isn't there", ["No such file"]),
    ]
    return [
        {"name": n, "file": n, "what": w, "expect_exit": 3, "expect_words": words}
        for n, w, words in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="files to write; * stands for anything")
    parser.add_argument("--out", type=Path, help="folder to write into")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    wanted = arguments.names or ["*"]
    files = [file for file in FILES if any(fnmatch.fnmatchcase(file.name, p) for p in wanted)]
    if arguments.list:
        print("\n".join(f"{file.name:28}{file.what}" for file in files))
        return
    if arguments.out is None:
        parser.error("--out FOLDER is needed")
    arguments.out.mkdir(parents=True, exist_ok=True)

    manifest: list[dict[str, object]] = []
    for file in files:
        (arguments.out / file.name).write_bytes(file.content())
        manifest.append(
            {
                "name": file.name,
                "file": file.name,
                "what": file.what,
                "expect_exit": file.expect_exit,
                "expect_words": file.expect_words,
            }
        )
    if not arguments.names:
        manifest += write_others(arguments.out)
    text = json.dumps({"files": manifest}, indent=1, ensure_ascii=False)
    (arguments.out / "manifest.json").write_text(text + "\n", encoding="utf-8")
    print(f"{len(manifest)} files in {arguments.out}")


if __name__ == "__main__":
    main()
