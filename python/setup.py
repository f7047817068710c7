# SPDX-License-Identifier: MIT
"""The wheel: Python, tilewright.h, and the shared library that TILEWRIGHT_LIBRARY names; without one the package finds it when it is used."""
import os
import pathlib
import re
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

here = pathlib.Path(__file__).resolve().parent
library = os.environ.get("TILEWRIGHT_LIBRARY")


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if library:
            shutil.copyfile(library, pathlib.Path(self.build_lib) / "tilewright" / "libtilewright.so")


class WithLibrary(Distribution):
    def has_ext_modules(self):
        """Whether the wheel is one for this machine only."""
        return bool(library)


def version():
    text = (here.parent / "include/tilewright/version.hpp").read_text(encoding="utf-8")
    return ".".join(re.search(rf"TILEWRIGHT_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


options = {}
if library:
    from wheel.bdist_wheel import bdist_wheel

    class AnyPython(bdist_wheel):
        """The library is called by ctypes: any Python 3 of this platform can."""
        def get_tag(self):
            return "py3", "none", super().get_tag()[2]
    options = {"bdist_wheel": AnyPython}

setup(version=version(), cmdclass={"build_py": BuildWithLibrary, **options}, distclass=WithLibrary)
