# SPDX-License-Identifier: MIT
"""One function for each operation: tensors, then the options of the C call as keyword arguments.

`out` and further results are tensors that the call writes; where it is left out, and the inputs are PyTorch's, it is allocated. It is returned.
All functions queue work on `stream`: PyTorch's current stream if it is left out, or what an array says of itself, else the default stream.
"""
import sys

from ._error import Error
from ._library import library
from ._tensors import is_torch

__all__ = ["all_gather_gemm", "attention", "attention_backward", "attention_decode", "choose_experts", "cross_entropy", "elementwise", "expert_parallel_moe", "gemm",
           "gemm_reduce_scatter", "grouped_gemm", "layer_norm", "layer_norm_gradient", "moe", "moe_gradient", "narrow_gemm", "order_by_expert", "permute",
           "quantise", "reduce", "rms_norm", "rms_norm_gradient",
           "rotary", "rows_from_experts", "rows_to_experts", "softmax"]


def _call(name, tensors, options, outputs=1, **texts):
    """Outputs come first."""
    call = library().calls.get(name)
    if call is None:
        raise Error(f"{name}: libtilewright has no function tilewright_{name}; install the library and the package of one version", "no_kernel")
    call(tensors, options, outputs, **texts)


def _new(operation, like, shape, dtype=None):
    """A tensor of the given shape, which the input makes as PyTorch's tensors do. dtype: PyTorch's, or its name."""
    if not hasattr(like, "new_empty"):
        raise Error(f"{operation}: out is missing; it is allocated only for inputs that have new_empty(), as PyTorch's tensors")
    if isinstance(dtype, str):
        dtype = getattr(sys.modules["torch"], dtype) if is_torch(like) else None
    return like.new_empty(shape) if dtype is None else like.new_empty(shape, dtype=dtype)


def _shape_after(operation, x, rank):
    """The shape of a tensor that has at least `rank` dimensions."""
    shape = tuple(getattr(x, "shape", ()))
    if len(shape) < rank:
        raise Error(f"{operation}: a tensor has {len(shape)} dimensions, at least {rank} are needed")
    return shape


def result_dtype(torch, dtype):
    """Of a GEMM: the operands' type, but for those of 8 bits."""
    if dtype == torch.int8:
        return torch.int32
    return dtype if dtype in (torch.float16, torch.bfloat16, torch.float32) else torch.bfloat16


def gemm(a, b, out=None, *, dtype=None, **options):
    """C (m, n) = alpha A (m, k) B (k, n) + beta C, with what the options add. A third, first dimension is a batch. Returns `out`; without it a
    new tensor of `dtype`, by default that of A (int32 for int8, bfloat16 for fp8)."""
    if out is None:
        (*batch_a, m, _), (*batch_b, _, n) = _shape_after("gemm", a, 2), _shape_after("gemm", b, 2)
        out = _new("gemm", a, (*max(batch_a, batch_b), m, n), dtype or result_dtype(sys.modules["torch"], a.dtype) if is_torch(a) else None)
    _call("gemm", (out, a, b), options)
    return out


def narrow_gemm(a, codes, scales, out=None, *, dtype=None, **options):
    """C (m, n) = alpha A (m, k) B^T for weights B (n, k) of 4, 6 or 8 bits: `codes` (n, bytes of k) and `scales` of int8 (view(torch.int8) of
    what PyTorch has as uint8) or as `format` says. With a_scales and a_format A is stored so, too, and C is bfloat16 by default. A third,
    first dimension is a batch."""
    if out is None:
        (*batch, m, _), (*_, n, _) = _shape_after("narrow_gemm", a, 2), _shape_after("narrow_gemm", codes, 2)
        out = _new("narrow_gemm", a, (*batch, m, n), dtype or ("bfloat16" if options.get("a_scales") is not None and is_torch(a) else None))
    _call("narrow_gemm", (out, a, codes, scales), options)
    return out


class _TorchGroup:
    """The collectives of torch.distributed for a process group; None: all processes."""

    def __init__(self, group):
        import torch.distributed as distributed
        self.group, self.distributed, self.size, self.rank = group, distributed, distributed.get_world_size(group), distributed.get_rank(group)

    def all_gather(self, out, x):
        self.distributed.all_gather_into_tensor(out, x, group=self.group)

    def all_to_all(self, out, x):
        self.distributed.all_to_all_single(out, x, group=self.group)


