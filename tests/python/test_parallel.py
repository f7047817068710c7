# SPDX-License-Identifier: MIT
"""GEMMs and expert layers of several ranks, which are threads that share the emulated GPU."""
import threading
import unittest

from torch_stub import Tensor
import tilewright


class Group:
    def __init__(self, ranks):
        self.size, self.meet, self.sent = ranks, threading.Barrier(ranks), [None] * ranks

    def of(self, rank):
        class Member:
            size = self.size

            def __init__(member):
                member.rank = rank

            def exchange(_, out, x, own_slot):
                self.sent[rank] = x.flat()
                self.meet.wait()
                part = len(self.sent[rank]) // self.size
                out.write([v for sent in self.sent for v in (sent[rank * part:(rank + 1) * part] if own_slot else sent)])
                self.meet.wait()

            def all_gather(member, out, x):
                member.exchange(out, x, False)

            def all_to_all(member, out, x):
                member.exchange(out, x, True)
        return Member()


def on_all_ranks(ranks, work):
    group, results = Group(ranks), [None] * ranks
    threads = [threading.Thread(target=lambda r=r: results.__setitem__(r, work(r, group.of(r)))) for r in range(ranks)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results


class Parallel(unittest.TestCase):
    def setUp(self):
        self.a = [Tensor((12, 24), seed=r + 1) for r in range(2)]
        self.b = [Tensor((24, 40), seed=r + 11) for r in range(2)]

    def product(self, a, b, row, col):
        a, b = a.nested(), b.nested()
        return sum(a[row, x] * b[x, col] for x in range(24))

    def test_all_gather(self):
        results = on_all_ranks(2, lambda r, group: tilewright.all_gather_gemm(self.a[r], self.b[r], group))
        for r, c in enumerate(results):
            self.assertEqual(tuple(c.shape), (24, 40))
            found = c.nested()
            for row, col in ((0, 0), (11, 39), (12, 1), (23, 7)):
                self.assertAlmostEqual(found[row, col], self.product(self.a[row // 12], self.b[r], row % 12, col), delta=2e-2)

    def test_reduce_scatter(self):
        results = on_all_ranks(2, lambda r, group: tilewright.gemm_reduce_scatter(self.a[r], self.b[r], group, alpha=2.0))
        for r, c in enumerate(results):
            self.assertEqual(tuple(c.shape), (6, 40))
            found = c.nested()
            for row, col in ((0, 0), (5, 39), (3, 8)):
                expected = sum(2 * self.product(self.a[from_], self.b[from_], 6 * r + row, col) for from_ in range(2))
                self.assertAlmostEqual(found[row, col], expected, delta=6e-2)

    def test_experts_of_all_ranks(self):
        x, logits, gate_up, down = Tensor((6, 24), seed=31), Tensor((6, 4), "f32", seed=32), Tensor((4, 32, 24), seed=33), Tensor((4, 24, 16), seed=34)

        def share(t, rank):
            values = list(t.nested().values())
            return Tensor((t.shape[0] // 2, *t.shape[1:]), t.element, values=values[rank * len(values) // 2:(rank + 1) * len(values) // 2])
        options = {"score": "sigmoid", "scale": 2.5}
        expected = list(tilewright.moe(x, logits, gate_up, down, 3, **options).nested().values())
        results = on_all_ranks(2, lambda r, group: tilewright.expert_parallel_moe(*(share(t, r) for t in (x, logits, gate_up, down)), 3, group, **options))
        found = [value for y in results for value in y.nested().values()]
        self.assertEqual(len(found), len(expected))
        for is_, wanted in zip(found, expected):
            self.assertAlmostEqual(is_, wanted, delta=1e-2 * max(1, abs(wanted)))
        with self.assertRaisesRegex(tilewright.Error, "^expert_parallel_moe: logits has 4 columns, but 5 ranks have 4 experts each$"):
            tilewright.expert_parallel_moe(x, logits, gate_up, down, 1, Group(5).of(0))

    def test_rows_that_cannot_be_divided(self):
        group = Group(5).of(0)
        with self.assertRaisesRegex(tilewright.Error, "^gemm_reduce_scatter: A has 12 rows, which is no multiple of 5 ranks$"):
            tilewright.gemm_reduce_scatter(self.a[0], self.b[0], group)


if __name__ == "__main__":
    unittest.main()
