#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws gemm-benchmark's JSON as an SVG: the library's rate over cuBLAS's for each problem.

    benchmarks/gpu/chart.py docs/benchmarks/h100.json --out docs/benchmarks/h100.svg [--type bf16]

One group of bars per shape, one bar per order of B; the line at 1 is cuBLAS. Uses nothing but the standard library.
"""
import argparse
import json
import pathlib
import sys
from xml.sax.saxutils import escape

LEFT, TOP, BOTTOM, RIGHT = 56, 64, 96, 16
BAR, GAP, GROUP_GAP, HEIGHT = 20, 4, 24, 260
COLOURS = {"col": "#2a6f97", "row": "#e09f3e"}
WORDS = {"col": "B column-major", "row": "B row-major"}


def text(x, y, content, anchor="middle", size=12, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {extra}>{escape(content)}</text>'


def chart(data, dtype):
    rows = [r for r in data["results"] if r["type"] == dtype and "ratio_to_cublas" in r]
    if not rows:
        raise SystemExit(f"chart.py: the file has no problem of type {dtype} that both cuBLAS and the library computed")
    shapes = list(dict.fromkeys((r["m"], r["n"], r["k"]) for r in rows))
    orders = [o for o in COLOURS if any(r["b"] == o for r in rows)]
    group = len(orders) * (BAR + GAP) - GAP
    width = LEFT + len(shapes) * (group + GROUP_GAP) + RIGHT
    top_value = max(1.2, *(r["ratio_to_cublas"] for r in rows)) * 1.05
    y_of = lambda value: TOP + HEIGHT * (1 - value / top_value)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + BOTTOM}" font-family="system-ui, sans-serif" fill="#333">',
        f'<rect width="100%" height="100%" fill="#fff"/>',
        text(LEFT, 22, f"GEMM, {dtype}, {data['device']}: rate relative to cuBLAS", "start", 15, 'font-weight="600"'),
    ]
    x = LEFT
    for order in orders:
        out.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{COLOURS[order]}"/>')
        out.append(text(x + 18, 46, WORDS[order], "start"))
        x += 140
    steps = 5
    for i in range(steps + 1):
        value = i * 0.25
        if value > top_value:
            break
        strong = value == 1
        out.append(f'<line x1="{LEFT}" x2="{width - RIGHT}" y1="{y_of(value):.1f}" y2="{y_of(value):.1f}" '
                   f'stroke="{"#333" if strong else "#ddd"}" stroke-width="{1.5 if strong else 1}"/>')
        out.append(text(LEFT - 8, y_of(value) + 4, f"{value:.2f}", "end"))
    for i, shape in enumerate(shapes):
        x = LEFT + GROUP_GAP / 2 + i * (group + GROUP_GAP)
        for j, order in enumerate(orders):
            row = next((r for r in rows if (r["m"], r["n"], r["k"]) == shape and r["b"] == order), None)
            if row is None:
                continue
            value, bar_x = row["ratio_to_cublas"], x + j * (BAR + GAP)
            title = f'{"x".join(map(str, shape))}, {WORDS[order]}: {row["tflops"]:.0f} TFLOP/s, cuBLAS {row["cublas_tflops"]:.0f}'
            out.append(f'<rect x="{bar_x:.1f}" y="{y_of(value):.1f}" width="{BAR}" height="{y_of(0) - y_of(value):.1f}" fill="{COLOURS[order]}">'
                       f"<title>{escape(title)}</title></rect>")
            out.append(text(bar_x + BAR / 2, y_of(value) - 4, f"{value:.2f}", size=9))
        centre, base = x + group / 2, y_of(0) + 14
        out.append(text(centre, base, "x".join(map(str, shape)), "end", 10, f'transform="rotate(-35 {centre:.1f} {base:.1f})"'))
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
