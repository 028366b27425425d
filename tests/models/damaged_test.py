#!/usr/bin/env python3
"""Changes records of the shipped model and calibration data, with checksums that fit.

Neither LibTorch nor our readers may crash, hang, take gigabytes or speak in raw exceptions over
what is then in them: hot-analyze refuses in one line (exit code 3) or reads what is still sense.

    tests/models/damaged_test.py --tool PROGRAM [--mutants N] [--seed N] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import os
import pickletools
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "models"
MODEL, DATA = MODELS / "digits_vit.pt", MODELS / "digits_calibration.pt"
RAW = (
    "what():",
    "terminate called",
    "c10::Error",
    "std::",
    "ASSERT FAILED",
    "miniz",
    "internal error",
    "LibTorch failed",
    "json.exception",
)
MOST_MEMORY = 1 << 30
SIZES = (0, 1, 2, 7, 255, 65535, 10**6, 2**31 - 1, 2**62, 2**63 - 1, -1, -(2**31), -(2**63))
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}


def read(path: Path) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def write(path: Path, records: list[tuple[str, bytes]]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in records:
            archive.writestr(zipfile.ZipInfo(name), content)


def pickled(number: int) -> bytes:
    """The opcode that pushes an integer."""
    if 0 <= number < 256:
        return b"K" + bytes([number])
    if -(2**31) <= number < 2**31:
        return b"J" + struct.pack("<i", number)
    return b"\x8a\x08" + number.to_bytes(8, "little", signed=True)


def change_bytes(dice: random.Random, content: bytes) -> bytes:
    at = dice.randrange(len(content))
    junk = dice.randbytes(dice.randint(1, 9))
    return dice.choice(
        [
            content[:at] + bytes([content[at] ^ 1 << dice.randrange(8)]) + content[at + 1 :],
            content[:at],
            content[:at] + junk + content[at:],
            content[:at] + junk + content[at + len(junk) :],
        ]
    )


def change_pickle(dice: random.Random, content: bytes) -> bytes:
    """Another integer, opcode or string at the place of one, or one less."""
    starts = [(code, at) for code, _, at in pickletools.genops(content)]
    ends = [at for _, at in starts[1:]] + [len(content)]
    integers = [i for i, (code, _) in enumerate(starts) if "INT" in code.name]
    i, j = dice.randrange(len(starts)), dice.randrange(len(starts))
    put = dice.choice([b"", content[starts[j][1] : ends[j]], None, None])
    if put is None and integers:
        i, put = dice.choice(integers), pickled(dice.choice(SIZES))
    return content[: starts[i][1]] + (put or b"") + content[ends[i] :]


def change_code(dice: random.Random, content: bytes) -> bytes:
    """Another number or name at the place of one, or one line less."""
    text = content.decode()
    what = dice.choice([r"\d+", r"[A-Za-z_]\w+", r"[^\n]*\n"])
    found = list(re.finditer(what, text))
    if not found:
        return change_bytes(dice, content)
    one, other = dice.choice(found), dice.choice(found)
    put = {r"\d+": str(dice.choice(SIZES)), r"[A-Za-z_]\w+": other.group()}.get(what, "")
    return (text[: one.start()] + put + text[one.end() :]).encode()


def change(dice: random.Random, name: str, content: bytes) -> bytes:
    if not content or dice.random() < 0.25:
        return change_bytes(dice, content or b"\0")
    try:
        if name.endswith(".pkl"):
            return change_pickle(dice, content)
        if name.endswith(".py"):
            return change_code(dice, content)
    except ValueError:
        pass  # an earlier change left no pickle or no text
    return change_bytes(dice, content)


def mutate(dice: random.Random, source: Path, file: Path) -> str:
    """Writes a changed copy of `source`; returns what was changed."""
    records = read(source)
    # Debug records are not read, and numbers of a tensor are as good as any other.
    wanted = [i for i, (name, _) in enumerate(records) if "/data/" not in name]
    wanted = [i for i in wanted if not records[i][0].endswith("debug_pkl")]
    at = dice.choice(wanted)
    name, content = records[at]
    for _ in range(dice.choice([1, 1, 2])):
        content = change(dice, name, content)
    records[at] = (name, content)
    write(file, records)
    return name


def problems(tool: Path, arguments: list[str]) -> list[str]:
    command = [str(tool), "inspect", *arguments, "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    try:
        run = subprocess.run(command, capture_output=True, check=False, timeout=60, env=ENVIRONMENT)
    except subprocess.TimeoutExpired:
        return ["ran longer than 60 s"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    said = run.stderr.decode(errors="backslashreplace").strip()
    found = [f"says {raw!r}: {said}" for raw in RAW if raw in said]
    if run.returncode not in (0, 3):
        found.append(f"exit code {run.returncode}: {said}")
    if len(said.splitlines()) != (run.returncode != 0):
        found.append(f"{len(said.splitlines())} lines on stderr: {said}")
    if after > before and after * 1024 > MOST_MEMORY:
        found.append(f"took {after >> 10} MiB")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", type=Path, required=True)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the mutants that misbehave")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(arguments.mutants):
            dice = random.Random(f"{arguments.seed} {i}")
            source = DATA if i % 3 == 2 else MODEL
            file = Path(folder) / f"{i}.pt"
            record = mutate(dice, source, file)
            as_data = [str(MODEL), "--data", str(file)]
            found = problems(arguments.tool, as_data if source == DATA else [str(file)])
            failed += bool(found)
            for problem in found:
                print(f"mutant {i}, {record}: {problem}", flush=True)
            if found and arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, arguments.keep)
            file.unlink()
    print(f"{arguments.mutants - failed} of {arguments.mutants} were read or refused")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
