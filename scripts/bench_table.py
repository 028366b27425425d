#!/usr/bin/env python3
"""Prints what hot-bench measured as tables of 100 columns.

Ratios are taken round by round; a table shows their median and (smallest..largest).
"""

import argparse
import json
import math
import statistics
import sys
import textwrap

WIDTH = 100
PARTS = ("gemm", "gy", "weight", "x", "dequantize", "layout")
PART_NAMES = {
    "gemm": "the integer products",
    "gy": "preparing gy",
    "weight": "preparing the weight",
    "x": "preparing x (with its unfolding)",
    "dequantize": "dequantizing (with folding)",
    "layout": "putting channels last and back",
    "rest": "the rest",
}


def ratios(slow, fast):
    """How many times `fast` is faster than `slow`, round by round."""
    return [s / f for s, f in zip(slow, fast)]


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def spread(values, percent=False):
    s = summary(values)
    if percent:
        return f"{100 * s['median']:.0f} % ({100 * s['min']:.0f}..{100 * s['max']:.0f})"
    return f"{s['median']:.2f} ({s['min']:.2f}..{s['max']:.2f})"


def geometric(columns):
    """Geometric mean over layers, round by round."""
    return [math.exp(statistics.fmean(map(math.log, row))) for row in zip(*columns)]


def table(titles, rows, left=1):
    """Prints rows of cells, the first `left` columns aligned left; a one-cell row is a heading."""
    widths = [
        max(len(row[i]) for row in [titles, *rows] if len(row) > 1) for i in range(len(titles))
    ]

    def line(cells):
        if len(cells) == 1:
            return cells[0]
        padded = [
            c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))
        ]
        return "  ".join(padded).rstrip()

    print("\n".join(map(line, [titles, *rows])) + "\n")


def remark(text):
    print(textwrap.fill(text, WIDTH, subsequent_indent="  "))


def groups(layers):
    """Layers by model and batch, in their order."""
    found = {}
    for layer in layers:
        found.setdefault((layer["model"], layer["batch"]), []).append(layer)
    return found


def print_environment(env):
    remark(f"{env['cpu']} ({', '.join(env['features'])}), {env['threads']} threads")
    remark(
        f"torch {env['torch']}; kernels {env['kernels']}; integer products: {env['integer_gemm']}"
    )
    remark(f"BF16: {env['bf16']}")
    remark(
        f"Everything is measured, interleaved in {env['rounds']} rounds; "
        "a ratio is the median over the rounds (smallest..largest)."
    )
    if env["other_load"] > 0.02:
        remark(
            f"Other programs used {100 * env['other_load']:.0f} % of the processor time meanwhile!"
        )
    print()


def print_kernels(kernels):
    print("Kernel passes beside a plain copy of as many bytes (read + written)\n")
    rows = []
    for matrix in kernels:
        rows.append([f"{matrix['rows']}x{matrix['cols']}"])
        for p in matrix["passes"]:
            ms = statistics.median(p["seconds"]) * 1e3
            rows.append(
                [
                    "  " + p["name"],
                    spread(ratios(p["copy_seconds"], p["seconds"]), percent=True),
                    f"{p['bytes'] / 1e6:.1f}",
                    f"{ms:.3f}",
                    f"{p['bytes'] / ms / 1e6:.1f}",
                ]
            )
    table(["pass", "share of copy speed", "MB", "ms", "GB/s"], rows)


def print_speed(layers):
    print("Whole layer backward (both gradients): times faster than torch's own")
    print("I counts a convolution's input channels times its kernel's places\n")
    pairs = [("hot", "fp32"), ("hot", "bf16"), ("int8", "fp32"), ("hlq", "fp32")]
    rows = []
    for (model, batch), members in groups(layers).items():
        rows.append([f"{model}, batch {batch}"])
        columns = [[ratios(m["seconds"][b], m["seconds"][a]) for m in members] for a, b in pairs]
        for i, m in enumerate(members):
            cells = [spread(column[i]) for column in columns[:-1]]
            cells.append(f"{statistics.median(columns[-1][i]):.2f}")
            rows.append(["  " + m["layer"], m["gemm"], *cells])
        means = [geometric(column) for column in columns]
        cells = [spread(mean) for mean in means[:-1]] + [f"{statistics.median(means[-1]):.2f}"]
        rows.append(["  geometric mean", "", *cells])
    titles = ["layer", "LxOxI", "hot / FP32", "hot / BF16", "int8 / FP32", "hlq"]
    table(titles, rows, left=2)


