#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/gallery, or checks that they are what the program draws now.

usage: draw_gallery.py FOLDER --program NAME=PATH... [--check]

Each line of FOLDER/pictures.txt has the name of a file, that of a program and its arguments; # begins a comment.
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


def draw(programs, name, *arguments):
    """The picture. Exit code 1 means conflicts, which are what some pictures are about."""
    if name not in programs:
        raise RuntimeError(f"the program {name} was not given")
    result = subprocess.run([programs[name], *arguments, "--format", "svg"], capture_output=True, text=True)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"{shlex.join(arguments)}: {result.stderr.strip()}")
    return result.stdout


def main(arguments):
    check = "--check" in arguments
    arguments = [a for a in arguments if a != "--check"]
    programs = dict(a.split("=", 1) for flag, a in zip(arguments[1::2], arguments[2::2]) if flag == "--program")
    if not arguments or not programs or len(arguments) != 1 + 2 * len(programs):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    # Pictures are shown in the folder's own page or in one of the parent folder.
    shown = "".join(page.read_text(encoding="utf-8") for page in [*folder.glob("*.md"), *folder.parent.glob("*.md")])
    problems, drawn = [], set()
    for name, request in pictures_in(folder):
        drawn.add(name)
        file = folder / name
        try:
            picture = draw(programs, *request)
        except RuntimeError as error:
            problems.append(f"{name}: {error}")
            continue
        if not check:
            file.write_text(picture, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != picture:
            problems.append(f"{name} is not what tilewright-layout draws now; build the target gallery")
        if check and f"]({name})" not in shown and f"]({folder.name}/{name})" not in shown:
            problems.append(f"no document shows {name}")
    for file in sorted(folder.glob("*.svg")):
        if file.name not in drawn:
            problems.append(f"{file.name} is not listed in pictures.txt")
    for problem in problems:
        print(problem)
    print(f"{len(drawn)} pictures, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
