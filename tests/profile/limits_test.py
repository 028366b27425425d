"""Steps that profile must get through, and one that it must refuse: more than a thousand layers,
control flow, and a step larger than the memory that the process may take."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "models/digits_vit.pt"
LIMIT_KIB = 1 << 20


class Deep(torch.nn.Module):
    """1,100 linear layers, one after the other."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(1100)])

    def forward(self, x):
        return self.layers(x)


class Branches(torch.nn.Module):
    """A loop as long as the data say, and a branch that only some rounds take."""

    def __init__(self):
        super().__init__()
        self.again = torch.nn.Linear(16, 16)
        self.sometimes = torch.nn.Linear(16, 16)
        self.never = torch.nn.Linear(16, 16)
        self.head = torch.nn.Linear(16, 4)

    def forward(self, x):
        rounds = 0
        size = float(x.abs().sum())
        while size > 1.0 and rounds < 6:
            x = torch.tanh(self.again(x))
            if rounds % 2 == 0:
                x = x + self.sometimes(x)
            if size < 0.0:
                x = self.never(x)
            size = size / 2.0
            rounds += 1
        return self.head(x)


def profile(binary, model, folder, *arguments):
    report, trace = folder / "report.json", folder / "trace.json"
    outputs = ["--quiet", "--json", str(report), "--trace", str(trace)]
    command = [binary, "profile", str(model), "--repeats", "2", *arguments, *outputs]
    subprocess.run(command, check=True)
    return json.loads(report.read_text()), json.loads(trace.read_text())["traceEvents"]


def calls(report):
    return {layer["name"]: layer["calls"] for layer in report["trace"]["layers"]}


def check_parts(report):
    """Every layer that ran has times of all its products; no step had to be logged in full."""
    time = report["profile"]["time"]
    assert time["notes"] == [], time["notes"]
    for layer in time["exact"]["layers"]:
        assert all(s >= 0 for s in layer["seconds"].values()), layer
        assert layer["seconds"]["forward"] > 0 and layer["seconds"]["grad_weight"] > 0, layer


def many_layers(binary, folder):
    torch.jit.script(Deep()).save(folder / "deep.pt")
    report, events = profile(binary, folder / "deep.pt", folder, "--input", "4x16")
    assert len(calls(report)) == 1100, len(calls(report))
    check_parts(report)
    named = {e["args"]["layer"] for e in events if e["ph"] == "X"}
    assert named.issuperset(calls(report)), "layers are missing in the trace"


def control_flow(binary, folder):
    torch.jit.script(Branches()).save(folder / "branches.pt")
    for plan in ([], ["--policy", "hot"]):
        report, _ = profile(binary, folder / "branches.pt", folder, "--input", "32x16", *plan)
        assert calls(report) == {"again": 6, "sometimes": 3, "head": 1}, calls(report)
        check_parts(report)


def limited(binary, *arguments):
    """Under `ulimit -d`: (exit code, last line on standard error)."""
    command = f'ulimit -d {LIMIT_KIB} && exec "$0" "$@"'
    run = subprocess.run(
        ["bash", "-c", command, binary, *map(str, arguments)], capture_output=True, text=True
    )
    return run.returncode, run.stderr.strip().splitlines()[-1:] or [""]


def too_large(binary, folder):
    """The refusal names the bytes and a batch; that batch runs under the same limit."""
    common = ["--threads", "1", "--no-progress"]
    for command in (["profile"], []):
        code, lines = limited(binary, *command, SHIPPED, "--input", "200000x1x8x8", *common)
        print(lines[0])
        found = re.search(r"needs about .*? \((\d+) bytes\) .*--batch (\d+) would fit", lines[0])
        assert code == 4 and found, (code, lines)
        assert int(found[1]) > LIMIT_KIB * 1024, lines
    fits = found[2]
    code, lines = limited(
        binary, "profile", SHIPPED, "--input", f"{fits}x1x8x8", *common, "--repeats", "2"
    )
    assert code == 0, (fits, lines)


def main(binary):
    with tempfile.TemporaryDirectory() as name:
        for check in (many_layers, control_flow, too_large):
            check(binary, Path(name))


if __name__ == "__main__":
    torch.manual_seed(0)
    main(sys.argv[1])
