# SPDX-License-Identifier: MIT
from spack.package import *


class Tilewright(CMakePackage):
    """Tile programming for GPU kernels, with proofs at compile time."""

    license("MIT")

    version("develop")  # spack dev-build tilewright@develop, in this tree

    variant("host", default=False, description="The CPU emulator")
    variant("jit", default=False, description="Kernels compiled at run time")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3:", type="build", when="+jit")
    depends_on("boost@1.74: +context", when="+host")
    conflicts("%gcc@:11", msg="Tilewright needs g++ 12 or later")
    conflicts("%clang@:15", msg="Tilewright needs clang 16 or later")

    def cmake_args(self):
        off = ("BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_TOOLS", "BUILD_DEVICE")
        return [
            *(self.define(f"TILEWRIGHT_{part}", False) for part in off),
            self.define_from_variant("TILEWRIGHT_HOST", "host"),
            self.define_from_variant("TILEWRIGHT_JIT", "jit"),
            self.define_from_variant("TILEWRIGHT_SINGLE_HEADER", "jit"),
        ]
