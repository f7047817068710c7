# SPDX-License-Identifier: MIT
"""Differentiable operators for PyTorch: torch.library operators with fake implementations, so that torch.compile needs no graph break.

    from tilewright import torch as tw
    y = tw.linear(x, weight, bias, activation="silu")

Each operator is torch.ops.tilewright.<name>; its backward pass calls operators of this file, which may be differentiated again where that is said.
"""
import torch

from . import operations

__all__ = ["attention", "cross_entropy", "grouped_linear", "layer_norm", "linear", "matmul", "moe", "rms_norm", "rotary", "softmax", "swiglu"]

_library = torch.library.Library("tilewright", "DEF")


def _operator(schema, fake, setup=None, backward=None):
    """Decorates the function that computes an operator of the given schema."""
    def define(function):
        name = schema.partition("(")[0]
        _library.define(schema)
        _library.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake(f"tilewright::{name}", fake, lib=_library)
        if backward is not None:
            torch.library.register_autograd(f"tilewright::{name}", backward, setup_context=setup, lib=_library)
        return getattr(torch.ops.tilewright, name).default
    return define


def _is_packed(x, dimension):
    """Whether elements of a dimension follow each other, and no others are the same memory, as those of an expanded gradient are."""
    return x.stride(dimension) == 1 and 0 not in x.stride()


def _matrix(x):
    """x, or a copy whose matrices are contiguous along one dimension."""
    return x if _is_packed(x, -1) or _is_packed(x, -2) else x.contiguous()


def _rows(x):
    """x, or a copy whose rows are contiguous."""
    return x if _is_packed(x, -1) else x.contiguous()


def _heads(x):
    """x, or a copy whose heads are vectors of 16 bytes."""
    return x if _is_packed(x, -1) and all(s % 8 == 0 for s in x.stride()[:-1]) and x.data_ptr() % 16 == 0 else x.contiguous()


# GEMM with an epilogue

_ACTIVATION_GRADIENTS = {
    "relu": lambda grad, z: grad * (z > 0),
    "gelu": lambda grad, z: torch.ops.aten.gelu_backward(grad, z, approximate="tanh"),
    "silu": lambda grad, z: torch.ops.aten.silu_backward(grad, z),
}


def _gemm_shape(a, b):
    return (*max(a.shape[:-2], b.shape[:-2], key=len), a.shape[-2], b.shape[-1])


def _gemm_fake(a, b, bias=None, activation="none", residual=None, alpha=1.0, dtype=None):
    return a.new_empty(_gemm_shape(a, b), dtype=dtype or operations.result_dtype(torch, a.dtype))


def _gemm_setup(ctx, inputs, output):
    a, b, bias, ctx.activation, residual, ctx.alpha, ctx.dtype = inputs
    ctx.save_for_backward(a, b, bias)
    ctx.has_residual = residual is not None


def _gemm_backward(ctx, grad):
    """Where there is an activation, its argument is computed again: it needs no memory between the passes."""
    a, b, bias = ctx.saved_tensors
    d_residual = grad if ctx.has_residual else None
    if ctx.activation != "none":
        grad = _ACTIVATION_GRADIENTS[ctx.activation](grad, gemm(a, b, bias, "none", None, ctx.alpha, ctx.dtype))
    d_a = d_b = d_bias = None
    grad_of_product = grad.to(a.dtype)
    if ctx.needs_input_grad[0]:
        d_a = _sum_of_batch(gemm(grad_of_product, b.mT, None, "none", None, ctx.alpha, a.dtype), a)
    if ctx.needs_input_grad[1]:
        # As B is in memory: the gradient of a weight that was transposed needs no copy.
        if b.stride(-2) == 1 and b.stride(-1) != 1:
            d_b = gemm(grad_of_product.mT, a, None, "none", None, ctx.alpha, b.dtype).mT
        else:
            d_b = gemm(a.mT, grad_of_product, None, "none", None, ctx.alpha, b.dtype)
        d_b = _sum_of_batch(d_b, b)
    if bias is not None and ctx.needs_input_grad[2]:
        d_bias = grad.reshape(-1, grad.shape[-1]).sum(0)
    return d_a, d_b, d_bias, None, d_residual, None, None


