#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the wheel and installs it into a fresh virtual environment, without a network.

    install.py ENVIRONMENT LIBRARY
"""
import pathlib
import shutil
import subprocess
import sys
import zipfile


def main():
    environment, library = pathlib.Path(sys.argv[1]), sys.argv[2]
    build = pathlib.Path(__file__).resolve().parents[2] / "python/build_wheel.py"
    shutil.rmtree(environment, ignore_errors=True)
    wheels = environment.with_name("wheels")
    shutil.rmtree(wheels, ignore_errors=True)
    pure = subprocess.run([sys.executable, "-B", build, wheels], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    wheel = subprocess.run([sys.executable, "-B", build, wheels, library], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    names = set(zipfile.ZipFile(wheel).namelist())
    if names - set(zipfile.ZipFile(pure).namelist()) != {"tilewright/libtilewright.so"} or not pure.endswith("-py3-none-any.whl"):
        sys.exit(f"the wheel with the library contains {sorted(names)}")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check", wheel], check=True)
    # The installed package has what it needs, and imports no other.
    check = "import sys, tilewright; print(tilewright.version(), tilewright.__file__); assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    said = subprocess.run([python, "-I", "-c", check], check=True, stdout=subprocess.PIPE, text=True).stdout
    if str(environment) not in said:
        sys.exit(f"another package was imported: {said}")


if __name__ == "__main__":
    main()
