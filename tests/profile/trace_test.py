"""The file of `--trace`: events of Chrome's format, layers with their gradients, slices that nest,
a memory counter."""

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 50 * 2**20


def run(binary, folder, name):
    trace, report = folder / name, folder / "report.json"
    data = ["--data", str(ROOT / "models/digits_calibration.pt")]
    outputs = ["--repeats", "2", "--quiet", "--trace", str(trace), "--json", str(report)]
    subprocess.run(
        [binary, "profile", str(ROOT / "models/digits_vit.pt"), *data, *outputs], check=True
    )
    packed = trace.read_bytes()
    assert len(packed) < LIMIT
    assert (packed[:2] == b"\x1f\x8b") == name.endswith(".gz"), "gzip goes by the name"
    text = gzip.decompress(packed) if name.endswith(".gz") else packed
    return json.loads(text)["traceEvents"], json.loads(report.read_text())


def check_nesting(slices):
    """On one track a slice lies inside another or beside it; a rounding of the last digit apart."""
    for track in {s["tid"] for s in slices}:
        open_ends = []
        for s in sorted(
            (s for s in slices if s["tid"] == track), key=lambda s: (s["ts"], -s["dur"])
        ):
            while open_ends and open_ends[-1] <= s["ts"] + 0.002:
                open_ends.pop()
            assert not open_ends or s["ts"] + s["dur"] <= open_ends[-1] + 0.002, s
            open_ends.append(s["ts"] + s["dur"])


def check(events, report):
    for event in events:
        assert event["ph"] in "MXC" and event["pid"] == 1, event
        assert event["ph"] == "M" or event["ts"] >= 0, event
    slices = [e for e in events if e["ph"] == "X"]
    check_nesting(slices)
    paths = {}
    for s in slices:
        paths.setdefault(s["args"]["layer"], set()).update(s["args"]["path"].split(" + "))
    for layer in report["trace"]["layers"]:
        if layer["eligible"] and layer["gemms"]["grad_input"]["calls"]:
            assert {"forward", "grad_input", "grad_weight"} <= paths[layer["name"]], layer["name"]
    counted = [e["args"]["bytes"] for e in events if e["ph"] == "C"]
    assert max(counted) == report["profile"]["memory"]["exact"]["peak_bytes"]


def main(binary):
    with tempfile.TemporaryDirectory() as name:
        for file in ("trace.json.gz", "trace.json"):
            check(*run(binary, Path(name), file))


if __name__ == "__main__":
    main(sys.argv[1])
