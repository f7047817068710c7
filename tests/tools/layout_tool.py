#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tilewright-layout as a user does: exit codes, what bad input is told, well-formed SVG and JSON.

usage: layout_tool.py PROGRAM FOLDER

FOLDER has pictures that are checked like those drawn here; pages are around it, whose commands of ./dev layout must be taken.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

PROGRAM = sys.argv[1]
failures = []


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)


def check(truth, what):
    if not truth:
        failures.append(what)


# Arguments, exit code, what standard output must hold.
VERDICTS = [
    ("--read mfma:32x32x16", 1, "8 lanes meet in bank 0: 8 cycles instead of 1"),
    ("--read mfma:32x32x16 --write rows:16B --layout xor", 0, "no conflict: 1 cycle"),
    ("--read mfma:16x16x32 --layout padded", 1, "ds_read_b128"),
    ("--read mfma:16x16x32 --read mfma:32x32x16 --write rows:16B --layout solve", 0, "layout solve"),
    ("--arch gfx950 --read mfma:32x32x16 --write rows:16B --layout xor --layout swizzle:3,4,3", 1, "2 rows side by side"),
    ("--arch gfx950 --read mfma:32x32x16 --layout xor", 0, "known by"),
    ("--arch sm_90 --read ldmatrix --layout xor", 0, "ldmatrix"),
    ("--arch sm_90 --tile 64x32 --read ldmatrix --layout plain", 1, "ldmatrix"),
    ("--read column:2B", 1, "32 lanes meet in bank 0"),
    ("--read column:16B --layout row-xor:1,4,2,0,1", 0, "no conflict"),
    ("--arch gfx950 --read mfma:16x16x32 --read mfma:32x32x16 --write rows:16B --layout row-xor", 0, "no conflict"),
    ("--read rows:16B --write rows:16B --layout base-tile:8x8", 0, "base tiles of 8x64"),
    ("--read rows:16B --tile 1024x64 --layout plain", 1, "MORE than the 65536"),
    ("--arch gfx90a --read rows:16B", 0, "known by"),
    ("--arch gfx1201 --write rows:16B --evidence", 1, "no source documents or measures"),
    ("--arch gfx90a --read rows:16B --evidence", 0, "known by"),
    ("--read rows:16B --evidence", 0, "V"),
    ("--read encoding:H(2,64)(8,8)P(1.1)Y(1.0,2.0,2.1)", 1, "8 lanes meet"),
    ("distribution mfma:32x32x8:c --tile 32x32", 0, "row 4   4:0-3 36:0-3"),
    ("curve 4x6:snake", 0, "row 1 11 10"),
    ("--arch gfx950 --write rows:16B --layout row-xor --direct", 0, "without registers: possible"),
    ("--arch gfx950 --write rows:16B --layout padded --direct", 1, "this layout would have a wave write elsewhere"),
    ("--arch gfx942 --write rows:16B --direct", 1, "copies no such number of bytes"),
    ("--arch gfx942 --tile 128x128 --read rows:16B", 0, "room for 2 blocks"),
    ("curve 2x4:hilbert", 0, "row 1 1 2 5 6"),
    ("curve 4x2:groups=2:snake", 0, "row 2 6 4"),
    ("phases --arch gfx942", 0, "phase 0: lanes 0-3, 20-23"),
    ("--dtype f8 --read mfma:16x16x64 --layout xor", 0, "ds_read_b128"),
    ("--dtype f32 --read mfma:32x32x8 --layout solve", 0, "ds_read_b128"),
    ("--help", 0, "row-xor"),
    ("--version", 0, "tilewright-layout 0."),
    ("--dtype fp8 --read v_mfma_f32_16x16x32_fp8_fp8 --layout xor", 0, "of 128 x 64 fp8"),
    ("--read v_mfma_f32_32x32x8_f16:b --layout solve", 0, "ds_read_b64"),
    ("--arch gfx1201 --read v_wmma_f32_16x16x16_f16 --layout solve", 0, "ds_load_b128"),
    ("--arch sm_90 --write stmatrix --layout xor", 0, "stmatrix is known by H"),
    ("--arch gfx1201 --write ds_store_b64 --read ds_load_b128:warp-raked --layout xor", 0, "ds_store_b64"),
    ("--arch sm_90 --read ld.shared.v4.b32", 0, "ld.shared.v4.b32"),
    ("--arch sm_90 --read mma:16x8x16", 1, "ld.shared.b32"),
    ("--arch sm_90 --read mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 1, "ld.shared.b32"),
    ("--arch gfx950 --tile 64x64 --layout solve --write rows:16B --read ds_read_b64_tr_b16", 0, "ds_read_b64_tr_b16 is known by I: as ds_read_b64"),
    ("--arch gfx950 --tile 64x64 --read ds_read_b64_tr_b16:32x32x16:b", 1, "ds_read_b64_tr_b16"),
    ("--arch gfx950 --tile 64x64 --dtype fp8 --layout solve --read ds_read_b64_tr_b8", 0, "ds_read_b64_tr_b8"),
    ("--arch sm_90 --tile 64x64 --layout solve --read ldmatrix --read ldmatrix.trans:b", 0, "ldmatrix.trans:b"),
    ("--arch gfx942,gfx950 --tile 64x32 --layout solve --write rows:16B --read mfma:16x16x32", 0, "\ngfx950, tile of 64 x 32 f16"),
    ("--arch gfx942 --arch sm_90 --read rows:16B", 0, "\nsm_90, tile of"),
    ("--arch sm_90 --dtype f32 --tile 32x32 --read column:4B --explain-bank 0", 1, "  word 32, byte 128: lane 1 at (1, 0)"),
    ("--layout solve --tile 96x64 --write rows:16B --read mfma:32x32x16", 0, "no conflict"),
]

# Arguments and what standard error must say; the exit code is 2, and nothing else is printed.
REFUSALS = [
    ("", "say with --write or --read"),
    ("--read rows:16", "the width is a number of bytes"),
    ("--read rows:3B", "a power of two"),
    ("--read rows:1B", "a multiple of an element's 2 bytes"),
    ("--read rows:16B:backwards", "the order is block-raked"),
    ("--read rows:16B --threads 100", "no multiple of the 64 lanes"),
    ("--read rows:16B --tile 4x8", "the tile has 4 pieces for 64 threads"),
    ("--read rows:16B --tile 96x40", "do not share"),
    ("--read waves:16B", "is not known; there are rows:BYTES"),
    ("--read mfma:4x4x4", "gfx942 has no such matrix instruction for elements of 2 bytes; it has mfma:16x16x16, "),
    ("--arch sm_90 --read mfma:32x32x8", "it has mma:16x8x16"),
    ("--arch sm_90 --dtype f64 --read mma:16x16x16", "for elements of 8 bytes; it has none"),
    ("--read mfma:32x32x8 --tile 48x64", "no multiple of the operand's 32x8"),
    ("--read mfma:32x32x8:d", "the operand is a, b or c"),
    ("--read ldmatrix", "gfx942 has no ldmatrix"),
    ("--arch sm_90 --write ldmatrix", "give it to --read"),
    ("--arch gfx9000 --read rows:16B", "--arch must be one of"),
    ("--tile 128 --read rows:16B", "--tile must be 2 numbers"),
    ("--tile 0x64 --read rows:16B", "a whole number from 1 to"),
    ("--dtype f17 --read rows:16B", "--dtype must be one of"),
    ("--layout zigzag --read rows:16B", "there are plain"),
    ("--layout xor --tile 96x64 --read rows:16B", "powers of two"),
    ("--layout xor:3 --read rows:16B", "the layer must be a power of two"),
    ("--layout padded:3 --read rows:16B", "a multiple of an element's 2 bytes"),
    ("--layout swizzle:3,4 --read rows:16B", "three numbers"),
    ("--layout swizzle:3,0,3 --read rows:16B", "M must be a whole number from 2 to 4"),
    ("--dtype f64 --layout swizzle:3,2,3 --read rows:16B", "M must be at least 3"),
    ("--tile 4096x4096 --layout swizzle:1,2,1 --read rows:16B", "too many rows"),
    ("--tile 128x16 --layout row-xor --read rows:16B", "known for rows of 64, 128 and 256 bytes, not of 32"),
    ("--layout base-tile:8x16 --read rows:16B", "no multiple of a base tile's 8x128"),
    ("--layout swizzle:3,4,2 --read rows:16B", "S must be at least B"),
    ("--layout swizzle:8,4,8 --read rows:16B", "must be at most 14"),
    ("--layout row-xor:1,8 --read rows:16B", "a whole number from 0 to 7"),
    ("--layout row-xor:1,1,1,1,1,1,1,1 --read rows:16B", "takes at most 7 numbers"),
    ("--layout solve --tile 64x96 --read encoding:H(64)(12,8)P(1.0)Y(2.0,2.1)", "whose length is a power of two"),
    ("--layout solve --arch gfx942,sm_90 --read rows:16B", "do not share the tile alike"),
    ("--arch gfx942,gfx9 --read rows:16B", "not 'gfx9'"),
    ("--arch gfx942,gfx950 --read rows:16B --format svg", "one --arch at a time"),
    ("--arch sm_80 --write stmatrix", "sm_80 has no stmatrix"),
    ("--arch sm_90 --read stmatrix", "give it to --write"),
    ("--arch sm_90 --dtype f32 --read ldmatrix", "for elements of 4 bytes"),
    ("--write ds_read_b128", "reads; give it to --read"),
    ("--read ds_write_b64", "writes; give it to --write"),
    ("--arch gfx1100 --read ds_read_b128", "gfx1100 calls it ds_load_b128"),
    ("--arch sm_90 --write ds_store_b64", "sm_90 calls it st.shared.v2.b32"),
    ("--read ds_read_b96", "powers of two, never 12"),
    ("--read=", "is not known"),
    ("--threads 2048 --read rows:16B", "from 1 to 1024"),
    ("--read ds_read_b64_tr_b16", "gfx942 has no such instruction"),
    ("--arch gfx950 --dtype f32 --read ds_read_b64_tr_b16", "no such instruction for elements of 4 bytes"),
    ("--arch gfx950 --tile 8x64 --read ds_read_b64_tr_b16", "k runs down the rows"),
    ("--read v_mfma_f32", "names no shape"),
    ("--read rows:16B --explain-bank 32", "banks 0 to 31"),
    ("--read rows:16B --explain-bank 3 --format svg", "explains in --format text"),
    ("--read encoding:", "ends too early"),
    ("--read \x1b[31m", "\\x1b[31m"),
    ("--read rows:16B --show 2", "the accesses are numbered from 1 to 1"),
    ("--read rows:16B --phase 8", "has phases 0 to 7"),
    ("--read encoding:H(64)(64)P(1.0)Y(2.0)", "does not distribute a tile of 128x64"),
    ("--read encoding:H(4,32)(64)P(1.1)Y(1.0,2.0)", "has 32 lanes; a wave of gfx942 has 64"),
    ("--read rows:16B --format png", "--format must be one of json|svg|text"),
    ("--read rows:16B --nonsense", "--help lists the options"),
    ("--read rows:16B --out /nowhere/file", "cannot write /nowhere/file: No such file or directory"),
    ("--read rows:16B --out /dev/full", "No space left on device"),
    ("curve 4x6:zigzag", "'zigzag' is not known"),
    ("curve 4", "must be 2 numbers"),
    ("curve 4x6:hilbert:snake", "hilbert stands alone"),
    ("curve 128x64", "up to 4096 elements"),
    ("curve 4x6 2x2 --format json", "one curve at a time"),
    ("distribution", "say which distribution"),
    ("curve", "say which curve"),
]

for line, code, wanted in VERDICTS:
    result = run(*line.split())
    check(result.returncode == code, f"{line}: exit code {result.returncode} instead of {code}: {result.stderr}")
    check(wanted in result.stdout, f"{line}: '{wanted}' is not in\n{result.stdout}")

for line, wanted in REFUSALS:
    result = run(*line.split())
    check(result.returncode == 2, f"{line}: exit code {result.returncode} instead of 2")
    check(wanted in result.stderr, f"{line}: '{wanted}' is not in: {result.stderr}")
    check(result.stdout == "" or "--format json" in line, f"{line}: prints something although it is refused")

# Commands of pages (those with their output are compared by check_docs.py).
commands = [line for page in sorted(Path(sys.argv[2]).parent.rglob("*.md")) for line in page.read_text(encoding="utf-8").splitlines()
            if line.startswith("./dev layout ")]
check(len(commands) > 0, f"no page around {sys.argv[2]} calls ./dev layout")
for line in commands:
    result = run(*line.split("#")[0].split()[2:])
    check(result.returncode in (0, 1), f"{line}: {result.stderr}")

# Pictures are well-formed, and everything in them lies inside.
PICTURES = [
    "--read mfma:32x32x16 --layout plain --layout xor",
    "--read mfma:32x32x16 --layout plain --view memory",
    "--read column:2B --arch gfx950",
    "--read column:4B --tile 512x64 --layout padded:4",
    "--write rows:16B --arch gfx1100 --theme dark --title a<b>&c",
    "distribution mfma:32x32x16",
    "distribution wmma:16x16x16 --arch gfx1100 --colours register",
    "distribution rows:16B --colours wave --tile 256x64",
    "curve 4x6 5x7:access=2x3 4x8:order=1,0:snake",
    "phases --arch gfx950",
    "--read rows:16B --title \x1b[31m\udcff&",
]
SVG = "{http://www.w3.org/2000/svg}"


def check_picture(name, text):
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        check(False, f"{name}: not well-formed: {error}")
        return
    width, height = int(root.get("width")), int(root.get("height"))
    check(root.tag == SVG + "svg" and root.find(SVG + "title").text, f"{name}: no title")
    rectangles = list(root.iter(SVG + "rect"))
    check(len(rectangles) > 10, f"{name}: only {len(rectangles)} rectangles")
    for r in rectangles:
        x, y = int(r.get("x", 0)), int(r.get("y", 0))
        inside = x >= 0 and y >= 0 and x + int(r.get("width")) <= width and y + int(r.get("height")) <= height
        check(inside, f"{name}: a rectangle at {x}, {y} leaves the picture")
    for t in root.iter(SVG + "text"):
        classes = t.get("class", "").split()
        size = 6 if "small" in classes else 9 if "big" in classes else 7
        length = size * len(t.text or "")
        x = int(t.get("x")) - (length if "end" in classes else length / 2 if "mid" in classes else 0)
        check(x >= -2 and x + length <= width + 2, f"{name}: the text '{t.text}' leaves the picture")


for line in PICTURES:
    check_picture(line, run(*line.split(), "--format", "svg").stdout)
gallery = sorted(Path(sys.argv[2]).glob("*.svg"))
check(len(gallery) > 0, f"{sys.argv[2]}: no pictures")
for file in gallery:
    check_picture(file.name, file.read_text(encoding="utf-8"))

# Several targets are several objects.
both = json.loads(run("--arch", "gfx942,gfx950", "--read", "rows:16B", "--format", "json").stdout)
check([one["target"] for one in both] == ["gfx942", "gfx950"], "JSON: two targets")

# JSON says what the text says.
answer = json.loads(run("--read", "mfma:32x32x16", "--write", "rows:16B", "--layout", "plain", "--layout", "xor", "--format", "json").stdout)
plain, xor = answer["layouts"]
check(plain["accesses"][1]["worst_degree"] == 8 and plain["accesses"][1]["extra_cycles"] == 896, "JSON: plain reads")
check(plain["accesses"][0]["kind"] == "write" and plain["accesses"][0]["conflict_free"], "JSON: plain writes")
check(xor["accesses"][1]["conflict_free"] and xor["accesses"][1]["extra_cycles"] == 0, "JSON: swizzled reads")
worst = plain["accesses"][1]["worst"]
check(worst["bank"] == 0 and worst["lanes"] == [22, 23] and worst["elements"] == [[22, 0], [23, 0]], "JSON: the worst phase")
check(len(worst["phases"]) == 8 and worst["phases"][0]["lanes"] == [0, 1, 2, 3, 20, 21, 22, 23], "JSON: phases")
owners = json.loads(run("distribution", "mfma:32x32x8:c", "--tile", "32x32", "--format", "json").stdout)
check(sum(r["length"] * len(r["owners"]) for r in owners["runs"]) == 1024, "JSON: each element of a distribution once")
walk = json.loads(run("curve", "5x7:access=2x3", "--format", "json").stdout)
check([a["in_bounds"] for a in walk["accesses"]].count(False) == 5, "JSON: accesses that overhang")
table = json.loads(run("phases", "--arch", "sm_90", "--format", "json").stdout)
check(all(sorted(sum(i["phases"], [])) == list(range(32)) for i in table["instructions"]), "JSON: every lane is served once")

# --out writes the file whole, and a refusal writes none.
with tempfile.TemporaryDirectory() as folder:
    picture = Path(folder) / "picture.svg"
    result = run("--read", "rows:16B", "--format", "svg", "--out", str(picture))
    check(result.stdout == "" and picture.read_text().endswith("</svg>\n"), "--out: the picture is not in the file")
    other = Path(folder) / "other.svg"
    run("--read", "rows:3B", "--format", "svg", "--out", str(other))
    check(not other.exists(), "--out: a refused request leaves a file")

    # A disk without room: the file that was there stays, and nothing else does.
    picture.chmod(0o640)
    before = picture.read_text()
    result = subprocess.run(
        [PROGRAM, "--read", "mfma:32x32x16", "--format", "svg", "--out", str(picture)], capture_output=True, text=True, timeout=60,
        restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
    check(result.returncode == 2 and "cannot write" in result.stderr, f"--out: no room: {result.returncode} {result.stderr}")
    check(picture.read_text() == before, "--out: without room the old file is lost")
    check([p.name for p in Path(folder).iterdir()] == ["picture.svg"], "--out: without room something is left")
    run("--read", "mfma:32x32x16", "--format", "svg", "--out", str(picture))
    check(picture.read_text() != before and picture.stat().st_mode & 0o777 == 0o640, "--out: the file is not replaced, or its rights are")
    link = Path(folder) / "link.svg"
    link.symlink_to("picture.svg")
    run("--read", "rows:16B", "--format", "svg", "--out", str(link))
    check(link.is_symlink() and picture.read_text() == before, "--out: a link is not followed")

for failure in failures:
    print(failure)
print(f"{len(VERDICTS)} verdicts, {len(REFUSALS)} refusals, {len(PICTURES) + len(gallery)} pictures: {len(failures)} failures")
sys.exit(1 if failures else 0)
