#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles a CUDA source with NVRTC, and says how long that took.

usage: nvrtc.py LIBRARY SOURCE OUTPUT [--repeat N] [--header FILE]... [option of NVRTC]...

LIBRARY: libnvrtc.so. The output is PTX if its name ends in .ptx, else a cubin. --header: a file that sources include by its name alone.
"""

import ctypes
import sys
import time
from pathlib import Path


class Program:
    def __init__(self, library, source, headers):
        self.library, self.handle = library, ctypes.c_void_p()
        texts = [path.read_bytes() for path in headers]
        names = [path.name.encode() for path in headers]
        self.call("CreateProgram", ctypes.byref(self.handle), source.read_bytes(), source.name.encode(), len(texts),
                  (ctypes.c_char_p * len(texts))(*texts), (ctypes.c_char_p * len(names))(*names))

    def call(self, name, *arguments):
        code = getattr(self.library, f"nvrtc{name}")(*arguments)
        if code != 0:
            self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
            log = "" if name != "CompileProgram" else self.get("ProgramLog").decode(errors="replace")
            sys.exit(f"nvrtc{name}: {self.library.nvrtcGetErrorString(code).decode()}\n{log}")

    def get(self, what):
        size = ctypes.c_size_t()
        self.call(f"Get{what}Size", self.handle, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call(f"Get{what}", self.handle, text)
        return text.raw

    def compile(self, options):
        self.call("CompileProgram", self.handle, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options)))


def take(arguments, name):
    """The values that follow each `name`, which are removed."""
    values = []
    while name in arguments:
        i = arguments.index(name)
        values.append(arguments[i + 1])
        del arguments[i:i + 2]
    return values


def main():
    library, source, output, *options = sys.argv[1:]
    headers = [Path(header) for header in take(options, "--header")]
    repeat = int((take(options, "--repeat") or ["1"])[0])
    nvrtc = ctypes.CDLL(library)
    for _ in range(repeat):
        wall, user = time.perf_counter(), time.process_time()
        program = Program(nvrtc, Path(source), headers)
        program.compile(options)
        result = program.get("PTX").rstrip(b"\0") if output.endswith(".ptx") else program.get("CUBIN")
        print(f"{time.perf_counter() - wall:.3f} s, {time.process_time() - user:.3f} s of processor time, {len(result)} bytes")
    Path(output).write_bytes(result)


if __name__ == "__main__":
    main()
