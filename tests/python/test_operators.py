# SPDX-License-Identifier: MIT
"""tilewright.torch with a stub of PyTorch: operators and their gradients on the emulated AMD GPU, against Python's double precision."""
import itertools
import math
import random
import unittest

from torch_stub import Tensor, operators

import tilewright
from tilewright import torch as tw


def weighted(outputs, weights):
    """The sum of all elements of dictionaries times those of others."""
    return sum(value * w[i] for output, w in zip(outputs, weights) for i, value in output.items())


def shape_of(values):
    return tuple(n + 1 for n in max(values))


def rows_of(x):
    """Rows of a dictionary of two indices, as lists."""
    rows, cols = shape_of(x)
    return [[x[r, c] for c in range(cols)] for r in range(rows)]


def elements_of(rows):
    return {(r, c): value for r, row in enumerate(rows) for c, value in enumerate(row)}


def product(a, b, bias, *_):
    (m, k), n = shape_of(a), shape_of(b)[1]
    return [{(i, j): sum(a[i, x] * b[x, j] for x in range(k)) + bias[j,] for i in range(m) for j in range(n)}]


def rms_norm(x, residual, weight, epsilon):
    total = x if residual is None else {i: x[i] + residual[i] for i in x}
    y = []
    for row in rows_of(total):
        rstd = (sum(s * s for s in row) / len(row) + epsilon) ** -0.5
        y.append([s * rstd * weight[c,] for c, s in enumerate(row)])
    return [elements_of(y)] if residual is None else [elements_of(y), total]


def layer_norm(x, residual, weight, bias, epsilon):
    y = []
    for row in rows_of(x):
        mean = sum(row) / len(row)
        rstd = (sum((s - mean) ** 2 for s in row) / len(row) + epsilon) ** -0.5
        y.append([(s - mean) * rstd * weight[c,] + bias[c,] for c, s in enumerate(row)])
    return [elements_of(y)]


def cross_entropy(x, target):
    return [{(r,): math.log(sum(map(math.exp, row))) - row[target[r,]] if 0 <= target[r,] < len(row) else 0.0 for r, row in enumerate(rows_of(x))}]


def rotary(x, cos, sin, position, interleaved, inverse):
    pairs, y = shape_of(cos)[1], dict(x)
    for t, h, i in x:
        if i >= pairs:
            continue
        first, second = (2 * i, 2 * i + 1) if interleaved else (i, i + pairs)
        row = t if position is None else position[t,]
        c, s = cos[row, i], -sin[row, i] if inverse else sin[row, i]
        y[t, h, first] = x[t, h, first] * c - x[t, h, second] * s
        y[t, h, second] = x[t, h, second] * c + x[t, h, first] * s
    return [y]


def attention(q, k, v, scale, causal, left, right):
    (batch, rows, heads, d), (_, keys, kv_heads, value_d) = shape_of(q), shape_of(v)
    o = {}
    for b, i, h in itertools.product(range(batch), range(rows), range(heads)):
        g, own = h // (heads // kv_heads), i + keys - rows
        seen = [j for j in range(keys) if (not causal or j <= own) and (left < 0 or j >= own - left) and (right < 0 or j <= own + right)]
        powers = [math.exp(scale * sum(q[b, i, h, x] * k[b, j, g, x] for x in range(d))) for j in seen]
        for x in range(value_d):
            o[b, i, h, x] = sum(p * v[b, j, g, x] for p, j in zip(powers, seen)) / sum(powers)
    return [o]


def grouped(a, b, ends):
    (rows, k), (groups, _, n) = shape_of(a), shape_of(b)
    c = {(r, j): 0.0 for r in range(rows) for j in range(n)}
    for g in range(groups):
        for r in range(ends[g - 1,] if g else 0, ends[g,]):
            c |= {(r, j): sum(a[r, x] * b[g, x, j] for x in range(k)) for j in range(n)}
    return [c]


def expert_layer(x, logits, gate_up, down, _, gate_up_bias, down_bias, choices, *options):
    """With the softmax of the chosen logits as weights, and what the choice is."""
    (tokens, d), (experts, _, n) = shape_of(x), shape_of(down)
    y = {}
    for t in range(tokens):
        chosen = sorted(range(experts), key=lambda e: -logits[t, e])[:choices]
        shares = [math.exp(logits[t, e]) for e in chosen]
        total = [0.0] * d
        for e, share in zip(chosen, shares):
            for j in range(n):
                gate, up = (sum(gate_up[e, row, i] * x[t, i] for i in range(d)) + (gate_up_bias[e, row] if gate_up_bias else 0) for row in (j, n + j))
                hidden = gate / (1 + math.exp(-gate)) * up * share / sum(shares)
                for i in range(d):
                    total[i] += down[e, i, j] * hidden
            for i in range(d):
                total[i] += down_bias[e, i] * share / sum(shares) if down_bias else 0
        y |= {(t, i): total[i] for i in range(d)}
    return [y]