def _sum_of_batch(grad, operand):
    """An operand without a batch is shared by all of its matrices."""
    return grad.sum(0) if grad.dim() > operand.dim() else grad


@_operator("gemm(Tensor a, Tensor b, Tensor? bias=None, str activation='none', Tensor? residual=None, float alpha=1.0, ScalarType? dtype=None) -> Tensor",
           _gemm_fake, _gemm_setup, _gemm_backward)
def gemm(a, b, bias=None, activation="none", residual=None, alpha=1.0, dtype=None):
    out = _gemm_fake(a, b, dtype=dtype)
    if a.shape[-1] == 0 or out.numel() == 0:
        return torch.zeros_like(out)
    return operations.gemm(_matrix(a), _matrix(b), out, alpha=alpha, bias=bias, activate=activation, residual=None if residual is None else _rows(residual))


def matmul(a, b, dtype=None):
    """a @ b of matrices, or of batches of them: tensors of two or three dimensions. Differentiable any number of times."""
    return gemm(a, b, None, "none", None, 1.0, dtype)


def linear(x, weight, bias=None, activation="none", residual=None):
    """activation(x W^T + bias) + residual; x (..., in), W (out, in). activation: "none", "relu", "gelu" (with tanh) or "silu"."""
    shape = (*x.shape[:-1], weight.shape[0])
    flat = None if residual is None else residual.expand(shape).reshape(-1, shape[-1])
    return gemm(x.reshape(-1, x.shape[-1]), weight.t(), bias, activation, flat, 1.0, None).reshape(shape)


@_operator("gated_gemm(Tensor x, Tensor weights) -> Tensor", lambda x, weights: x.new_empty((x.shape[0], weights.shape[1])))
def _gated_gemm(x, weights):
    out = x.new_empty((x.shape[0], weights.shape[1]))
    return operations.gemm(_rows(x), weights[1].t(), out, gate=weights[0].t())


def swiglu(x, weights):
    """silu(x G^T) * (x U^T); x (..., in), weights (2, hidden, in) are G and U. One kernel where no gradient is needed."""
    flat, shape = x.reshape(-1, x.shape[-1]), (*x.shape[:-1], weights.shape[1])
    if torch.is_grad_enabled() and (x.requires_grad or weights.requires_grad):
        gate, up = linear(flat, weights.flatten(0, 1)).chunk(2, -1)
        return (torch.nn.functional.silu(gate) * up).reshape(shape)
    return _gated_gemm(flat, weights.contiguous()).reshape(shape)


# Grouped GEMM

def _grouped_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _grouped_backward(ctx, grad):
    a, b, ends = ctx.saved_tensors
    d_a = grouped_gemm(grad, b.mT, ends) if ctx.needs_input_grad[0] else None
    d_b = grouped_gemm_weights(a, grad, ends) if ctx.needs_input_grad[1] else None
    return d_a, d_b, None


@_operator("grouped_gemm(Tensor a, Tensor b, Tensor ends) -> Tensor", lambda a, b, ends: a.new_empty((a.shape[0], b.shape[2])),
           _grouped_setup, _grouped_backward)
def grouped_gemm(a, b, ends):
    out = a.new_zeros((a.shape[0], b.shape[2]))  # rows of no group are 0
    return operations.grouped_gemm(_rows(a), _matrix(b), ends, out) if a.shape[0] else out


@_operator("grouped_gemm_weights(Tensor a, Tensor grad, Tensor ends) -> Tensor",
           lambda a, grad, ends: a.new_empty((ends.shape[0], a.shape[1], grad.shape[1])))
def grouped_gemm_weights(a, grad, ends):
    out = a.new_empty((ends.shape[0], a.shape[1], grad.shape[1]))
    return operations.grouped_gemm(_rows(a).t(), _rows(grad), ends, out) if a.shape[0] else out.zero_()


def grouped_linear(x, weights, ends):
    """Rows [ends[g - 1], ends[g]) of x (rows, in) times weights[g] (groups, in, out); `ends`: int32 on the GPU."""
    return grouped_gemm(x, weights, ends)


# Mixture of experts

