# SPDX-License-Identifier: MIT
"""Arrays in the memory of the (emulated) AMD GPU, of Python numbers: with __cuda_array_interface__ or DLPack, without another library."""
import ctypes
import itertools
import math
import os
import random
import struct

_hip = ctypes.CDLL(os.environ["TILEWRIGHT_HIP_LIBRARY"])
_hip.hipMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
_hip.hipMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_hip.hipFree.argtypes = [ctypes.c_void_p]

# By element: struct's letter, the interface's typestr, DLPack's code.
KINDS = {"f16": ("e", "<f2", 2), "f32": ("f", "<f4", 2), "bf16": ("H", None, 4), "i8": ("b", "|i1", 0), "i32": ("i", "<i4", 0), "i64": ("q", "<i8", 0)}


def packed(shape):
    return tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))


class Base:
    """A view of memory that the GPU has; strides in elements."""

    def __init__(self, shape, element="f16", values=None, seed=None, strides=None, memory=None):
        self.shape, self.element, self.strides = tuple(shape), element, strides or packed(shape)
        self.letter, self.typestr, self.code = KINDS[element]
        self.size = struct.calcsize(self.letter)
        self.count = sum((n - 1) * s for n, s in zip(self.shape, self.strides)) + 1
        self.memory = memory or _Memory(self.count * self.size)
        if memory is None:
            if values == [math.nan]:  # what was not written is seen
                values = values * self.count
            if values is None:
                chosen = random.Random(seed or 0)
                values = [chosen.randint(-8, 8) / (1 if self.code == 0 else 8) for _ in range(self.count)]
            self.write(values)

    def write(self, values):
        values = [round_bf16(v) for v in values] if self.element == "bf16" else [int(v) if self.code == 0 else v for v in values]
        data = struct.pack(f"={self.count}{self.letter}", *values)
        assert _hip.hipMemcpy(self.memory.address, data, len(data), 1) == 0

    def flat(self):
        """All elements of the memory, as floats or integers."""
        data = ctypes.create_string_buffer(self.count * self.size)
        assert _hip.hipMemcpy(data, self.memory.address, len(data), 2) == 0
        values = struct.unpack(f"={self.count}{self.letter}", data.raw)
        return [struct.unpack("=f", struct.pack("=I", v << 16))[0] for v in values] if self.element == "bf16" else values

    def nested(self):
        """A dictionary of the elements by index."""
        flat = self.flat()
        return {i: flat[sum(a * s for a, s in zip(i, self.strides))] for i in itertools.product(*map(range, self.shape))}

    def t(self):
        """The view with its last two dimensions exchanged."""
        return type(self)((*self.shape[:-2], self.shape[-1], self.shape[-2]), self.element,
                          strides=(*self.strides[:-2], self.strides[-1], self.strides[-2]), memory=self.memory)


class Array(Base):
    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.typestr, "data": (self.memory.address, False), "version": 3,
                "strides": tuple(s * self.size for s in self.strides)}


class DlpackArray(Base):
    live_capsules = 0

    def __dlpack_device__(self):
        return 10, 0  # ROCm

    def __dlpack__(self, *, stream=None):
        assert stream is not None
        dims = len(self.shape)
        shape, strides = (ctypes.c_int64 * dims)(*self.shape), (ctypes.c_int64 * dims)(*self.strides)
        # DLManagedTensor; 64 bytes are skipped by byte_offset.
        fields = struct.pack("=QiiiBBHQQQQQ", self.memory.address - 64, 10, 0, dims, self.code, self.size * 8, 1,
                             ctypes.addressof(shape), ctypes.addressof(strides), 64, 0, 0)
        managed = ctypes.create_string_buffer(fields)
        capsule = _new_capsule(ctypes.addressof(managed), b"dltensor", _freed)
        _kept[ctypes.addressof(managed)] = managed, shape, strides
        DlpackArray.live_capsules += 1
        return capsule


class _Memory:
    def __init__(self, size):
        address = ctypes.c_void_p()
        assert _hip.hipMalloc(ctypes.byref(address), size) == 0
        self.address = address.value

    def __del__(self):
        _hip.hipFree(self.address)


_kept = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _freed(capsule):
    _pointer_of(capsule, b"dltensor")
    DlpackArray.live_capsules -= 1


_pointer_of = ctypes.PyDLL(None).PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def round_bf16(value):
    bits = struct.unpack("=I", struct.pack("=f", value))[0]
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16
