#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the wheel without a network and without pip, from a copy of the sources: nothing is written next to them.

    build_wheel.py FOLDER [LIBRARY]

FOLDER receives tilewright-<version>-*.whl, whose path is printed; LIBRARY: libtilewright.so, which it then contains. Needs setuptools and wheel
(Debian: python3-setuptools, python3-wheel).
"""
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile


def main():
    here, folder = pathlib.Path(__file__).resolve().parent, pathlib.Path(sys.argv[1]).resolve()
    if len(sys.argv) > 2:
        os.environ["TILEWRIGHT_LIBRARY"] = str(pathlib.Path(sys.argv[2]).resolve())
    else:
        os.environ.pop("TILEWRIGHT_LIBRARY", None)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as copy:
        sources = pathlib.Path(copy) / "python"
        shutil.copytree(here, sources, ignore=shutil.ignore_patterns("tests", "__pycache__", "build", "*.egg-info"))
        version = pathlib.Path(copy) / "include/tilewright/version.hpp"
        version.parent.mkdir(parents=True)
        shutil.copy(here.parent / "include/tilewright/version.hpp", version)
        os.chdir(sources)
        from setuptools import build_meta
        with contextlib.redirect_stdout(sys.stderr):
            name = build_meta.build_wheel(str(folder))
    print(folder / name)


if __name__ == "__main__":
    main()
