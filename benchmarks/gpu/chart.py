#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws a benchmark's JSON as an SVG: the library's rate over cuBLAS's (gemm-benchmark), cuDNN's (attention.py) or a device copy's (rows.py).

    benchmarks/gpu/chart.py docs/benchmarks/h100.json --out docs/benchmarks/h100.svg [--type bf16]
    benchmarks/gpu/chart.py docs/benchmarks/h100_attention.json --out docs/benchmarks/h100_attention.svg

One group of bars per shape (attention: head dimension and mask; rows: kernel), one bar per order of B (attention: length of the sequences;
rows: the lowest, the median and the highest of all shapes); the line at 1 is the other library. Uses nothing but the standard library.
"""
import argparse
import json
import pathlib
import sys
from xml.sax.saxutils import escape

LEFT, TOP, BOTTOM, RIGHT = 56, 64, 96, 16
BAR, GAP, GROUP_GAP, HEIGHT = 20, 4, 24, 260
BLUES = ("#9ecae1", "#6baed6", "#4292c6", "#2a6f97", "#14507a", "#08306b")
ORDERS = {"col": ("B column-major", "#2a6f97"), "row": ("B row-major", "#e09f3e")}


def text(x, y, content, anchor="middle", size=12, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {extra}>{escape(content)}</text>'


def gemm_bars(data, dtype):
    """The other library, {series: (words, colour)}, {group: {series: (ratio, title)}}."""
    groups = {}
    for r in data["results"]:
        if r["type"] == dtype and "ratio_to_cublas" in r:
            shape, words = f'{r["m"]}x{r["n"]}x{r["k"]}', ORDERS[r["b"]][0]
            title = f'{shape}, {words}: {r["tflops"]:.0f} TFLOP/s, cuBLAS {r["cublas_tflops"]:.0f}'
            groups.setdefault(shape, {})[r["b"]] = (r["ratio_to_cublas"], title)
    return "GEMM", "cuBLAS", ORDERS, groups


def attention_bars(data, dtype):
    groups, rows = {}, [r for r in data["rows"] if r["dtype"] == dtype and "ratio_to_cudnn" in r]
    for r in rows:
        group = f'd = {r["dim"]}, {"causal" if r["causal"] else "full"}'
        title = f'{group}, {r["length"]} tokens: {r["tilewright"]:.0f} TFLOP/s, cuDNN {r["cudnn"]:.0f}'
        groups.setdefault(group, {})[r["length"]] = (r["ratio_to_cudnn"], title)
    lengths = sorted({r["length"] for r in rows})
    return "Attention", "cuDNN", {n: (f"{n} tokens", BLUES[i % len(BLUES)]) for i, n in enumerate(lengths)}, groups


def row_bars(data, _):
    series = {"low": ("lowest", BLUES[0]), "median": ("median", BLUES[2]), "high": ("highest", BLUES[4])}
    cases, groups = {}, {}
    for r in data["row_kernels"]:
        if "ratio_to_copy" in r and not r["case"].endswith("_small"):  # those are bound by the launch
            cases.setdefault(r["case"], []).append(r)
    for case, rows in cases.items():
        rows.sort(key=lambda r: r["ratio_to_copy"])
        for key, r in zip(series, (rows[0], rows[len(rows) // 2], rows[-1])):
            groups.setdefault(case, {})[key] = (r["ratio_to_copy"], f'{case} {r["shape"]}: {r["tilewright"]:.0f} GB/s, copy {r["copy"]:.0f} GB/s')
    return "Memory-bound kernels", "a device copy", series, groups


def chart(data, dtype):
    bars = row_bars if "row_kernels" in data else attention_bars if "rows" in data else gemm_bars
    name, other, series, groups = bars(data, dtype)
    dtype = "all types" if bars is row_bars else dtype
    if not groups:
        raise SystemExit(f"chart.py: the file has no problem of type {dtype} that both {other} and the library computed")
    series = {key: value for key, value in series.items() if any(key in bars for bars in groups.values())}
    group = len(series) * (BAR + GAP) - GAP
    width = max(LEFT + len(groups) * (group + GROUP_GAP), LEFT + 110 * len(series)) + RIGHT
    top_value = max(1.2, *(ratio for bars in groups.values() for ratio, _ in bars.values())) * 1.05
    y_of = lambda value: TOP + HEIGHT * (1 - value / top_value)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + BOTTOM}" font-family="system-ui, sans-serif" fill="#333">',
        f'<rect width="100%" height="100%" fill="#fff"/>',
        text(LEFT, 22, f"{name}, {dtype}, {data['device']}: rate relative to {other}", "start", 15, 'font-weight="600"'),
    ]
    for i, (words, colour) in enumerate(series.values()):
        x = LEFT + 110 * i
        out.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{colour}"/>')
        out.append(text(x + 16, 46, words, "start", 11))
    for i in range(6):
        value = i * 0.25
        if value > top_value:
            break
        strong = value == 1
        out.append(f'<line x1="{LEFT}" x2="{width - RIGHT}" y1="{y_of(value):.1f}" y2="{y_of(value):.1f}" '
                   f'stroke="{"#333" if strong else "#ddd"}" stroke-width="{1.5 if strong else 1}"/>')
        out.append(text(LEFT - 8, y_of(value) + 4, f"{value:.2f}", "end"))
    for i, (label, bars) in enumerate(groups.items()):
        x = LEFT + GROUP_GAP / 2 + i * (group + GROUP_GAP)
        for j, (key, (_, colour)) in enumerate(series.items()):
            if key not in bars:
                continue
            (value, title), bar_x = bars[key], x + j * (BAR + GAP)
            out.append(f'<rect x="{bar_x:.1f}" y="{y_of(value):.1f}" width="{BAR}" height="{y_of(0) - y_of(value):.1f}" fill="{colour}">'
                       f"<title>{escape(title)}</title></rect>")
            out.append(text(bar_x + BAR / 2, y_of(value) - 4, f"{value:.2f}", size=9))
        centre, base = x + group / 2, y_of(0) + 14
        out.append(text(centre, base, label, "end", 10, f'transform="rotate(-35 {centre:.1f} {base:.1f})"'))
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--type", default="bf16", choices=["f16", "bf16", "e4m3"])
    options = parser.parse_args()
    try:
        data = json.loads(options.json.read_text())
    except (OSError, ValueError) as error:
        print(f"chart.py: cannot read {options.json}: {error}", file=sys.stderr)
        return 2
    options.out.write_text(chart(data, options.type))
    return 0


if __name__ == "__main__":
    sys.exit(main())