def shares(layer, preset):
    """Milliseconds of the whole and of every part, medians over the rounds."""
    whole = statistics.median(layer["seconds"][preset]) * 1e3
    parts = {k: statistics.median(v) * 1e3 for k, v in layer["parts"][preset].items()}
    parts["rest"] = whole - sum(parts.values())
    return whole, parts


def print_parts(layers, preset):
    print(f"Where the time of {preset} goes, % of the whole: the same pass done step by step\n")
    rows = []
    overlap = False
    for (model, batch), members in groups(layers).items():
        rows.append([f"{model}, batch {batch}"])
        all_whole, all_gemm = 0, 0
        for m in members:
            whole, parts = shares(m, preset)
            all_whole += whole
            all_gemm += parts["gemm"]
            overlap = overlap or parts["rest"] < -0.1 * whole
            percent = [
                f"{100 * parts[p] / whole:.0f}" if p in parts else "-" for p in (*PARTS, "rest")
            ]
            exact = [f"{statistics.median(m['seconds'][b]) * 1e3:.2f}" for b in ("fp32", "bf16")]
            rows.append(["  " + m["layer"], *percent, f"{whole:.2f}", *exact])
        rows.append(["  all", f"{100 * all_gemm / all_whole:.0f}", *[""] * 6, f"{all_whole:.2f}"])
        rows[-1] += [""] * 2
    titles = ["layer", "GEMM", "gy", "W", "x", "dequant", "layout", "rest"]
    table([*titles, "ms", "FP32 ms", "BF16 ms"], rows)
    if overlap:
        remark(
            "Where the rest is negative, the pass does in one go, or spares, what the steps do one "
            "after the other."
        )
        print()


def print_losses(layers, presets=("hot", "int8")):
    """What eats the gain of the layers that don't get faster."""
    lines = []
    for layer in layers:
        for preset in presets:
            whole, parts = shares(layer, preset)
            exact = statistics.median(layer["seconds"]["fp32"]) * 1e3
            if whole < exact:
                continue
            eater = max((p for p in parts if p != "gemm"), key=lambda p: parts[p])
            text = f"{layer['model']} {layer['layer']}, batch {layer['batch']}, {preset}: "
            if parts["gemm"] >= exact:
                text += (
                    f"the integer products alone take {parts['gemm'] / exact:.2f} of FP32's time"
                )
            else:
                text += f"{PART_NAMES[eater]} takes {100 * parts[eater] / whole:.0f} % of the time"
            lines.append(f"{text}; {exact / whole:.2f} of FP32's speed")
    if lines:
        print("Not faster than FP32, and what eats the gain")
        for line in lines:
            remark("  " + line)
        print()


def add_summary(results):
    """Medians and spreads beside the raw rounds, for programs."""
    for layer in results["layers"]:
        seconds = layer["seconds"]
        layer["speedup"] = {
            scheme: {b: summary(ratios(seconds[b], seconds[scheme])) for b in ("fp32", "bf16")}
            for scheme in seconds
            if scheme not in ("fp32", "bf16")
        }
    for matrix in results["kernels"]:
        for p in matrix["passes"]:
            p["share_of_copy_speed"] = summary(ratios(p["copy_seconds"], p["seconds"]))
    results["geometric_mean"] = [
        {
            "model": model,
            "batch": batch,
            "speedup": {
                scheme: {
                    b: summary(
                        geometric([ratios(m["seconds"][b], m["seconds"][scheme]) for m in members])
                    )
                    for b in ("fp32", "bf16")
                }
                for scheme in members[0]["speedup"]
            },
        }
        for (model, batch), members in groups(results["layers"]).items()
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", help="JSON of hot-bench; - is standard input")
    parser.add_argument("--json", help="write the results with their ratios to this file")
    arguments = parser.parse_args()
    with sys.stdin if arguments.results == "-" else open(arguments.results) as file:
        results = json.load(file)
    print_environment(results["environment"])
    if results["kernels"]:
        print_kernels(results["kernels"])
    if results["layers"]:
        print_speed(results["layers"])
        print_parts(results["layers"], "hot")
        print_parts(results["layers"], "int8")
        print_losses(results["layers"])
    if arguments.json:
        add_summary(results)
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
