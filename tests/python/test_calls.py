# SPDX-License-Identifier: MIT
"""Calls from Python on the emulated AMD GPU, against Python's double precision."""
import math
import pathlib
import threading
import unittest

import tilewright
from gpu_arrays import Array, DlpackArray


def product(a, b, i, j):
    """(A B)(i, j) of dictionaries by index."""
    total, x = 0.0, 0
    while (i, x) in a:
        total += a[i, x] * b[x, j]
        x += 1
    return total


class Gemm(unittest.TestCase):
    def expect(self, c, wanted, tolerance=4e-3):
        for index, value in c.nested().items():
            self.assertLess(abs(value - wanted(*index)), tolerance * (1 + abs(wanted(*index))), index)

    def test_protocols_and_orders(self):
        for kind, transposed in ((Array, False), (DlpackArray, True)):
            a = kind((40, 24), seed=1).t() if transposed else kind((24, 40), seed=1)
            b = kind((33, 40), seed=2).t() if transposed else kind((40, 33), seed=2)
            c = kind((24, 33))
            self.assertIs(tilewright.gemm(a, b, c), c)
            da, db = a.nested(), b.nested()
            self.expect(c, lambda i, j: product(da, db, i, j))

    def test_options(self):
        a, b, bias, residual = Array((5, 16), seed=1), Array((16, 7), seed=2), Array((7,), seed=3), Array((5, 7), seed=4)
        row = Array((5,), "f32", seed=5)
        c = Array((5, 7))
        tilewright.gemm(a, b, c, alpha=0.5, row_scale=row, bias=bias, activate="relu", residual=residual)
        da, db, dbias, dres, drow = (x.nested() for x in (a, b, bias, residual, row))
        self.expect(c, lambda i, j: max(0.5 * product(da, db, i, j) * drow[i,] + dbias[j,], 0) + dres[i, j])

    def test_bfloat16_and_integers_by_dlpack(self):
        for element, result in (("bf16", "f32"), ("i8", "i32")):
            a, b, c = (DlpackArray(shape, e, seed=s) for shape, e, s in (((9, 32), element, 1), ((32, 8), element, 2), ((9, 8), result, 3)))
            tilewright.gemm(a, b, c)
            da, db = a.nested(), b.nested()
            self.expect(c, lambda i, j: product(da, db, i, j), 1e-5)

    def test_threads_get_their_own_results_and_errors(self):
        a, b = Array((8, 16), seed=1), Array((16, 8), seed=2)
        results, sentences = [Array((8, 8)) for _ in range(6)], []

        def work(i):
            for _ in range(5):
                tilewright.gemm(a, b, results[i], alpha=float(i))
                try:
                    tilewright.gemm(a, b, Array((8, i + 9)))
                except tilewright.Error as e:
                    sentences.append((i, str(e)))
        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        da, db = a.nested(), b.nested()
        for i, c in enumerate(results):
            self.expect(c, lambda m, n: i * product(da, db, m, n))
        self.assertEqual(len(sentences), 30)
        for i, sentence in sentences:
            self.assertEqual(sentence, f"gemm: C is 8 x {i + 9}, but A B is 8 x 8")


class Library(unittest.TestCase):
    def test_explain_names_the_kernel_and_queues_nothing(self):
        a, b, c = Array((8, 16), seed=1), Array((16, 8), seed=2), Array((8, 8), seed=3)
        before = c.flat()
        lines = tilewright.explain(lambda: tilewright.gemm(a, b, c))
        self.assertRegex(lines, r"^gemm: \w+ .*\n$")
        self.assertEqual(c.flat(), before)

    def test_version_and_options(self):
        self.assertRegex(tilewright.version(), r"^\d+\.\d+\.\d+$")
        self.assertIn("activate: int32_t = 0; one of 'none', 'relu', 'gelu', 'silu'", tilewright.options("gemm"))
        self.assertIn("format: int32_t = 0; one of 'int4', 'mxfp4', 'nvfp4', 'mxfp8', 'int8', 'e4m3', 'mxfp8_e5m2', 'mxfp6_e2m3', 'mxfp6_e3m2'", tilewright.options("narrow_gemm"))

    def test_capsules_are_freed(self):
        a, b, c = DlpackArray((8, 16)), DlpackArray((16, 8)), DlpackArray((8, 8))
        tilewright.gemm(a, b, c)
        self.assertEqual(DlpackArray.live_capsules, 0)


class Attention(unittest.TestCase):
    def test_block_mask(self):
        """Tiles of 16 keys: head 0 sees keys 0 to 15 and 32 to 39, head 1 keys 16 to 31."""
        q, k, v, o = Array((1, 3, 2, 32), seed=1), Array((1, 40, 1, 32), seed=2), Array((1, 40, 1, 32), seed=3), Array((1, 3, 2, 32))
        mask = Array((1, 2, 1, 1), "i32", values=[5, 2])
        options = {"lse": Array((1, 3, 2), "f32"), "block_mask": mask, "mask_queries": 16, "mask_keys": 16}
        tilewright.attention(q, k, v, o, **options)
        grad, outs = Array((1, 3, 2, 32), seed=4), (Array((1, 3, 2, 32)), Array((1, 40, 1, 32)), Array((1, 40, 1, 32)))
        tilewright.attention_backward(grad, q, k, v, o, outs, **options)
        dq, dk, dv, found, d_o, d_v = (x.nested() for x in (q, k, v, o, grad, outs[2]))
        wanted = {}
        for i in range(3):
            for h, seen in enumerate(([*range(16), *range(32, 40)], range(16, 32))):
                p = [math.exp(sum(dq[0, i, h, x] * dk[0, j, 0, x] for x in range(32)) / 32 ** 0.5) for j in seen]
                for x in range(32):
                    self.assertLess(abs(found[0, i, h, x] - sum(w * dv[0, j, 0, x] for w, j in zip(p, seen)) / sum(p)), 3e-3)
                    for w, j in zip(p, seen):
                        wanted[j, x] = wanted.get((j, x), 0) + w / sum(p) * d_o[0, i, h, x]
        for (j, x), value in wanted.items():
            self.assertLess(abs(d_v[0, j, 0, x] - value), 3e-3)


class Page(unittest.TestCase):
    def test_it_names_every_function(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/python.md").read_text(encoding="utf-8")
        self.assertEqual([name for name in tilewright.operations.__all__ if f"`{name}`" not in page and f"`{name}(" not in page], [])


if __name__ == "__main__":
    unittest.main(verbosity=1)
