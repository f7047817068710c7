# SPDX-License-Identifier: MIT
"""tilewright.torch with a stub of PyTorch: operators and their gradients on the emulated AMD GPU, against Python's double precision."""
import random
import unittest

import torch_stub
from torch_stub import Tensor, operators

import tilewright
from tilewright import torch as tw


def weighted(outputs, weights):
    """The sum of all elements of dictionaries times those of others."""
    return sum(value * w[i] for output, w in zip(outputs, weights) for i, value in output.items())


class Operators(unittest.TestCase):
    def expect_gradients(self, name, inputs, reference, tolerance=2e-2):
        """Compares an operator's results with those of `reference`, which takes and returns dictionaries by index, and its gradients with
        differences."""
        operator, values = operators[name], [x.nested() if isinstance(x, Tensor) else x for x in inputs]
        wanted = reference(*values)
        grads = [Tensor(self.shape_of(w), "f16", seed=9 + i) for i, w in enumerate(wanted)]
        results, found = operator.gradients(inputs, grads)
        results = results if isinstance(results, tuple) else (results,)
        for result, w in zip(results, wanted):
            for i, value in result.nested().items():
                self.assertLess(abs(value - w[i]), tolerance * (1 + abs(w[i])), (name, "result", i))
        weights = [g.nested() for g in grads]
        for x, (argument, gradient) in zip(values, found.items()):
            if not isinstance(x, dict) or gradient is None:
                continue
            gradient = gradient.nested()
            self.assertEqual(set(gradient), set(x), (name, argument))
            for i in random.Random(1).sample(sorted(x), min(12, len(x))):
                before, h, sides = x[i], 1e-4, []
                for x[i] in (before + h, before - h):
                    sides.append(weighted(reference(*values), weights))
                x[i] = before
                exact = (sides[0] - sides[1]) / (2 * h)
                self.assertLess(abs(gradient[i] - exact), tolerance * (1 + abs(exact)), (name, argument, i))
        return found

    @staticmethod
    def shape_of(values):
        return tuple(n + 1 for n in max(values))

    def test_declarations(self):
        self.assertGreaterEqual(len(operators), 14)
        for operator in operators.values():
            operator.check_declaration()

    def test_gemm(self):
        def product(a, b, bias, *_):
            (m, k), n = self.shape_of(a), self.shape_of(b)[1]
            return [{(i, j): sum(a[i, x] * b[x, j] for x in range(k)) + bias[j,] for i in range(m) for j in range(n)}]
        found = self.expect_gradients("gemm", [Tensor((9, 16), seed=1), Tensor((24, 16), seed=2).t(), Tensor((24,), seed=3)], product)
        self.assertEqual([name for name, g in found.items() if g is not None], ["a", "b", "bias"])

    def test_linear_keeps_leading_dimensions(self):
        x, w = Tensor((3, 3, 16), seed=1), Tensor((24, 16), seed=2)
        y = tw.linear(x, w)
        self.assertEqual(y.shape, (3, 3, 24))
        dx, dw, found = x.nested(), w.nested(), y.nested()
        for i, j, n in found:
            self.assertLess(abs(found[i, j, n] - sum(dx[i, j, k] * dw[n, k] for k in range(16))), 1e-2)

    def test_stream_and_errors(self):
        Tensor.current_streams.clear()
        tilewright.gemm(Tensor((9, 16)), Tensor((24, 16)).t())
        self.assertEqual(Tensor.current_streams, [0])
        on_host = Tensor((16, 24))
        on_host.is_cuda = False
        with self.assertRaisesRegex(tilewright.Error, "^gemm: b is in the host's memory, but calls run on the GPU; move it there$"):
            tilewright.gemm(Tensor((9, 16)), on_host)
        far = Tensor((16, 24))
        far.get_device = lambda: 1
        with self.assertRaisesRegex(tilewright.Error, "^gemm: b is on GPU 1, but other tensors are on GPU 0$"):
            tilewright.gemm(Tensor((9, 16)), far)


if __name__ == "__main__":
    unittest.main()
