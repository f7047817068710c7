# SPDX-License-Identifier: MIT
"""Wrong calls: each raises the one exception with one sentence, and writes nothing."""
import gc
import unittest

import tilewright
from gpu_arrays import Array, DlpackArray


class Interface:
    """An array whose interface is wrong in some way."""

    def __init__(self, array, **changed):
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | changed

    __cuda_array_interface__ = None


class HostArray:
    __array_interface__ = {"shape": (8, 8), "typestr": "<f2", "data": (4096, False), "version": 3}


class OtherDevice(DlpackArray):
    def __dlpack_device__(self):
        return 7, 0  # Vulkan


class SecondGpu(DlpackArray):
    def __dlpack_device__(self):
        return 10, 1


A, B, C = Array((8, 16), seed=1), Array((16, 8), seed=2), Array((8, 8), seed=3)
gemm = tilewright.gemm

# What is called, and what the sentence must contain.
CALLS = {
    "list": (lambda: gemm([[1.0]], B, C), "gemm: a is a list, which is no tensor"),
    "number": (lambda: gemm(A, 3, C), "gemm: b is a int, which is no tensor"),
    "none": (lambda: gemm(A, None, C), "gemm: B is a null pointer; give a tensor"),
    "expression": (lambda: tilewright.elementwise(3, A, out=A), "elementwise: expression is a int, but must be a string"),
    "no result": (lambda: gemm(A, B), "gemm: out is missing"),
    "no shape": (lambda: gemm(1, 2), "gemm: a tensor has 0 dimensions, at least 2 are needed"),
    "inner lengths": (lambda: gemm(A, A, C), "gemm: A is 8 x 16 and B 8 x 16; A must have as many columns as B has rows"),
    "result's lengths": (lambda: gemm(A, B, Array((8, 9))), "gemm: C is 8 x 9, but A B is 8 x 8"),
    "one dimension": (lambda: gemm(Array((16,)), B, C), "gemm: A has 1 dimensions; a matrix has 2, a batch of them 3"),
    "six dimensions": (lambda: gemm(Array((1, 1, 1, 1, 8, 16)), B, C), "gemm: a has 6 dimensions; tensors have 0 to 5"),
    "types of operands": (lambda: gemm(A, Array((16, 8), "f32"), C), "gemm: A has f16 and B f32; they must be equal"),
    "type of result": (lambda: gemm(A, B, Array((8, 8), "i8")), "gemm: there is no GEMM of f16 that writes i8"),
    "elements": (lambda: gemm(Interface(A, typestr="<f8"), B, C), "gemm: a has elements of type <f8"),
    "byte order": (lambda: gemm(Interface(A, typestr=">f2"), B, C), "gemm: a has elements of type >f2"),
    "strides": (lambda: gemm(Interface(A, strides=(33, 2)), B, C), "gemm: a has strides that are no multiples of its elements' size"),
    "negative strides": (lambda: gemm(Interface(A, strides=(32, -2)), B, C), "strides are 0 or more elements"),
    "no contiguous dimension": (lambda: gemm(Array((8, 16), strides=(64, 2)), B, C), "a matrix must be contiguous along one dimension"),
    "no memory": (lambda: gemm(Interface(A, data=(0, False)), B, C), "gemm: A is null"),
    "read-only": (lambda: gemm(A, B, Interface(C, data=(C.memory.address, True))), "gemm: c is read-only"),
    "empty": (lambda: gemm(Interface(A, shape=(0, 16)), B, C), "dimension 0 has length 0"),
    "host memory": (lambda: gemm(A, B, HostArray()), "gemm: c is in the host's memory, but calls run on the GPU"),
    "other device": (lambda: gemm(OtherDevice((8, 16)), B, C), "gemm: a is on a device of DLPack's type 7"),
    "two devices": (lambda: gemm(DlpackArray((8, 16)), SecondGpu((16, 8)), C), "gemm: b is on GPU 1, but other tensors are on GPU 0"),
    "unknown option": (lambda: gemm(A, B, C, scales=1), "gemm: scales is no option; there are alpha, beta, scale"),
    "unknown name": (lambda: gemm(A, B, C, activate="tanh"), "gemm: activate is 'tanh', but must be one of 'none', 'relu', 'gelu', 'silu'"),
    "number out of range": (lambda: gemm(A, B, C, activate=9), "gemm: activate is 9, which is no tilewright_activation"),
    "number too large": (lambda: gemm(A, B, C, activate=2**40), f"gemm: activate is {2**40}, which is no int32"),
    "text for a number": (lambda: gemm(A, B, C, alpha="2"), "gemm: alpha is '2', but must be a number"),
    "list for a number": (lambda: gemm(A, B, C, alpha=[2]), "gemm: alpha is [2], which is no float"),
    "number for a tensor": (lambda: gemm(A, B, C, bias=1.0), "gemm: bias is a float, which is no tensor"),
    "number for a text": (lambda: gemm(A, B, C, choice=1.5), "gemm: choice is a float, but must be a string or an address"),
    "unknown choice": (lambda: gemm(A, B, C, choice="7x7"), "gemm: "),
    "bias's length": (lambda: gemm(A, B, C, bias=Array((9,))), "gemm: bias is f16 (9), but must be f16 (8) here"),
    "residual's type": (lambda: gemm(A, B, C, residual=Array((8, 8), "f32")), "gemm: residual is f32 (8, 8)"),
    "workspace": (lambda: gemm(A, B, C, workspace=A.memory.address), "workspace and workspace_bytes belong together"),
    "result is an operand": (lambda: gemm(C, C, C), "gemm: C shares memory with A or B"),
    "stream": (lambda: gemm(A, B, C, stream="fast"), "gemm: stream is a str"),
    "options of what": (lambda: tilewright.options("gem"), "options: there is no operation 'gem'; there are gemm"),
    "configure": (lambda: tilewright.configure(cache="x"), "configure: there is no option cache; there are archives, cache_directory"),
    "configure's type": (lambda: tilewright.configure(forbid_compiling="yes"), "configure: forbid_compiling is 'yes'"),
}