class Operators(unittest.TestCase):
    def expect_gradients(self, name, inputs, reference, tolerance=2e-2):
        """Compares an operator's results with those of `reference`, which takes and returns dictionaries by index, and its gradients with
        differences."""
        values = [x.nested() if isinstance(x, Tensor) else x for x in inputs]
        wanted = reference(*values)
        results, grads, found = operators[name].gradients(
            inputs, lambda results: [Tensor(r.shape, r.element, seed=9 + i) for i, r in enumerate(results[:len(wanted)])])
        for result, w in zip(results, wanted):
            found_values = result.nested()
            self.assertEqual(set(found_values), set(w), name)
            for i, value in found_values.items():
                self.assertLess(abs(value - w[i]), tolerance * (1 + abs(w[i])), (name, "result", i))
        weights = [g.nested() for g in grads]
        for x, (argument, gradient) in zip(values, found.items()):
            if gradient is None:
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
        return [argument for argument, gradient in found.items() if gradient is not None]

    def test_declarations(self):
        self.assertGreaterEqual(len(operators), 14)
        for operator in operators.values():
            operator.check_declaration()

    def test_gemm(self):
        inputs = [Tensor((9, 16), seed=1), Tensor((24, 16), seed=2).t(), Tensor((24,), seed=3)]
        self.assertEqual(self.expect_gradients("gemm", inputs, product), ["a", "b", "bias"])

    def test_norms(self):
        x, residual, weight, bias = Tensor((5, 72), seed=1), Tensor((5, 72), seed=2), Tensor((72,), seed=3), Tensor((72,), seed=4)
        self.assertEqual(self.expect_gradients("rms_norm", [x, residual, weight, 1e-3], rms_norm), ["x", "residual", "weight"])
        self.assertEqual(self.expect_gradients("layer_norm", [x, None, weight, bias, 1e-3], layer_norm), ["x", "weight", "bias"])

    def test_attention(self):
        q, k, v = Tensor((1, 5, 4, 32), seed=1), Tensor((1, 7, 2, 32), seed=2), Tensor((1, 7, 2, 32), seed=3)
        self.assertEqual(self.expect_gradients("attention", [q, k, v, 0.2, True, 3, -1], attention), ["q", "k", "v"])

    def test_rotary(self):
        table = [Tensor((9, 8), "f32", seed=i) for i in (2, 3)]
        position = Tensor((5,), "i32", values=[8, 0, 3, 1, 8])
        for shape, interleaved in (((5, 2, 16), False), ((5, 2, 19), True)):
            self.assertEqual(self.expect_gradients("rotary", [Tensor(shape, seed=1), *table, position, interleaved, False], rotary), ["x"])

    def test_grouped_gemm(self):
        ends = Tensor((3,), "i32", values=[4, 4, 11])
        inputs = [Tensor((13, 16), seed=1), Tensor((3, 16, 24), seed=2), ends]
        self.assertEqual(self.expect_gradients("grouped_gemm", inputs, grouped), ["a", "b"])

    def test_moe_gradients(self):
        # Differences need logits that differ, so that the choice of experts stays.
        logits = Tensor((5, 4), "f32", values=[i * 7 % 20 / 8 - 1 for i in range(20)])
        inputs = [Tensor((5, 16), seed=1), logits, Tensor((4, 16, 16), seed=3), Tensor((4, 16, 8), seed=4), None, None, None, 2,
                  *tw._MOE_OPTIONS.values()]
        self.assertEqual(self.expect_gradients("moe", inputs, expert_layer), ["x", "logits", "gate_up", "down"])
        inputs[5:7] = Tensor((4, 16), seed=5), Tensor((4, 16), seed=6)
        self.assertEqual(self.expect_gradients("moe", inputs, expert_layer), ["x", "logits", "gate_up", "down", "gate_up_bias", "down_bias"])
        inputs[5] = None
        self.assertEqual(self.expect_gradients("moe", inputs, expert_layer), ["x", "logits", "gate_up", "down", "down_bias"])

    def test_cross_entropy(self):
        target = Tensor((4,), "i32", values=[3, -100, 0, 29])
        self.assertEqual(self.expect_gradients("cross_entropy", [Tensor((4, 30), seed=1), target], cross_entropy), ["x"])

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