_MOE_OPTIONS = {"is_normalised": True, "score": "softmax", "groups": 1, "kept_groups": 1, "scale": 1.0, "shared": 0, "capacity": 0,
                "is_interleaved": False, "swiglu_alpha": 1.0, "swiglu_limit": 0.0, "swiglu_shift": 0.0}
_MOE_SCHEMA = ("Tensor logits, Tensor gate_up, Tensor down, Tensor? score_bias, Tensor? gate_up_bias, Tensor? down_bias, int choices, bool is_normalised, "
               "str score, int groups, int kept_groups, float scale, int shared, int capacity, bool is_interleaved, float swiglu_alpha, float swiglu_limit, "
               "float swiglu_shift")


def _moe_options(score_bias, gate_up_bias, down_bias, *values):
    return {"score_bias": score_bias, "gate_up_bias": gate_up_bias, "down_bias": down_bias,
            **{name: int(v) if isinstance(v, bool) else v for name, v in zip(_MOE_OPTIONS, values)}}


def _moe_fake(x, logits, gate_up, down, score_bias, gate_up_bias, down_bias, choices, *options):
    entries = x.shape[0], choices + options[list(_MOE_OPTIONS).index("shared")]
    return x.new_empty(x.shape), x.new_empty(entries, dtype=torch.int32), x.new_empty(entries, dtype=torch.float32)


def _moe_setup(ctx, inputs, output):
    *tensors, ctx.choices = inputs[:8]
    ctx.options = inputs[8:]
    ctx.save_for_backward(*tensors, *output[1:])


def _moe_backward(ctx, grad, _expert, _weight):
    *tensors, expert, weight = ctx.saved_tensors
    *grads, d_gate_up_bias, d_down_bias = moe_backward(grad, *tensors, ctx.choices, *ctx.options, expert, weight)
    has_bias = [bias is not None for bias in tensors[5:]]
    return (*grads, None, d_gate_up_bias if has_bias[0] else None, d_down_bias if has_bias[1] else None, *(None,) * (1 + len(ctx.options)))


@_operator(f"moe(Tensor x, {_MOE_SCHEMA}) -> (Tensor, Tensor, Tensor)", _moe_fake, _moe_setup, _moe_backward)
def _moe(x, logits, gate_up, down, score_bias, gate_up_bias, down_bias, choices, *options):
    y, expert, weight = _moe_fake(x, logits, gate_up, down, score_bias, gate_up_bias, down_bias, choices, *options)
    if x.shape[0]:
        operations.moe(_rows(x), _rows(logits), gate_up.contiguous(), _rows(down), choices, y, expert=expert, weight=weight,
                       **_moe_options(score_bias, gate_up_bias, down_bias, *options))
    return y, expert, weight


def _moe_gradients(x, logits, gate_up, down, _score_bias, *biases):
    """Where moe_backward writes; of a bias that there is not, no elements."""
    return tuple(t.new_empty(t.shape) for t in (x, logits, gate_up, down)) + tuple(x.new_empty((0,) if t is None else t.shape) for t in biases)


@_operator(f"moe_backward(Tensor grad, Tensor x, {_MOE_SCHEMA}, Tensor expert, Tensor weight) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
           lambda grad, *inputs: _moe_gradients(*inputs[:7]))
def moe_backward(grad, x, logits, gate_up, down, score_bias, gate_up_bias, down_bias, choices, *rest):
    *options, expert, weight = rest
    outs = _moe_gradients(x, logits, gate_up, down, score_bias, gate_up_bias, down_bias)
    if not x.shape[0]:
        return (*outs[:2], *(t.zero_() for t in outs[2:]))
    of_biases = {name: out for name, out, bias in zip(("d_gate_up_bias", "d_down_bias"), outs[4:], (gate_up_bias, down_bias)) if bias is not None}
    operations.moe_gradient(_rows(grad), _rows(x), _rows(logits), gate_up.contiguous(), _rows(down), choices, outs[:4], expert=expert, weight=weight,
                            **of_biases, **_moe_options(score_bias, gate_up_bias, down_bias, *options))
    return outs


