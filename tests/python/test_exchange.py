# SPDX-License-Identifier: MIT
"""Tensors with DLPack's C exchange API, which libtilewright reads itself, on the emulated GPU."""
import ctypes
import struct
import unittest

import tilewright
from tilewright._library import library
from gpu_arrays import Array, Base

views, device_of_next, fails = 0, 0, False


class _Api(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p), ("managed", ctypes.c_void_p * 3),
                ("view", ctypes.c_void_p), ("stream", ctypes.c_void_p)]


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
def _view(x, to):
    global views
    views += 1
    if fails:
        return -1
    dims = len(x.shape)
    x.kept = (ctypes.c_int64 * dims)(*x.shape), (ctypes.c_int64 * dims)(*x.strides)
    fields = struct.pack("=QiiiBBHQQQ", x.memory.address - 64, 10, x.device, dims, x.code, x.size * 8, 1, ctypes.addressof(x.kept[0]),
                         ctypes.addressof(x.kept[1]), 64)
    ctypes.memmove(to, fields, len(fields))
    return 0


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def _stream(kind, device, to):
    to[0] = None
    return 0


_api = _Api(1, 3, view=ctypes.cast(_view, ctypes.c_void_p), stream=ctypes.cast(_stream, ctypes.c_void_p))
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_name = b"dlpack_exchange_api"


class Exchanged(Base):
    """It has no other interface: what the library does not read is refused."""
    __dlpack_c_exchange_api__ = _new_capsule(ctypes.addressof(_api), _name, None)
    device = 0


class Parameter(Exchanged):
    pass


class Both(Exchanged, Array):
    """What the library does not read is read by __cuda_array_interface__."""


class Exchange(unittest.TestCase):
    def product(self, kind, other=None, **options):
        a, b, c = kind((8, 16), seed=1), (other or kind)((16, 8), seed=2), kind((8, 8), seed=3)
        before = c.nested()
        tilewright.gemm(a, b, c, **options)
        a, b = a.nested(), b.nested()
        return c.nested(), {(i, j): sum(a[i, k] * b[k, j] for k in range(16)) for i in range(8) for j in range(8)}, before

    def expect(self, found, expected):
        self.assertLess(max(abs(found[at] - expected[at]) for at in expected), 2e-2)

    def test_tensors_are_read_by_the_library(self):
        global views
        views = 0
        found, product, _ = self.product(Exchanged)
        self.expect(found, product)
        self.assertEqual(views, 3)
        found, product, _ = self.product(Exchanged, Parameter)  # classes of one library
        self.expect(found, product)

    def test_options_reach_the_call(self):
        bias = Exchanged((8,), seed=5)
        found, product, before = self.product(Exchanged, alpha=0.5, bias=bias, residual=None, beta=2.0, activate="none")
        self.expect(found, {(i, j): 0.5 * x + bias.nested()[j,] + 2 * before[i, j] for (i, j), x in product.items()})
        found, product, _ = self.product(Exchanged)  # and not the next one
        self.expect(found, product)
        found, product, _ = self.product(Exchanged, bias=None, activate="relu")
        self.expect(found, {at: max(x, 0) for at, x in product.items()})

    def test_what_the_library_does_not_read_is_read_otherwise(self):
        global fails, views
        for attempt in ("fails", "another class", "an option of another class"):
            with self.subTest(attempt):
                views, fails = 0, attempt == "fails"
                try:
                    bias = Array((8,), values=[0.0] * 8) if attempt == "an option of another class" else None
                    found, product, _ = self.product(Both, Array if attempt == "another class" else None, bias=bias)
                finally:
                    fails = False
                self.expect(found, product)
                self.assertEqual(views, 1 if attempt == "fails" else 0)

    def test_wrong_calls_have_the_same_sentences(self):
        a, b, c = Both((8, 16)), Both((16, 8)), Both((8, 8))
        second = Exchanged((16, 8))
        second.device = 1
        for sentence, call in {
                "gemm: A is 8 x 16 and B 8 x 16; A must have as many columns": lambda: tilewright.gemm(a, a, c),
                "gemm: bias is f16 (9), but must be f16 (8)": lambda: tilewright.gemm(a, b, c, bias=Both((9,))),
                "gemm: activate is 'tanh', but must be one of": lambda: tilewright.gemm(a, b, c, activate="tanh"),
                "gemm: scales is no option": lambda: tilewright.gemm(a, b, c, scales=1),
                "gemm: B is a null pointer": lambda: tilewright.gemm(a, None, c),
                "gemm: a is a Exchanged, which is no tensor": lambda: tilewright.gemm(Exchanged((1,) * 6), b, c)}.items():
            with self.subTest(sentence), self.assertRaises(tilewright.Error) as caught:
                call()
            self.assertIn(sentence, str(caught.exception))
        # Tensors of two GPUs are left to the other readers, of which this class has none.
        with self.assertRaisesRegex(tilewright.Error, "which is no tensor"):
            tilewright.gemm(Exchanged((8, 16)), second, Exchanged((8, 8)))

    def test_a_plan_serves_many_calls(self):
        for _ in range(3):
            self.product(Exchanged, alpha=2.0)
        self.assertEqual(sum(key[1:] == ("alpha",) for key in library().calls["gemm"].exchange.plans), 1)


if __name__ == "__main__":
    unittest.main()
