# SPDX-License-Identifier: MIT
"""Views of other libraries' tensors: PyTorch's, those with __cuda_array_interface__ or DLPack, and arrays in host memory."""
import ctypes
import sys
from typing import Any, NamedTuple

from ._error import Error


class View(NamedTuple):
    address: int
    type: str  # lower-case name of a tilewright_element
    shape: tuple
    strides: tuple  # in elements
    device: Any  # the GPU's number; None: of the current one; -1: host memory
    is_readonly: bool
    stream: Any  # the handle on which the tensor is ready, or a function of the device that returns it; None: any
    owner: Any  # keeps the memory


def view_of(x, stream):
    """Raises Error with the end of a sentence, such as "is a list, which ..."; `stream`: the handle that the call was given, or None."""
    try:
        read = _readers[type(x)]
    except KeyError:
        read = _readers[type(x)] = _reader_for(x)
    return read(x, stream)


def is_torch(x):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _reader_for(x):
    if is_torch(x):
        return _torch_reader(sys.modules["torch"])
    if hasattr(x, "__cuda_array_interface__"):
        return lambda x, stream: _from_interface(x, x.__cuda_array_interface__, None)
    if hasattr(x, "__array_interface__"):
        return lambda x, stream: _from_interface(x, x.__array_interface__, -1)
    if hasattr(x, "__dlpack__"):
        return _from_dlpack
    raise Error(f"is a {type(x).__name__}, which is no tensor; give one of PyTorch, or one with DLPack or __cuda_array_interface__")


# torch

def _torch_reader(torch):
    types = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.int8: "i8", torch.int32: "i32", torch.int64: "i64"}
    # What the GPU's matrix instructions take: gfx942 has the variants without infinities and negative zero.
    is_fnuz = torch.version.hip is not None and torch.cuda.is_available() and torch.cuda.get_device_properties(0).gcnArchName.startswith("gfx94")
    for name, element in (("float8_e4m3", "fp8"), ("float8_e5m2", "bf8")):
        dtype = getattr(torch, f"{name}fnuz" if is_fnuz else {"fp8": "float8_e4m3fn", "bf8": "float8_e5m2"}[element], None)
        types[dtype] = element
    several = torch.cuda.device_count() > 1 if torch.cuda.is_available() else False
    current = torch_stream(torch)

    def read(t, stream):
        is_gpu = t.is_cuda
        element = types.get(t.dtype)
        if element is None:
            raise Error(f"has elements of {t.dtype}; {', '.join(str(d) for d in types if d)} are supported")
        return View(t.data_ptr(), element, t.shape, t.stride(), t.get_device() if is_gpu else -1, False, current if is_gpu else None, None)
    read.several_devices = several
    return read


def torch_stream(torch):
    """The function that returns the handle of a device's current stream."""
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # the public way makes an object, which takes a microsecond
    return raw if raw is not None else lambda device: torch.cuda.current_stream(device).cuda_stream


# __cuda_array_interface__ and __array_interface__

_INTERFACE_TYPES = {"f2": "f16", "f4": "f32", "i1": "i8", "i4": "i32", "i8": "i64"}


def _from_interface(x, interface, device):
    typestr = interface["typestr"]
    element = _INTERFACE_TYPES.get(typestr[1:]) if typestr[0] in "<|=" else None
    if element is None:
        raise Error(f"has elements of type {typestr}; {', '.join(_INTERFACE_TYPES)} are supported here, bf16 and fp8 by DLPack and PyTorch")
    shape, strides, size = tuple(interface["shape"]), interface.get("strides"), int(typestr[2:])
    if strides is None:
        strides = _packed(shape)
    elif any(s % size for s in strides):
        raise Error("has strides that are no multiples of its elements' size; copy it")
    else:
        strides = tuple(s // size for s in strides)
    address, is_readonly = interface["data"]
    return View(address or 0, element, shape, strides, device, is_readonly, interface.get("stream"), x)


def _packed(shape):
    strides, stride = [], 1
    for length in reversed(shape):
        strides.append(stride)
        stride *= length
    return tuple(reversed(strides))


# DLPack

class _DLTensor(ctypes.Structure):
    """Also the first member of DLManagedTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_DLPACK_TYPES = {(2, 16): "f16", (4, 16): "bf16", (2, 32): "f32", (10, 8): "fp8", (12, 8): "bf8", (0, 8): "i8", (0, 32): "i32", (0, 64): "i64"}
_CPU, _CUDA, _CUDA_HOST, _ROCM, _ROCM_HOST, _CUDA_MANAGED = 1, 2, 3, 10, 11, 13
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _from_dlpack(x, stream):
    kind, device = map(int, x.__dlpack_device__())
    is_gpu = kind in (_CUDA, _ROCM, _CUDA_MANAGED)
    if not is_gpu and kind not in (_CPU, _CUDA_HOST, _ROCM_HOST):
        raise Error(f"is on a device of DLPack's type {kind}; it must be on an NVIDIA or AMD GPU, or in host memory")
    # DLPack counts the default stream as 1 for CUDA, as 0 for ROCm.
    capsule = x.__dlpack__(stream=(stream or (0 if kind == _ROCM else 1))) if is_gpu else x.__dlpack__()
    # The capsule is not consumed: it frees what it holds when the view is dropped.
    t = _DLTensor.from_address(_pointer_of(capsule, b"dltensor"))
    element = _DLPACK_TYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if element is None:
        raise Error(f"has elements of DLPack's type {t.code} with {t.bits} bits and {t.lanes} lanes; there are {', '.join(_DLPACK_TYPES.values())}")
    shape = tuple(t.shape[:t.ndim])
    strides = tuple(t.strides[:t.ndim]) if t.strides else _packed(shape)
    return View((t.data or 0) + t.byte_offset, element, shape, strides, device if is_gpu else -1, False, None, capsule)


_readers = {}
