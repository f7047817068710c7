# SPDX-License-Identifier: MIT
"""A transformer for language, whose operators are exchanged, and data that it can learn."""
import torch

from tilewright import torch as tw
from tilewright._library import library

functional = torch.nn.functional


class PytorchOps:
    """Those of PyTorch, as a model has them."""

    def names(self):
        return "PyTorch's"

    def rms_norm(self, x, weight, residual):
        total = x if residual is None else x + residual
        return functional.rms_norm(total, weight.shape, weight, 1e-5), total

    def linear(self, x, weight):
        return functional.linear(x, weight)

    def swiglu(self, x, weights):
        gate, up = functional.linear(x, weights.flatten(0, 1)).chunk(2, -1)
        return functional.silu(gate) * up

    def rotary(self, x, cos, sin):
        a, b = x.float().chunk(2, -1)
        cos, sin = cos[:x.shape[1], None], sin[:x.shape[1], None]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)

    def attention(self, q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2)

    def cross_entropy(self, x, target):
        return functional.cross_entropy(x.float(), target)


class TilewrightOps(PytorchOps):
    """Those of this library; PyTorch's where libtilewright has none."""

    def __init__(self):
        own = {
            "gemm": {"linear": tw.linear, "swiglu": tw.swiglu},
            "rms_norm_gradient": {"rms_norm": self._rms_norm},
            "rotary": {"rotary": tw.rotary},
            "attention_backward": {"attention": lambda q, k, v: tw.attention(q, k, v, causal=True)},
            "cross_entropy": {"cross_entropy": tw.cross_entropy},
        }
        self.used = [name for call, ops in own.items() if call in library().calls for name in ops]
        for call, ops in own.items():
            if call in library().calls:
                for name, op in ops.items():
                    setattr(self, name, op)

    def names(self):
        return ", ".join(self.used)

    def _rms_norm(self, x, weight, residual):
        return (tw.rms_norm(x, weight), x) if residual is None else tw.rms_norm(x, weight, residual=residual)


class Model(torch.nn.Module):
    """Two layers with shared key heads; a sequence has an odd number of tokens."""

    def __init__(self, ops, width=2048, heads=16, kv_heads=4, hidden=5632, layers=2, vocabulary=4096, batch=16, tokens=1023):
        super().__init__()
        self.ops, self.heads, self.kv_heads, self.d = ops, heads, kv_heads, width // heads
        self.vocabulary, self.shape = vocabulary, (batch, tokens)
        self.embedding = self._weights(vocabulary, width)
        self.layers = torch.nn.ParameterList()
        for _ in range(layers):
            self.layers.extend([self._ones(width), self._weights((heads + 2 * kv_heads) * self.d, width), self._weights(width, width),
                                self._ones(width), self._weights(2, hidden, width), self._weights(width, hidden)])
        self.last_norm, self.head = self._ones(width), self._weights(vocabulary, width)
        angle = torch.arange(tokens)[:, None] / 10000 ** (torch.arange(self.d // 2) / (self.d // 2))
        self.register_buffer("cos", angle.cos().float())
        self.register_buffer("sin", angle.sin().float())

    @staticmethod
    def _weights(*shape):
        return torch.nn.Parameter((torch.randn(shape) * shape[-1] ** -0.5).bfloat16())

    @staticmethod
    def _ones(*shape):
        return torch.nn.Parameter(torch.ones(shape, dtype=torch.bfloat16))

    def step(self, tokens):
        """The loss of a batch (batch, tokens + 1)."""
        ops, x, update = self.ops, functional.embedding(tokens[:, :-1], self.embedding), None
        for i in range(0, len(self.layers), 6):
            norm1, qkv, out, norm2, up, down = (self.layers[i + j] for j in range(6))
            h, x = ops.rms_norm(x, norm1, update)
            split = ops.linear(h, qkv).unflatten(-1, (-1, self.d)).split((self.heads, self.kv_heads, self.kv_heads), 2)
            q, k = (ops.rotary(part, self.cos, self.sin) for part in split[:2])
            h, x = ops.rms_norm(x, norm2, ops.linear(ops.attention(q, k, split[2]).flatten(2), out))
            update = ops.linear(ops.swiglu(h, up), down)
        h, _ = ops.rms_norm(x, self.last_norm, update)
        return ops.cross_entropy(ops.linear(h, self.head).flatten(0, 1), tokens[:, 1:].flatten())

    def batches(self, count):
        """Batches of tokens, each of which follows from the one before, but for four choices: the least loss is log 4 = 1.386."""
        batch, tokens = self.shape
        generator = torch.Generator(device="cuda").manual_seed(2)
        choices = torch.randint(0, 4, (tokens, count * batch), device="cuda", generator=generator)
        sequence = [torch.randint(0, self.vocabulary, (count * batch,), device="cuda", generator=generator)]
        for chosen in choices:
            sequence.append((sequence[-1] * 17 + chosen * 31 + 7) % self.vocabulary)
        return torch.stack(sequence, 1).view(count, batch, tokens + 1)

    def optimizer(self):
        return Optimizer(list(self.parameters()))


class Optimizer:
    """AdamW on copies of the parameters in float32."""

    def __init__(self, parameters):
        self.parameters = parameters
        self.copies = [p.detach().float() for p in parameters]
        self.adam = torch.optim.AdamW(self.copies, lr=3e-4, betas=(0.9, 0.95), fused=True)

    @torch.no_grad()
    def step(self):
        for copy, p in zip(self.copies, self.parameters):
            copy.grad = p.grad.float()
            p.grad = None
        self.adam.step()
        torch._foreach_copy_(self.parameters, self.copies)
