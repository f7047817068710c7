# SPDX-License-Identifier: MIT
"""Views of other libraries' tensors: PyTorch's, those with __cuda_array_interface__ or DLPack, and arrays in host memory."""
import ctypes
import sys

from ._error import Error

# A reader takes a tensor and the handle of the call's stream (None: not given) and returns
#   address, element (its number), shape, strides (in elements), device (a GPU's number; None: the current one; -1: host memory), is_readonly,
#   stream (a handle on which the tensor is ready, or a function of the device that returns it; None: any), owner (keeps the memory; None: the tensor)
# It raises Error with the end of a sentence: "is ...".


class Readers(dict):
    """Readers by the tensor's class."""

    def __init__(self, elements):
        super().__init__()
        self.elements = elements  # numbers of tilewright_element by name, in lower case

    def __missing__(self, kind):
        self[kind] = reader = self._make(kind)
        return reader

    def _make(self, kind):
        torch = sys.modules.get("torch")
        if torch is not None and issubclass(kind, torch.Tensor):
            return torch_reader(torch, self.elements)
        if hasattr(kind, "__cuda_array_interface__"):
            return lambda x, stream: self._from_interface(x, x.__cuda_array_interface__, None)
        if hasattr(kind, "__array_interface__"):
            return lambda x, stream: self._from_interface(x, x.__array_interface__, -1)
        if hasattr(kind, "__dlpack__"):
            return self._from_dlpack
        raise Error(f"is a {kind.__name__}, which is no tensor; give one of PyTorch, or one with DLPack or __cuda_array_interface__")

    def _from_interface(self, x, interface, device):
        typestr = interface["typestr"]
        element = self.elements.get(_INTERFACE_TYPES.get(typestr[1:])) if typestr[0] in "<|=" else None
        if element is None:
            raise Error(f"has elements of type {typestr}; {', '.join(_INTERFACE_TYPES)} are supported here, bf16 and fp8 with DLPack and PyTorch")
        shape, strides, size = tuple(interface["shape"]), interface.get("strides"), int(typestr[2:])
        if strides is None:
            strides = _packed(shape)
        elif any(s % size for s in strides):
            raise Error("has strides that are no multiples of its elements' size; copy it")
        else:
            strides = tuple(s // size for s in strides)
        address, is_readonly = interface["data"]
        return address or 0, element, shape, strides, device, is_readonly, interface.get("stream"), None

    def _from_dlpack(self, x, stream):
        kind, device = map(int, x.__dlpack_device__())
        is_gpu = kind in (_CUDA, _ROCM, _CUDA_MANAGED)
        if not is_gpu and kind not in (_CPU, _CUDA_HOST, _ROCM_HOST):
            raise Error(f"is on a device of DLPack's type {kind}; it must be on an NVIDIA or AMD GPU, or in host memory")
        # DLPack counts the default stream as 1 for CUDA, as 0 for ROCm.
        capsule = x.__dlpack__(stream=(stream or (0 if kind == _ROCM else 1))) if is_gpu else x.__dlpack__()
        # The capsule is not consumed: it frees what it holds when it is dropped.
        t = _DLTensor.from_address(_pointer_of(capsule, b"dltensor"))
        element = self.elements.get(_DLPACK_TYPES.get((t.code, t.bits))) if t.lanes == 1 else None
        if element is None:
            raise Error(f"has elements of DLPack's type {t.code} with {t.bits} bits in {t.lanes} lanes, which libtilewright does not know")
        shape = tuple(t.shape[:t.ndim])
        strides = tuple(t.strides[:t.ndim]) if t.strides else _packed(shape)
        return (t.data or 0) + t.byte_offset, element, shape, strides, device if is_gpu else -1, False, None, capsule


def is_torch(x):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def torch_reader(torch, elements):
    names = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "int8": "i8", "int32": "i32", "int64": "i64"}
    # What the GPU's matrix instructions take: gfx942 has the variants without infinities and negative zero.
    is_fnuz = torch.version.hip is not None and torch.cuda.is_available() and torch.cuda.get_device_properties(0).gcnArchName.startswith("gfx94")
    names |= {"float8_e4m3fnuz": "fp8", "float8_e5m2fnuz": "bf8"} if is_fnuz else {"float8_e4m3fn": "fp8", "float8_e5m2": "bf8"}
    types = {getattr(torch, dtype): elements[name] for dtype, name in names.items() if hasattr(torch, dtype) and name in elements}
    # The public way to the handle makes an object, which takes a microsecond.
    current = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (lambda device: torch.cuda.current_stream(device).cuda_stream)

    def read(t, stream):
        element = types.get(t.dtype)
        if element is None:
            raise Error(f"has elements of {t.dtype}; there are {', '.join(map(str, types))}")
        if t.is_cuda:
            return t.data_ptr(), element, t.shape, t.stride(), t.get_device(), False, current, None
        return t.data_ptr(), element, t.shape, t.stride(), -1, False, None, None
    return read


_INTERFACE_TYPES = {"f2": "f16", "f4": "f32", "i1": "i8", "i4": "i32", "i8": "i64"}


def _packed(shape):
    strides, stride = [], 1
    for length in reversed(shape):
        strides.append(stride)
        stride *= length
    return tuple(reversed(strides))


class _DLTensor(ctypes.Structure):
    """Also the first member of DLManagedTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_DLPACK_TYPES = {(2, 16): "f16", (4, 16): "bf16", (2, 32): "f32", (10, 8): "fp8", (12, 8): "bf8", (0, 8): "i8", (0, 32): "i32", (0, 64): "i64"}
_CPU, _CUDA, _CUDA_HOST, _ROCM, _ROCM_HOST, _CUDA_MANAGED = 1, 2, 3, 10, 11, 13
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
