# SPDX-License-Identifier: MIT
"""RMSNorm and LayerNorm: x, residual, weight, bias; y, sum, scale."""
import torch
import torch.nn.functional as F

from . import BF16, E4M3, F32, add, empty, gaussian


def rms_norm(x, weight, eps=1e-5):
    s = x.float()
    return (s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + eps) * weight.float()).to(x.dtype)


def add_rms_norm(x, residual, weight):
    s = x + residual
    return rms_norm(s, weight), s


def quantised_rms_norm(x, weight):
    s = x.float()
    y = s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + 1e-5) * weight.float()
    scale = y.abs().amax(-1, keepdim=True) / 448
    return (y / scale).to(E4M3), scale.squeeze(-1)


def exact_rms_norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


def make(residual=False, bias=False, result=BF16):
    def tensors(rows, cols):
        matrix = lambda wanted: gaussian(rows, cols) if wanted else None
        return ([gaussian(rows, cols), matrix(residual), gaussian(cols), gaussian(cols) if bias else None],
                [empty(rows, cols, dtype=result), empty(rows, cols) if residual else None,
                 empty(rows, dtype=F32) if result == E4M3 else None])
    return tensors


def layer_norm(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def exact_add_rms_norm(x, residual, weight):
    s = x + residual
    return exact_rms_norm(s, weight), s


eps = (1e-5,)
add("rms_norm_bf16", make(), rms_norm, exact_rms_norm, tolerance=(5e-3,), numbers=eps)
# The sum is rounded before it is normalised.
add("add_rms_norm_bf16", make(residual=True), add_rms_norm, exact_add_rms_norm, tolerance=(1e-2, 5e-3), kernel="rms_norm_bf16", numbers=eps)
add("layer_norm_bf16", make(bias=True), layer_norm, tolerance=(5e-3,), numbers=eps)
add("rms_norm_bf16_e4m3", make(result=E4M3), quantised_rms_norm, exact_rms_norm, tolerance=(4e-2,), numbers=eps,
    outputs=lambda y, scale: y.double() * scale.double().unsqueeze(-1))