def moe(x, logits, gate_up, down, choices, *, score_bias=None, gate_up_bias=None, down_bias=None, **options):
    """A mixture-of-experts layer of rows x (tokens, d); gate_up (experts, 2 n, d), down (experts, d, n), their biases (experts, 2 n) and
    (experts, d). Options as those of tilewright.moe. The gradient of the logits is that of the weights of the chosen experts."""
    unknown = set(options) - set(_MOE_OPTIONS)
    if unknown:
        raise TypeError(f"moe: there is no option {', '.join(sorted(unknown))}; there are {', '.join(_MOE_OPTIONS)}")
    return _moe(x, logits, gate_up, down, score_bias, gate_up_bias, down_bias, choices, *(_MOE_OPTIONS | options).values())[0]


# Attention

def _attention_fake(q, k, v, scale, causal, left, right):
    batch, rows, heads, _ = q.shape
    return q.new_empty((batch, rows, heads, v.shape[-1])), q.new_empty((batch, rows, heads), dtype=torch.float32)


def _attention_setup(ctx, inputs, output):
    q, k, v, *ctx.options = inputs
    ctx.save_for_backward(q, k, v, *output)
    ctx.set_materialize_grads(False)


def _attention_backward(ctx, grad, _):
    if grad is None:
        return (None,) * 7
    return (*attention_backward(grad, *ctx.saved_tensors, *ctx.options), None, None, None, None)


def _attention_options(lse, scale, causal, left, right):
    return {"lse": lse, "scale": scale, "causal": causal, "window_left": left, "window_right": right}


@_operator("attention(Tensor q, Tensor k, Tensor v, float scale, bool causal, int left, int right) -> (Tensor, Tensor)",
           _attention_fake, _attention_setup, _attention_backward)
def _attention(q, k, v, scale, causal, left, right):
    out, lse = _attention_fake(q, k, v, scale, causal, left, right)
    operations.attention(*map(_heads, (q, k, v)), out, **_attention_options(lse, scale, causal, left, right))
    return out, lse


@_operator("attention_backward(Tensor grad, Tensor q, Tensor k, Tensor v, Tensor o, Tensor lse, float scale, bool causal, int left, int right)"
           " -> (Tensor, Tensor, Tensor)",
           lambda grad, q, k, v, *_: tuple(x.new_empty(x.shape) for x in (q, k, v)))
def attention_backward(grad, q, k, v, o, lse, scale, causal, left, right):
    outs = tuple(x.new_empty(x.shape) for x in (q, k, v))
    return operations.attention_backward(*map(_heads, (grad, q, k, v, o)), outs, **_attention_options(lse, scale, causal, left, right))


def attention(q, k, v, *, causal=False, scale=None, window=(-1, -1)):
    """softmax(scale Q K^T) V; q (batch, rows, heads, d), k and v with as many heads or a divisor of them. scale: 1 / sqrt(d) if it is left out.
    causal: a query sees the keys up to its own position, counted from the ends; window: how many it sees to the left and right, -1: all."""
    return _attention(q, k, v, q.shape[-1] ** -0.5 if scale is None else scale, causal, *window)[0]


# Rows

def _row_statistics(x):
    return x.new_empty(x.shape[:-1], dtype=torch.float32)


def _flat(x):
    """x as a matrix of its rows, which follow each other with one stride."""
    return None if x is None else _rows(x.reshape(-1, x.shape[-1]))


def _norm_setup(ctx, inputs, output):
    x, residual, weight, *_ = inputs
    y, total, *statistics = output
    ctx.has_residual = residual is not None
    ctx.save_for_backward(total if ctx.has_residual else x, weight, *statistics)
    ctx.set_materialize_grads(False)


def _write_norm(operation, x, residual, weight, y, total, **options):
    """Options that are tensors have a number for each row."""
    options = {name: t.view(-1) if torch.is_tensor(t) and name != "bias" else t for name, t in options.items()}
    if residual is not None:
        options |= {"residual": _flat(residual), "sum": _flat(total)}
    if x.numel():
        operation(_flat(x), weight, _flat(y), **options)


def _rms_norm_fake(x, residual, weight, epsilon):
    return x.new_empty(x.shape), x.new_empty(x.shape if residual is not None else (0,)), _row_statistics(x)