class WrongCalls(unittest.TestCase):
    def test_each_is_one_sentence_and_writes_nothing(self):
        before = C.flat()
        for name, (call, sentence) in CALLS.items():
            with self.subTest(name):
                with self.assertRaises(tilewright.Error) as caught:
                    call()
                self.assertIn(sentence, str(caught.exception))
                self.assertNotIn("\n", str(caught.exception))
                self.assertEqual(caught.exception.kind, "wrong_call")
        self.assertEqual(C.flat(), before)
        gc.collect()
        self.assertEqual(DlpackArray.live_capsules, 0)

    def test_a_call_after_wrong_ones_is_right(self):
        for call, _ in CALLS.values():
            with self.assertRaises(tilewright.Error):
                call()
        gemm(A, B, C)
        a, b = A.nested(), B.nested()
        self.assertLess(abs(C.nested()[3, 5] - sum(a[3, k] * b[k, 5] for k in range(16))), 1e-2)

    def test_an_archive_that_is_missing(self):
        tilewright.configure(archives="none.twa")
        try:
            with self.assertRaises(tilewright.Error) as caught:
                gemm(A, B, C)
            self.assertEqual(str(caught.exception), "gemm: the archive none.twa cannot be read")
        finally:
            tilewright.configure()

    def test_explain_ends_after_an_error(self):
        with self.assertRaises(tilewright.Error):
            tilewright.explain(lambda: gemm(A, A, C))
        C.write([9] * 64)
        gemm(A, B, C)
        self.assertNotEqual(C.flat()[0], 9)


class OnTheCpuEmulator(unittest.TestCase):
    def tearDown(self):
        tilewright.configure()

    def test_tensors_are_host_memory(self):
        tilewright.configure(emulate="gfx942")
        with self.assertRaisesRegex(tilewright.Error, "^gemm: c is in a GPU's memory, but calls run on the CPU emulator$"):
            gemm(HostArray(), HostArray(), C)
        with self.assertRaisesRegex(tilewright.Error, "^gemm: no kernel .* is compiled into the program") as caught:
            gemm(Host((8, 16)), Host((16, 8)), Host((8, 8)))
        self.assertEqual(caught.exception.kind, "no_kernel")


class Host:
    """Memory of the process."""
    def __init__(self, shape):
        import ctypes
        self.memory = (ctypes.c_uint16 * (shape[0] * shape[1]))()
        self.__array_interface__ = {"shape": shape, "typestr": "<f2", "data": (ctypes.addressof(self.memory), False), "version": 3}

    __array_interface__ = None


if __name__ == "__main__":
    unittest.main()
