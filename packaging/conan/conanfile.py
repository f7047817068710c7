# SPDX-License-Identifier: MIT
"""conan create packaging/conan: the headers, and tilewright::jit where the option says so."""

from os.path import join

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
import re


class Tilewright(ConanFile):
    name = "tilewright"
    license = "MIT"
    description = "Tile programming for GPU kernels, with proofs at compile time"
    topics = ("gpu", "hip", "cuda", "gemm", "header-only")
    settings = "os", "arch", "compiler", "build_type"
    options = {"jit": [True, False]}
    default_options = {"jit": False}
    package_type = "static-library"

    def set_version(self):
        text = load(self, join(self.recipe_folder, "../../include/tilewright/version.hpp"))
        self.version = ".".join(re.findall(r"#define TILEWRIGHT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))

    def export_sources(self):
        for name in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "jit/*", "tools/make_single_header.py"):
            copy(self, name, join(self.recipe_folder, "../.."), self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        if not self.info.options.jit:
            self.info.clear()

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("HOST", "BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_TOOLS", "BUILD_DEVICE"):
            toolchain.cache_variables[f"TILEWRIGHT_{part}"] = False
        for part in ("JIT", "SINGLE_HEADER"):
            toolchain.cache_variables[f"TILEWRIGHT_{part}"] = bool(self.options.jit)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, join(self.package_folder, "licenses"))
        rmdir(self, join(self.package_folder, "share", "pkgconfig"))

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package's own tilewright-config.cmake is used
        self.cpp_info.builddirs = [join("share", "cmake", "tilewright")]