def _rms_norm_backward(ctx, grad, d_sum, _):
    s, weight, rstd = ctx.saved_tensors
    d_sum = d_sum if ctx.has_residual else None
    if grad is None:  # only the sum was used
        return d_sum, d_sum, None, None
    dx, d_weight = rms_norm_gradient(grad, s, weight, rstd, d_sum)
    return dx, dx if ctx.has_residual else None, d_weight, None


@_operator("rms_norm(Tensor x, Tensor? residual, Tensor weight, float epsilon) -> (Tensor, Tensor, Tensor)", _rms_norm_fake, _norm_setup, _rms_norm_backward)
def _rms_norm(x, residual, weight, epsilon):
    y, total, rstd = _rms_norm_fake(x, residual, weight, epsilon)
    _write_norm(operations.rms_norm, x, residual, weight, y, total, rstd=rstd, epsilon=epsilon)
    return y, total, rstd


@_operator("rms_norm_gradient(Tensor grad, Tensor s, Tensor weight, Tensor rstd, Tensor? d_sum) -> (Tensor, Tensor)",
           lambda grad, s, weight, rstd, d_sum: (s.new_empty(s.shape), weight.new_empty(weight.shape)))
def rms_norm_gradient(grad, s, weight, rstd, d_sum):
    dx, d_weight = s.new_empty(s.shape), weight.new_empty(weight.shape)
    if not s.numel():
        return dx, d_weight.zero_()
    operations.rms_norm_gradient(_flat(grad), _flat(s), weight, rstd.view(-1), (_flat(dx), d_weight), d_sum=_flat(d_sum))
    return dx, d_weight


def rms_norm(x, weight, epsilon=1e-5, residual=None):
    """RMSNorm along the last dimension; the weight has the type of x. With a residual: of x + residual; then the norm and the sum are returned."""
    y, total, _ = _rms_norm(x, residual, weight, epsilon)
    return y if residual is None else (y, total)


def _layer_norm_fake(x, residual, weight, bias, epsilon):
    return *_rms_norm_fake(x, residual, weight, epsilon), _row_statistics(x)


def _layer_norm_setup(ctx, inputs, output):
    ctx.has_bias = inputs[3] is not None
    _norm_setup(ctx, inputs, output)


def _layer_norm_backward(ctx, grad, d_sum, *_):
    s, weight, mean, rstd = ctx.saved_tensors
    d_sum = d_sum if ctx.has_residual else None
    if grad is None:
        return d_sum, d_sum, None, None, None
    dx, d_weight, d_bias = layer_norm_gradient(grad, s, weight, mean, rstd, d_sum)
    return dx, dx if ctx.has_residual else None, d_weight, d_bias if ctx.has_bias else None, None


@_operator("layer_norm(Tensor x, Tensor? residual, Tensor weight, Tensor? bias, float epsilon) -> (Tensor, Tensor, Tensor, Tensor)",
           _layer_norm_fake, _layer_norm_setup, _layer_norm_backward)
def _layer_norm(x, residual, weight, bias, epsilon):
    y, total, mean, rstd = _layer_norm_fake(x, residual, weight, bias, epsilon)
    _write_norm(operations.layer_norm, x, residual, weight, y, total, bias=bias, mean=mean, rstd=rstd, epsilon=epsilon)
    return y, total, mean, rstd


@_operator("layer_norm_gradient(Tensor grad, Tensor s, Tensor weight, Tensor mean, Tensor rstd, Tensor? d_sum) -> (Tensor, Tensor, Tensor)",
           lambda grad, s, weight, mean, rstd, d_sum: (s.new_empty(s.shape), weight.new_empty(weight.shape), weight.new_empty(weight.shape)))
def layer_norm_gradient(grad, s, weight, mean, rstd, d_sum):
    dx, d_weight, d_bias = s.new_empty(s.shape), weight.new_empty(weight.shape), weight.new_empty(weight.shape)
    if not s.numel():
        return dx, d_weight.zero_(), d_bias.zero_()
    operations.layer_norm_gradient(_flat(grad), _flat(s), weight, mean.view(-1), rstd.view(-1), (_flat(dx), d_weight), d_bias=d_bias, d_sum=_flat(d_sum))
    return dx, d_weight, d_bias


