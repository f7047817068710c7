# SPDX-License-Identifier: MIT
"""What docs/python.md shows: a call, and the transformer layer of examples/13_python_layer, on the emulated AMD GPU."""
import importlib.util
import math
import pathlib
import unittest

from torch_stub import Tensor

import tilewright

ROOT = pathlib.Path(__file__).resolve().parents[2]


def matrix(t):
    return [[v for (i, _), v in sorted(t.nested().items()) if i == row] for row in range(t.shape[0])]


def times(a, b):
    return [[sum(x * y for x, y in zip(row, col)) for col in zip(*b)] for row in a]


def rms_norm(x, weight):
    return [[v * (sum(s * s for s in row) / len(row) + 1e-5) ** -0.5 * w for v, w in zip(row, weight)] for row in x]


def plus(a, b):
    return [[x + y for x, y in zip(p, q)] for p, q in zip(a, b)]


def heads_of(x, d):
    return [[row[i:i + d] for i in range(0, len(row), d)] for row in x]


def rotate(x, cos, sin):
    pairs = len(cos[0])
    return [[[h[i] * c[i] - h[i + pairs] * s[i] for i in range(pairs)] + [h[i + pairs] * c[i] + h[i] * s[i] for i in range(pairs)] for h in row]
            for row, c, s in zip(x, cos, sin)]


def attention(q, k, v):
    """Causal, of lists (tokens, heads, d)."""
    result, share = [], len(q[0]) // len(k[0])
    for t, row in enumerate(q):
        out = []
        for h, head in enumerate(row):
            powers = [math.exp(sum(a * b for a, b in zip(head, k[j][h // share])) / len(head) ** 0.5) for j in range(t + 1)]
            out += [sum(p * v[j][h // share][i] for j, p in enumerate(powers)) / sum(powers) for i in range(len(head))]
        result.append(out)
    return result


def exact_layer(x, w, cos, sin, d):
    h = rms_norm(x, w["norm1"])
    q, k = (rotate(heads_of(times(h, w[n]), d), cos, sin) for n in ("q", "k"))
    x = plus(x, times(attention(q, k, heads_of(times(h, w["v"]), d)), w["o"]))
    h = rms_norm(x, w["norm2"])
    gated = [[g / (1 + math.exp(-g)) * u for g, u in zip(*rows)] for rows in zip(times(h, w["gate"]), times(h, w["up"]))]
    return plus(x, times(gated, w["down"]))


class Layer(unittest.TestCase):
    def test_a_call(self):
        a, b, bias = Tensor((5, 16), seed=1), Tensor((7, 16), seed=2), Tensor((7,), seed=3)
        c = tilewright.gemm(a, b.t(), bias=bias, activate="silu")
        exact = [[v + s for v, s in zip(row, bias.flat())] for row in times(matrix(a), list(zip(*matrix(b))))]
        for row, wanted in zip(matrix(c), exact, strict=True):
            for x, z in zip(row, wanted, strict=True):
                self.assertLess(abs(x - z / (1 + math.exp(-z))), 1e-2)

    def test_the_example(self):
        spec = importlib.util.spec_from_file_location("layer", ROOT / "examples/13_python_layer/layer.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        tokens, heads, kv_heads, d, hidden = 13, 4, 2, 32, 128
        width, kv = heads * d, kv_heads * d

        def weights(seed, *shape):
            t = Tensor(shape, seed=seed)
            t.write([v * 2 / shape[-2] ** 0.5 for v in t.flat()])
            return t
        both = weights(8, 2, width, hidden)
        w = {"norm1": Tensor((width,), seed=1), "q": weights(2, width, width), "k": weights(3, width, kv), "v": weights(4, width, kv),
             "o": weights(5, width, width), "norm2": Tensor((width,), seed=6), "gate": both.first(0), "up": both.first(1),
             "down": weights(7, hidden, width)}
        angles = [t / 100 ** (2 * i / d) for t in range(tokens) for i in range(d // 2)]
        cos, sin = (Tensor((tokens, d // 2), "f32", values=[f(a) for a in angles]) for f in (math.cos, math.sin))
        x = Tensor((tokens, width), seed=9)
        y = matrix(module.layer(x, w, cos, sin, heads, kv_heads))
        exact = exact_layer(matrix(x), {n: t.flat() if "norm" in n else matrix(t) for n, t in w.items()}, matrix(cos), matrix(sin), d)
        for row, wanted in zip(y, exact, strict=True):
            for found, e in zip(row, wanted, strict=True):
                self.assertLess(abs(found - e), 0.02 * (1 + abs(e)))


if __name__ == "__main__":
    unittest.main()