class Functions(unittest.TestCase):
    """Calls that have no operator."""

    def test_maps(self):
        x, x2 = Tensor((5, 3, 4), seed=1), Tensor((5, 3, 4), seed=2)
        y = tilewright.elementwise("x * x2 + 1", x, x2).nested()
        a, b = x.nested(), x2.nested()
        for i, value in y.items():
            self.assertLess(abs(value - (a[i] * b[i] + 1)), 1e-2)
        copied = tilewright.permute(x.t())
        self.assertEqual(copied.nested(), x.t().nested())
        self.assertEqual(copied.strides, (12, 3, 1))
        largest = tilewright.reduce(x, dims=-1, kind="maximum")
        self.assertEqual(largest.nested(), {(i, j, 0): max(a[i, j, k] for k in range(4)) for i in range(5) for j in range(3)})

    def test_routing(self):
        """Rows go to experts and come back with their weights."""
        logits, x = Tensor((6, 5), "f32", seed=4), Tensor((6, 16), seed=5)
        expert, weight = tilewright.choose_experts(logits, 2)
        ends, source, place = tilewright.order_by_expert(expert, 5)
        chosen, places, counts = expert.nested(), place.nested(), ends.flat()
        self.assertEqual(counts[-1], 12)
        for (t, c), row in places.items():
            e = chosen[t, c]
            self.assertTrue((counts[e - 1] if e else 0) <= row < counts[e])
            self.assertEqual(source.flat()[row], 2 * t + c)
        back = tilewright.rows_from_experts(tilewright.rows_to_experts(x, place), place, weight).nested()
        for i, value in x.nested().items():
            self.assertLess(abs(back[i] - value), 1e-2)  # weights add up to 1
        twice = tilewright.rows_from_experts(tilewright.rows_to_experts(x, place), place).nested()
        self.assertEqual(twice, {i: 2 * value for i, value in x.nested().items()})

    def test_moe(self):
        """Each token gets silu(gate) * up of two of three experts, with the softmax of their logits as weights."""
        tokens, experts, d, n = 3, 3, 16, 8
        x, logits = Tensor((tokens, d), seed=6), Tensor((tokens, experts), "f32", seed=7)
        gate_up, down = Tensor((experts, 2 * n, d), seed=8), Tensor((experts, d, n), seed=9)
        expert, weight = Tensor((tokens, 2), "i32"), Tensor((tokens, 2), "f32")
        y = tilewright.moe(x, logits, gate_up, down, 2, expert=expert, weight=weight)
        a, w1, w2, chosen, shares, result = (t.nested() for t in (x, gate_up, down, expert, weight, y))
        for t in range(tokens):
            wanted = [0.0] * d
            for c in range(2):
                e, hidden = chosen[t, c], []
                for j in range(n):
                    gate, up = (sum(w1[e, row, i] * a[t, i] for i in range(d)) for row in (j, n + j))
                    hidden.append(gate / (1 + math.exp(-gate)) * up)
                for i in range(d):
                    wanted[i] += shares[t, c] * sum(w2[e, i, j] * hidden[j] for j in range(n))
            for i in range(d):
                self.assertLess(abs(result[t, i] - wanted[i]), 2e-2 * (1 + abs(wanted[i])))
        with_sigmoid = tilewright.moe(x, logits, gate_up, down, 2, score="sigmoid", expert=expert, weight=weight)
        self.assertNotEqual(with_sigmoid.nested(), result)
        for t in range(tokens):
            score = [1 / (1 + math.exp(-logits.nested()[t, expert.nested()[t, c]])) for c in range(2)]
            self.assertLess(abs(weight.nested()[t, 0] - score[0] / sum(score)), 1e-3)
        result = with_sigmoid.nested()
        again = tilewright.moe(x, None, gate_up, down, 2, expert=expert, weight=weight).nested()
        self.assertEqual(again, result)
        with self.assertRaisesRegex(tilewright.Error, "^moe: there are 4 choices and 0 shared experts of 3 experts"):
            tilewright.moe(x, logits, gate_up, down, 4)


if __name__ == "__main__":
    unittest.main()
