# SPDX-License-Identifier: MIT
"""The shared library: where it is, its functions, and its errors."""
import ctypes
import functools
import importlib.metadata
import os
import pathlib

from ._call import Call
from ._error import Error
from ._header import Header
from ._exchange import Interfaces
from ._tensors import Readers


def _load():
    """TILEWRIGHT_LIBRARY, the one in the package, or what the system's loader finds."""
    packaged = pathlib.Path(__file__).with_name("libtilewright.so")
    path = os.environ.get("TILEWRIGHT_LIBRARY") or str(packaged)
    if path == str(packaged) and not packaged.exists():
        path = "libtilewright.so." + ".".join(importlib.metadata.version("tilewright").split(".")[:2])
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        raise Error(f"tilewright: the shared library cannot be loaded ({e}); name it in the environment variable TILEWRIGHT_LIBRARY",
                    "internal") from e


class Library:
    def __init__(self):
        self.header, self.loaded = Header(), _load()
        self.emulates = bool(os.environ.get("TILEWRIGHT_EMULATE"))  # whether tensors are host memory
        self.kinds = {value: name.lower() for name, value in self.header.enums["tilewright_status"].items()}
        self.readers = Readers({name.lower(): value for name, value in self.header.enums["tilewright_element"].items()})
        self.interfaces = Interfaces()
        self.last_error = self.function("last_error")
        self.calls = {name: Call(self, f) for name, f in self.header.functions.items() if f.tensors}

    def function(self, name):
        """A C function as it is. Pointers to structs are addresses."""
        declared = self.header.functions.get(name)
        if declared is None or not hasattr(self.loaded, "tilewright_" + name):
            raise Error(f"{name}: libtilewright has no function tilewright_{name}; install the library and the package of one version", "no_kernel")
        f = getattr(self.loaded, "tilewright_" + name)
        f.restype = {"void": None, "tilewright_status": ctypes.c_int}.get(declared.result, self.header.ctype(declared.result))
        f.argtypes = [self.header.ctype(t) for t, _ in declared.parameters]
        return f

    def require(self, operation, status):
        """Raises the library's message if a call failed."""
        if status:
            raise Error((self.last_error() or b"").decode(errors="replace") or f"{operation}: failed", self.kinds.get(status, "internal"))


@functools.lru_cache(None)
def library():
    """Loaded when the first call is made."""
    return Library()
