#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/gallery, or checks that they are what the program draws now.

usage: draw_gallery.py PROGRAM FOLDER [--check]

FOLDER/pictures.txt names a file and the arguments of tilewright-layout in each line; # begins a comment.
"""

import shlex
import subprocess
import sys
from pathlib import Path


def pictures_in(folder):
    for line in (folder / "pictures.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, *arguments = shlex.split(line)
            yield name, arguments


def draw(program, arguments):
    """The picture. Exit code 1 means conflicts, which are what some pictures are about."""
    result = subprocess.run([program, *arguments, "--format", "svg"], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"{shlex.join(arguments)}: {result.stderr.strip()}")
    return result.stdout


def main(arguments):
    check = "--check" in arguments
    positional = [a for a in arguments if a != "--check"]
    if len(positional) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program, folder = positional[0], Path(positional[1])
    page = (folder / "README.md").read_text(encoding="utf-8") if check else ""
    problems, drawn = [], set()
    for name, request in pictures_in(folder):
        drawn.add(name)
        file = folder / name
        try:
            picture = draw(program, request)
        except RuntimeError as error:
            problems.append(f"{name}: {error}")
            continue
        if not check:
            file.write_text(picture, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != picture:
            problems.append(f"{name} is not what tilewright-layout draws now; build the target gallery")
        if check and f"]({name})" not in page:
            problems.append(f"README.md does not show {name}")
    for file in sorted(folder.glob("*.svg")):
        if file.name not in drawn:
            problems.append(f"{file.name} is not listed in pictures.txt")
    for problem in problems:
        print(problem)
    print(f"{len(drawn)} pictures, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
