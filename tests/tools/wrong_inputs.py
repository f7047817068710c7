#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gives the programs the inputs of tests/tools/wrong_inputs.md: exit code 2, the sentence listed, and nothing else.

    wrong_inputs.py [--write] PAGE PROGRAM...

With --write the page gets the sentences that the programs say; read them before they are committed.
"""
import concurrent.futures
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile


def npy(shape, descr, body):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))}), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def make_files(folder):
    files = {
        "a.npy": npy((8, 16), "<f2", bytes(8 * 16 * 2)),
        "b.npy": npy((17, 8), "<f2", bytes(17 * 8 * 2)),
        "bf.npy": npy((16, 8), "<V2", bytes(16 * 8 * 2)),
        "bytes.npy": npy((16, 8), "|V1", bytes(16 * 8)),
        "big.npy": npy((8, 16), "<f4", struct.pack("<f", 1e6) * 128),
        "huge.npy": npy((1 << 30, 1 << 30), "<f2", b""),
        "text.npy": b"1 2 3\n",
        "text.json": b"no JSON\n",
        "shapes.json": b'{"targets": ["gfx942"]}\n',
        "twice.npy": b"",
    }
    files["cut.npy"] = files["a.npy"][:200]
    for name, content in files.items():
        (folder / name).write_bytes(content)
    os.link(folder / "twice.npy", folder / "its other name")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")


def run(program, arguments, folder):
    # The shell reads the words as the reader of the page would type them.
    return subprocess.run(["bash", "-c", f'"$1" {arguments}', "bash", program], capture_output=True, cwd=folder, timeout=60,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "TILEWRIGHT_CACHE_DIR": str(folder / "cache")})


def snapshot(folder):
    return {path.name: (path.stat().st_mode, path.stat().st_size) for path in folder.iterdir()}


def main():
    write = sys.argv[1] == "--write"
    page = pathlib.Path(sys.argv[2 if write else 1])
    programs = {pathlib.Path(p).name: os.path.abspath(p) for p in sys.argv[3 if write else 2:]}
    lines = page.read_text(encoding="utf-8").splitlines()
    failures, cases, heading = [], [], None
    for number, line in enumerate(lines):
        if line.startswith("## "):
            heading = line[3:]
        row = re.fullmatch(r"\| (?:`(.*?)`|none) \| (.*)\|", line)
        if row and heading in programs:
            cases.append((number, programs[heading], heading, (row[1] or "").replace(r"\|", "|"), row[2].strip().replace(r"\|", "|")))
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(name)
        make_files(folder)
        before = snapshot(folder)
        results = list(pool.map(lambda case: run(case[1], case[3], folder), cases))
        if snapshot(folder) != before:
            failures.append(f"files were left or changed: {sorted(snapshot(folder).items() ^ before.items())}")
    for (number, _, program, arguments, wanted), done in zip(cases, results):
        said = done.stderr.decode("utf-8", "replace")
        what = f"{program} {arguments}"
        if done.returncode != 2 or done.stdout or said.count("\n") != 1 or not said.startswith(program + ": "):
            failures.append(f"{what}: exit code {done.returncode}, printed {done.stdout[:200]}, said {said!r}")
        sentence = said.rstrip("\n").removeprefix(program + ": ")
        # This machine's memory, and what a loader says, differ.
        sentence = re.sub(r"have [0-9.]+ GiB of memory", "have ... GiB of memory", sentence)
        if write:
            escaped = sentence.replace("|", r"\|")
            shown = f"`{arguments}`".replace("|", r"\|") if arguments else "none"
            lines[number] = f"| {shown} | {escaped} |"
        elif sentence != wanted:
            failures.append(f"{what}: said\n    {sentence}\n  instead of\n    {wanted}")
    if write:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for failure in failures:
        print(failure)
    print(f"{len(cases)} wrong inputs: {len(failures)} failures")
    sys.exit(1 if failures or not cases else 0)


if __name__ == "__main__":
    main()
