# SPDX-License-Identifier: MIT
"""What concerns all calls: where kernels are found, what a call would run, which options it has."""
import ctypes
import os

from ._call import handle_of
from ._error import Error
from ._library import library

__all__ = ["configure", "explain", "options", "release_workspaces", "version"]


def configure(*, archives=(), **options):
    """Where kernels are found: cache_directory, archives (a file, or a list of files), compiler, forbid_compiling; `emulate` names a target, such as
    "gfx942": calls then run on the CPU emulator, with tensors in host memory. Before the first operation, or while none is in flight."""
    known = [name for name in library().header.options["tilewright_library_options"] if name not in ("archives", "num_archives")]
    values = library().header.structs["tilewright_library_options"]()
    values.size = ctypes.sizeof(values)
    for name, value in options.items():
        if name not in known:
            raise Error(f"configure: there is no option {name}; there are archives, {', '.join(known)}")
        try:
            setattr(values, name, os.fsencode(value) if isinstance(value, (str, os.PathLike)) else value)
        except TypeError as e:
            raise Error(f"configure: {name} is {value!r} ({e})") from None
    if isinstance(archives, (str, os.PathLike)):
        archives = (archives,)
    files = (ctypes.c_char_p * len(archives))(*map(os.fsencode, archives))
    values.archives, values.num_archives = ctypes.addressof(files), len(archives)
    library().require("configure", library().function("configure")(ctypes.addressof(values)))
    library().emulates = bool(options.get("emulate") or os.environ.get("TILEWRIGHT_EMULATE"))


def explain(work):
    """What the calls that the function `work` makes would run, and why: a line for each kernel. Kernels are made ready, nothing is queued. Of
    this thread only."""
    library().function("begin_explain")()
    try:
        work()
    finally:
        lines = library().function("end_explain")()
    return (lines or b"").decode()


def options(operation):
    """The options of an operation: a line for each, as tilewright.h describes it."""
    call = library().calls.get(operation)
    if call is None:
        raise Error(f"options: there is no operation {operation!r}; there are {', '.join(library().calls)}")
    lines = []
    for name, o in call.options.items():
        of = "" if o.choices is None else f" one of {', '.join(map(repr, o.choices))};"
        kind = "tensor" if o.kind.startswith("const tilewright_tensor") else o.kind
        lines.append(f"{name}: {kind} = {o.default};{of} {o.comment}".rstrip("; "))
    return "\n".join(lines)


def release_workspaces(stream=None):
    """Frees the scratch memory of a stream that is about to be destroyed; waits for the device."""
    library().require("release_workspaces", library().function("release_workspaces")(handle_of("release_workspaces", stream)))


def version():
    """The library's version, such as "0.2.0"."""
    number = library().function("version")()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