def layer_norm(x, weight, bias=None, epsilon=1e-5, residual=None):
    """LayerNorm along the last dimension; weight and bias have the type of x. With a residual: of x + residual; then the norm and the sum are
    returned."""
    y, total, _, _ = _layer_norm(x, residual, weight, bias, epsilon)
    return y if residual is None else (y, total)


def _softmax_setup(ctx, inputs, output):
    ctx.save_for_backward(output)


def _softmax_backward(ctx, grad):
    y, = ctx.saved_tensors
    return torch.ops.aten._softmax_backward_data(grad, y, -1, y.dtype)


@_operator("softmax(Tensor x) -> Tensor", lambda x: x.new_empty(x.shape), _softmax_setup, _softmax_backward)
def softmax(x):
    y = x.new_empty(x.shape)
    if x.numel():
        operations.softmax(_flat(x), _flat(y))
    return y


# Rotary embedding

def _rotary_setup(ctx, inputs, output):
    _, cos, sin, position, ctx.interleaved, ctx.inverse = inputs
    ctx.save_for_backward(cos, sin, position)


def _rotary_backward(ctx, grad):
    return rotary_operator(grad, *ctx.saved_tensors, ctx.interleaved, not ctx.inverse), None, None, None, None, None


@_operator("rotary(Tensor x, Tensor cos, Tensor sin, Tensor? position, bool interleaved, bool inverse) -> Tensor", lambda x, *_: x.new_empty(x.shape),
           _rotary_setup, _rotary_backward)
def rotary_operator(x, cos, sin, position, interleaved, inverse):
    # Elements after the pairs of a head are as they were.
    out = x.new_empty(x.shape) if 2 * cos.shape[-1] == x.shape[-1] else x.clone(memory_format=torch.contiguous_format)
    if x.numel():
        heads = (-1, *x.shape[-2:])
        operations.rotary(_rows(x.reshape(heads)), cos, sin, out.view(heads), position=position, is_interleaved=interleaved, is_inverse=inverse)
    return out


def rotary(x, cos, sin, position=None, interleaved=False):
    """Rotary embedding of x (..., tokens, heads, d) by tables (positions, pairs) of float32: pairs of elements are (i, i + pairs), or interleaved
    (2 i, 2 i + 1). position: int32 for each token of x; without it the token's number in its sequence. cos and sin get no gradient."""
    if position is None:
        cos, sin = cos[:x.shape[-3]], sin[:x.shape[-3]]
    else:
        position = position.expand(x.shape[:-2]).reshape(-1)
    return rotary_operator(x, cos, sin, position, interleaved, False)


# Cross-entropy

def _cross_entropy_setup(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _cross_entropy_backward(ctx, grad):
    return cross_entropy_gradient(*ctx.saved_tensors, grad), None


@_operator("cross_entropy(Tensor x, Tensor target) -> Tensor", lambda x, target: _row_statistics(x), _cross_entropy_setup, _cross_entropy_backward)
def _cross_entropy(x, target):
    loss = _row_statistics(x)
    return operations.cross_entropy(_rows(x), target, loss) if x.numel() else loss


@_operator("cross_entropy_gradient(Tensor x, Tensor target, Tensor factor) -> Tensor", lambda x, target, factor: x.new_empty(x.shape))
def cross_entropy_gradient(x, target, factor):
    """Reads the logits again: neither probabilities nor a gradient are kept between the passes."""
    gradient = x.new_empty(x.shape)
    if x.numel():
        operations.cross_entropy(_rows(x), target, _row_statistics(x), gradient=gradient, factor=factor.contiguous())
    return gradient


def cross_entropy(x, target, reduction="mean"):
    """Cross-entropy of logits x (rows, classes), in float32. Rows whose target is not one of the classes, such as -100, are ignored. reduction:
    "mean" of the others, "sum" or "none"."""
    loss = _cross_entropy(x, target.to(torch.int32))
    if reduction == "mean":
        return loss.sum() / ((target >= 0) & (target < x.shape[-1])).sum()
    return loss.sum() if reduction == "sum" else loss
