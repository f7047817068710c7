#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of the documents from files of the tree: draw_pictures.py ROOT [--check]

docs/pictures/by_regime.svg   each GEMM of docs/benchmarks/h200_models_model.json: rate relative to cuBLAS over its rows
docs/pictures/random.svg      the same of random shapes, h100_population_seed*.json, by class
docs/pictures/pipeline.svg    when stages are filled and read: a simulation of one producer and two consumers
docs/pictures/stream_k.svg    tiles on SMs: whole tiles, split-K and stream-K, by the same arithmetic as the kernels' schedules
docs/pictures/rooms.svg       the folders of include/tilewright, by the table of docs/architecture.md, and what they include
docs/pictures/race.svg        examples/16_first_kernel: the two lines that expected_race.txt names

With --check nothing is written: exit code 1 if a picture differs. Pictures are 800 wide and follow the reader's colour scheme.
"""
import html
import json
import math
import re
import sys
from pathlib import Path

WIDTH = 800
STYLE = """<style>
text { font: 14px system-ui, sans-serif; fill: #222 } .small { font-size: 12px } .code { font-family: ui-monospace, monospace; font-size: 13px }
.line { stroke: #222; fill: none } .grid { stroke: #ccc } .a { fill: #2b6cb0 } .b { fill: #c05621 } .c { fill: #2f855a } .d { fill: #805ad5 }
.pale { fill: #e2e8f0 } .bad { fill: #c53030 } .badline { stroke: #c53030; fill: none } .inside { fill: #fff }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .line { stroke: #ddd } .grid { stroke: #444 } .a { fill: #63b3ed } .b { fill: #f6ad55 }
.c { fill: #68d391 } .d { fill: #b794f4 } .pale { fill: #2d3748 } .bad { fill: #fc8181 } .badline { stroke: #fc8181 } .inside { fill: #1a202c } }
</style>"""


class Picture:
    def __init__(self, height, title):
        self.out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
                    f"<title>{html.escape(title)}</title>", STYLE]

    def text(self, x, y, words, kind="", anchor="start"):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{html.escape(words)}</text>')

    def box(self, x, y, width, height, kind):
        self.out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" class="{kind}"/>')

    def line(self, x0, y0, x1, y1, kind="line"):
        self.out.append(f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" class="{kind}"/>')

    def dot(self, x, y, kind):
        self.out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="{kind}" fill-opacity="0.75"/>')

    def svg(self):
        return "\n".join([*self.out, "</svg>"]) + "\n"


def scatter(title, points, kinds, low, high):
    """Points (rows, ratio, kind) on logarithmic axes; kinds: name of each class of colour."""
    p = Picture(430, title)
    left, right, top, bottom = 60, 780, 40, 370

    def x(m):
        return left + (right - left) * math.log2(m) / math.log2(32768)

    def y(ratio):
        return bottom - (bottom - top) * math.log(ratio / low) / math.log(high / low)
    for ratio in (0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0):
        if low <= ratio <= high:
            p.line(left, y(ratio), right, y(ratio), "line" if ratio == 1 else "grid")
            p.text(left - 8, y(ratio) + 5, f"{ratio:g}", anchor="end")
    for power in range(0, 16, 3):
        p.text(x(2**power), bottom + 22, f"{2**power:,}", anchor="middle" if power < 15 else "end")
    p.text((left + right) / 2, bottom + 44, "rows of A (m)", anchor="middle")
    for m, ratio, kind in points:
        p.dot(x(m), y(min(max(ratio, low), high)), kind)
    at = left
    for kind, name in kinds.items():
        p.dot(at + 5, 18, kind)
        p.text(at + 15, 23, name)
        at += 30 + 8 * len(name)
    return p.svg()


def by_regime(root):
    rows = json.loads((root / "docs/benchmarks/h200_models_model.json").read_text(encoding="utf-8"))["results"]
    points = [(r["m"], r["ratio_to_cublas"], "b" if r["type"] == "e4m3" else "a") for r in rows]
    return scatter("Rate of GEMM relative to cuBLAS on an H200, by the number of rows", points,
                   {"a": "f16 and bf16", "b": "e4m3: rate relative to cuBLAS"}, 0.45, 1.5)


def random_shapes(root):
    kinds = {"unaligned": "b", "1-16 rows": "c", "17-64 rows": "c"}
    points = [(r["m"], r["ratio_to_cublas"], kinds.get(r["class"], "a")) for seed in (451, 452, 453)
              for r in json.loads((root / f"docs/benchmarks/h100_population_seed{seed}.json").read_text(encoding="utf-8"))["results"]
              if r["type"] != "e4m3"]
    return scatter("Rate of random GEMMs relative to cuBLAS on an H100", points,
                   {"a": "aligned", "c": "up to 64 rows", "b": "unaligned rows"}, 0.7, 4.0)


def simulated_pipeline(steps, stages, load, latency, multiply):
    """(loads, multiplications): (start, end, stage, consumer) of each step; two consumers read each stage and release it together."""
    loads, sums, free, issued, busy = [], [], [0.0] * stages, 0.0, [0.0, 0.0]
    for step in range(steps):
        stage = step % stages
        start = max(issued, free[stage])
        issued = start + load
        arrived = start + load + latency
        loads.append((start, arrived, stage))
        ends = []
        for consumer in (0, 1):
            begin = max(arrived, busy[consumer])
            busy[consumer] = begin + multiply
            sums.append((begin, busy[consumer], stage, consumer))
            ends.append(busy[consumer])
        free[stage] = max(ends)
    return loads, sums


def pipeline(_root):
    stages, colours = 4, ("a", "b", "c", "d")
    loads, sums = simulated_pipeline(9, stages, 1, 2.5, 2)
    p = Picture(330, "A producer fills stages by TMA, two consumers multiply them")
    scale, left = 30, 110
    end = max(e for _, e, _, _ in sums)
    assert left + scale * end <= WIDTH, end
    for row, name in enumerate([*(f"stage {s}" for s in range(stages)), "consumer 0", "consumer 1"]):
        y = 30 + 40 * row
        p.text(10, y + 18, name)
        p.line(left, y + 30, left + scale * end, y + 30, "grid")
    for step, (start, arrived, stage) in enumerate(loads):
        y = 30 + 40 * stage
        p.box(left + scale * start, y + 4, scale * (arrived - start) - 2, 22, "pale")
        p.text(left + scale * start + 4, y + 20, f"load {step}", "small")
        read = [s for s in sums if s[2] == stage and s[0] >= arrived][:2]
        p.box(left + scale * arrived, y + 4, scale * (max(s[1] for s in read) - arrived) - 2, 22, colours[stage])
    for number, (start, stop, stage, consumer) in enumerate(sums):
        y = 30 + 40 * (stages + consumer)
        p.box(left + scale * start, y + 4, scale * (stop - start) - 2, 22, colours[stage])
        p.text(left + scale * start + 4, y + 20, f"k {number // 2}", "small inside")
    p.text(left, 295, "grey: the TMA load is in flight; coloured: full, until both consumers have released the stage")
    p.text(left, 315, "the producer waits for an empty stage, a consumer for a full one")
    return p.svg()


def schedules(tiles, sms, steps):
    """Units (SM, start, end, tile) of three schedules, in steps along k; the kernels' schedules divide likewise."""
    whole = [(t % sms, t // sms * steps, (t // sms + 1) * steps, t) for t in range(tiles)]
    parts, size = 2, steps / 2
    split = [(u % sms, u // sms * size, (u // sms + 1) * size, u // parts) for u in range(tiles * parts)]
    stream, first, share = [], tiles - tiles % sms, (tiles % sms) * steps / sms
    stream += [(t % sms, t // sms * steps, (t // sms + 1) * steps, t) for t in range(first)]
    for sm in range(sms):
        at, stop = sm * share, (sm + 1) * share
        while at < stop - 1e-9:
            tile = int(at / steps + 1e-9)
            upto = min(stop, (tile + 1) * steps)
            began = first / sms * steps + at - sm * share
            stream.append((sm, began, began + upto - at, first + tile))
            at = upto
    return {"whole tiles": whole, "split-K, 2": split, "stream-K": stream}


def stream_k(_root):
    sms, tiles, steps = 4, 6, 8
    p = Picture(430, "Six tiles on four SMs: whole tiles, split-K, stream-K")
    colours = ("a", "b", "c", "d", "pale", "bad")
    y, scale, left = 10, 38, 130
    for name, units in schedules(tiles, sms, steps).items():
        end = max(u[2] for u in units)
        p.text(10, y + 18, name)
        p.text(10, y + 36, f"{end:g} steps", "small")
        for sm in range(sms):
            p.text(left - 8, y + 18 + 26 * sm, f"{sm}", "small", "end")
        for sm, start, stop, tile in units:
            p.box(left + scale * start, y + 4 + 26 * sm, scale * (stop - start) - 2, 22, colours[tile])
            p.text(left + scale * start + 4, y + 20 + 26 * sm, f"tile {tile}", "small" if colours[tile] == "pale" else "small inside")
        y += 130
    p.text(left, y + 10, "time; rows are SMs. Slices of one tile are added up afterwards (split-K) or by the last SM of the tile (stream-K).", "small")
    return p.svg()


def rooms(root):
    order = ["core", "machine", "tile", "block", "launch", "kernels"]
    p = Picture(70 + 56 * len(order), "Rooms of include/tilewright; each includes only those below")
    text = (root / "docs/architecture.md").read_text(encoding="utf-8")
    for row, room in enumerate(reversed(order)):
        y = 20 + 56 * row
        said = re.search(rf"^\| `{room}(?:/\w+)?`.*?\| ([^|]*) \|$", text, re.M)
        p.box(20, y, 760, 46, "pale")
        p.text(34, y + 28, room, "code")
        words = "ready kernels, one folder for each family" if room == "kernels" else re.sub(r"[`\[\]]|\([^)]*\)", "", said[1]) if said else ""
        p.text(130, y + 28, words if len(words) < 95 else words[:92].rsplit(" ", 1)[0] + " ...", "small")
    p.text(20, 45 + 56 * len(order), "A header includes its own room or lower ones; check_rooms.py checks it.", "small")
    return p.svg()


def race(root):
    folder = root / "examples/16_first_kernel"
    said = (folder / "expected_race.txt").read_text(encoding="utf-8").splitlines()[0]
    found = re.match(r"thread (\d+) .* (reads|writes) LDS bytes (\d+) to (\d+) \(race\.cpp:(\d+)\) that thread (\d+) (wrote|read) \(race\.cpp:(\d+)\)", said)
    source = (folder / "race.cpp").read_text(encoding="utf-8").splitlines()
    p = Picture(250, "A race: two threads, two lines, no barrier between")
    for column, (thread, line, does) in enumerate(((found[1], found[5], found[2]), (found[6], found[8], found[7]))):
        y = 40 + 90 * column
        p.box(20, y, 760, 56, "pale")
        p.text(34, y + 22, f"thread {thread}, line {line}, {does} bytes {found[3]} to {found[4]} of LDS")
        p.text(34, y + 44, source[int(line) - 1].split("//")[0].strip(), "code")
    p.line(400, 96, 400, 130, "badline")
    p.text(410, 118, "no barrier orders these two", "")
    p.text(20, 220, "The emulator follows happens-before, so it finds this in every run, whatever the order of threads.", "small")
    return p.svg()


PICTURES = {"by_regime": by_regime, "random": random_shapes, "pipeline": pipeline, "stream_k": stream_k, "rooms": rooms, "race": race}


def main(arguments):
    root, failed = Path(arguments[0]), 0
    for name, draw in PICTURES.items():
        file, svg = root / "docs/pictures" / f"{name}.svg", draw(root)
        if "--check" not in arguments:
            file.parent.mkdir(exist_ok=True)
            file.write_text(svg, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != svg:
            failed = 1
            print(f"docs/pictures/{name}.svg is not what tools/draw_pictures.py draws: run it without --check")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