def all_gather_gemm(a, b, group=None, out=None, **options):
    """C (ranks m, n) = A of all ranks, of which each has (m, k), times B (k, n), with the options of gemm. group: a process group of
    torch.distributed (None: the default one), or an object with `size`, all_gather(out, x) and all_to_all(out, x). The rows are gathered first;
    nothing overlaps."""
    group = group if hasattr(group, "all_to_all") else _TorchGroup(group)
    m, k = _shape_after("all_gather_gemm", a, 2)
    gathered = _new("all_gather_gemm", a, (group.size * m, k))
    group.all_gather(gathered, a.contiguous())
    return gemm(gathered, b, out, **options)


def gemm_reduce_scatter(a, b, group=None, out=None, *, alpha=1.0, **options):
    """C (m / ranks, n): this rank's rows of the sum over ranks of alpha A (m, k) B (k, n), where each rank has its own k. Products are rounded to
    C's type before they are sent, and added in float32 in the order of ranks. group: as in all_gather_gemm."""
    group = group if hasattr(group, "all_to_all") else _TorchGroup(group)
    (m, _), (_, n) = _shape_after("gemm_reduce_scatter", a, 2), _shape_after("gemm_reduce_scatter", b, 2)
    if m % group.size:
        raise Error(f"gemm_reduce_scatter: A has {m} rows, which is no multiple of {group.size} ranks")
    partial = gemm(a, b, alpha=alpha, **options)
    received = _new("gemm_reduce_scatter", partial, (m, n))
    group.all_to_all(received, partial)
    rows = (m // group.size, n)
    out = _new("gemm_reduce_scatter", partial, rows) if out is None else out
    reduce(received.view(group.size, *rows), out.view(1, *rows), **options)
    return out


def grouped_gemm(a, b, ends, out=None, *, dtype=None, **options):
    """Rows [ends[g - 1], ends[g]) of C (rows, n) are those rows of A (rows, k) times B[g] (groups, k, n), as experts need it; rows of no group are
    not written. With B (rows, n), C[g] (groups, m, n) is the columns of A (m, rows) of the group times the rows of B. `ends`: int32."""
    if out is None:
        (rows, _), (*groups, _, n) = _shape_after("grouped_gemm", a, 2), _shape_after("grouped_gemm", b, 2)
        shape = (rows, n) if groups else (*_shape_after("grouped_gemm", ends, 1), rows, n)
        out = _new("grouped_gemm", a, shape, dtype or result_dtype(sys.modules["torch"], a.dtype) if is_torch(a) else None)
    _call("grouped_gemm", (out, a, b, ends), options)
    return out


def attention(q, k, v, out=None, **options):
    """softmax(scale Q K^T) V of tensors (batch, rows, heads, d); K and V may have fewer heads, which neighbouring query heads share."""
    if out is None:
        out = _new("attention", q, (*_shape_after("attention", q, 3)[:-1], _shape_after("attention", v, 3)[-1]))
    _call("attention", (out, q, k, v), options)
    return out


def attention_backward(grad, q, k, v, o, outs=None, **options):
    """The gradients of Q, K and V with the options that attention() had; `o` and lse= are what it wrote."""
    outs = outs or tuple(_new("attention_backward", x, x.shape) for x in (q, k, v))
    _call("attention_backward", (*outs, grad, q, k, v, o), options, outputs=3)
    return outs


def attention_decode(q, k, v, out=None, **options):
    """attention() of a few queries on a long, or paged, cache of keys."""
    if out is None:
        out = _new("attention_decode", q, (*_shape_after("attention_decode", q, 3)[:-1], _shape_after("attention_decode", v, 3)[-1]))
    _call("attention_decode", (out, q, k, v), options)
    return out


def softmax(x, out=None, **options):
    """Softmax along the last dimension."""
    out = _new("softmax", x, _shape_after("softmax", x, 1)) if out is None else out
    _call("softmax", (out, x), options)
    return out


def rms_norm(x, weight, out=None, **options):
    """x / sqrt(mean of x^2 + epsilon) * weight along the last dimension; with residual= and sum= of x + residual, which `sum` receives."""
    out = _new("rms_norm", x, _shape_after("rms_norm", x, 1)) if out is None else out
    _call("rms_norm", (out, x, weight), options)
    return out


def layer_norm(x, weight, out=None, **options):
    """(x - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension."""
    out = _new("layer_norm", x, _shape_after("layer_norm", x, 1)) if out is None else out
    _call("layer_norm", (out, x, weight), options)
    return out


def rms_norm_gradient(grad, s, weight, rstd, outs=None, **options):
    """The gradients of x and weight; `s` is x, or what rms_norm(..., sum=) wrote, `rstd` what rms_norm(..., rstd=) wrote."""
    outs = outs or tuple(_new("rms_norm_gradient", x, x.shape) for x in (s, weight))
    _call("rms_norm_gradient", (*outs, grad, s, weight, rstd), options, outputs=2)
    return outs


def layer_norm_gradient(grad, s, weight, mean, rstd, outs=None, **options):
    """The gradients of x and weight, and with d_bias= that of the bias."""
    outs = outs or tuple(_new("layer_norm_gradient", x, x.shape) for x in (s, weight))
    _call("layer_norm_gradient", (*outs, grad, s, weight, mean, rstd), options, outputs=2)
    return outs


def rotary(x, cos, sin, out=None, **options):
    """Rotary embedding of x (tokens, heads, d) by tables (positions, pairs) of f32."""
    out = _new("rotary", x, _shape_after("rotary", x, 2)) if out is None else out
    _call("rotary", (out, x, cos, sin), options)
    return out


def cross_entropy(x, target, out=None, **options):
    """log(sum of exp(x)) - x[target] for each row of logits x (rows, classes), in float32; 0 where the int32 target is no class. gradient= is
    written as well."""
    if out is None:
        out = _new("cross_entropy", x, _shape_after("cross_entropy", x, 2)[:-1], "float32")
    _call("cross_entropy", (out, x, target), options)
    return out


def quantise(x, out, scales, **options):
    """x as fp8, bf8 or i8, whichever `out` has; out times its scale is x. scales: float32 (rows), or (rows, cols / 128 rounded up)."""
    _call("quantise", (out, scales, x), options, outputs=2)
    return out, scales


def permute(x, out=None, **options):
    """A copy of x, which may have any strides, to `out`, which may have others; packed if it is left out."""
    out = _new("permute", x, _shape_after("permute", x, 0)) if out is None else out
    _call("permute", (out, x), options)
    return out


def elementwise(expression, x, x2=None, out=None, **options):
    """The value of a C++ expression of x, such as "x * x + 1", or of x and x2, for each element, computed in float32. Each expression is a kernel."""
    out = _new("elementwise", x, _shape_after("elementwise", x, 0)) if out is None else out
    _call("elementwise", (out, x, x2), options, expression=expression)
    return out


def reduce(x, out=None, *, dims=None, **options):
    """The sum of x (kind="sum", "mean" or "maximum") along the dimensions of which `out` has length 1; without it along `dims`, a number or several;
    None: all."""
    if out is None:
        shape = _shape_after("reduce", x, 0)
        chosen = range(len(shape)) if dims is None else (dims,) if isinstance(dims, int) else dims
        out = _new("reduce", x, tuple(1 if i in [d % len(shape) for d in chosen] else n for i, n in enumerate(shape)))
    _call("reduce", (out, x), options)
    return out


def choose_experts(logits, choices, outs=None, **options):
    """The `choices` experts with the largest logits (tokens, experts) for each token, int32 (tokens, choices), and their weights in float32."""
    if outs is None:
        shape = (_shape_after("choose_experts", logits, 2)[0], choices)
        outs = _new("choose_experts", logits, shape, "int32"), _new("choose_experts", logits, shape, "float32")
    _call("choose_experts", (*outs, logits), options, outputs=2)
    return tuple(outs)


def order_by_expert(expert, experts, outs=None, **options):
    """Orders the entries of choose_experts by expert, of which there are `experts`: ends (experts), for grouped_gemm; source, the entry of each row;
    position, the row of each entry, of the shape of `expert`. All int32."""
    if outs is None:
        shape = _shape_after("order_by_expert", expert, 1)
        outs = tuple(_new("order_by_expert", expert, s) for s in ((experts,), shape, shape))
    _call("order_by_expert", (*outs, expert), options, outputs=3)
    return tuple(outs)


def rows_to_experts(x, position, out=None, **options):
    """Rows of x (tokens, cols) at their positions: (tokens times choices, cols); position: what order_by_expert returned, (tokens, choices)."""
    if out is None:
        tokens, choices = _shape_after("rows_to_experts", position, 2)
        out = _new("rows_to_experts", x, (tokens * choices, _shape_after("rows_to_experts", x, 2)[1]))
    _call("rows_to_experts", (out, x, position), options)
    return out


def rows_from_experts(x, position, weight=None, out=None, **options):
    """The sum of each token's rows of x (rows, cols), with weights (tokens, choices) of float32."""
    if out is None:
        out = _new("rows_from_experts", x, (_shape_after("rows_from_experts", position, 2)[0], _shape_after("rows_from_experts", x, 2)[1]))
    _call("rows_from_experts", (out, x, position, weight), options)
    return out


def moe(x, logits, gate_up, down, choices, out=None, **options):
    """A mixture-of-experts layer: the weighted sum of down[e] (silu(gate) * up) over the `choices` experts e of each row of x (tokens, d), which its
    logits (tokens, experts) choose; gate_up (experts, 2 n, d) has the rows of gate and up, down (experts, d, n). logits None: expert= and weight=
    are given."""
    out = _new("moe", x, _shape_after("moe", x, 2)) if out is None else out
    _call("moe", (out, x, logits, gate_up, down), {"choices": choices, **options})
    return out


_ROUTING = ("is_normalised", "score", "score_bias", "groups", "kept_groups", "scale")


def expert_parallel_moe(x, logits, gate_up, down, choices, group=None, out=None, **options):
    """moe of experts that several GPUs have: rank r has experts [r e, (r + 1) e), the e of its gate_up and down, and its own x (tokens, d), of as
    many tokens on each rank; logits (tokens, ranks e). All ranks get all tokens; sums of ranks are rounded to x's type and added in float32 in the
    order of ranks. group: as in all_gather_gemm, with `rank`. No shared experts; the other options are those of moe."""
    group = group if hasattr(group, "all_to_all") else _TorchGroup(group)
    name, (experts, _, d), (tokens, _) = "expert_parallel_moe", _shape_after("expert_parallel_moe", gate_up, 3), _shape_after("expert_parallel_moe", x, 2)
    if logits is None:
        expert, weight = options.pop("expert"), options.pop("weight")
    else:
        if _shape_after(name, logits, 2)[1] != group.size * experts:
            raise Error(f"{name}: logits has {_shape_after(name, logits, 2)[1]} columns, but {group.size} ranks have {experts} experts each")
        outs = tuple(options.pop(k, None) for k in ("expert", "weight"))
        routing = {k: options[k] for k in _ROUTING if k in options}
        expert, weight = choose_experts(logits, choices, None if outs[0] is None else outs, **routing)

    def gather(t, dtype=None):
        all_of_them = _new(name, t, (group.size * tokens, t.shape[1]), dtype)
        group.all_gather(all_of_them, t.contiguous())
        return all_of_them
    partial = moe(gather(x), None, gate_up, down, choices, expert=gather(expert, "int32"), weight=gather(weight, "float32"),
                  first_expert=group.rank * experts, **{k: v for k, v in options.items() if k not in _ROUTING})
    received = _new(name, x, (group.size * tokens, d))
    group.all_to_all(received, partial)
    out = _new(name, x, (tokens, d)) if out is None else out
    reduce(received.view(group.size, tokens, d), out.view(1, tokens, d))
    return out


def moe_gradient(dy, x, logits, gate_up, down, choices, outs=None, **options):
    """Gradients of moe: of x, of the logits, of gate_up and of down, for weights of x's type. The options are those of moe; expert= and weight=, if
    they are given, are what it wrote. outs: four tensors or None where a gradient is not needed."""
    if outs is None:
        outs = tuple(None if t is None else _new("moe_gradient", t, t.shape) for t in (x, logits, gate_up, down))
    d_x, d_logits, d_gate_up, d_down = outs
    _call("moe_gradient", (d_x, d_logits, None, d_gate_up, d_down, dy, x, logits, gate_up, down), {"choices": choices, **options}, outputs=5)
    return tuple(outs)
