# SPDX-License-Identifier: MIT
"""Gradients of RMSNorm and LayerNorm: dy, x, weight, mean, rstd; dx, dweight, dbias."""
import torch

from . import BF16, F32, add, empty, gaussian


def make(is_layer_norm):
    def tensors(rows, cols):
        x = gaussian(rows, cols)
        mean = x.mean(-1, dtype=F32) if is_layer_norm else None
        centred = x.float() - mean.unsqueeze(-1) if is_layer_norm else x.float()
        rstd = torch.rsqrt(centred.pow(2).mean(-1) + 1e-5)
        return ([gaussian(rows, cols), x, gaussian(cols), mean, rstd],
                [empty(rows, cols), empty(cols), empty(cols) if is_layer_norm else None])
    return tensors


def rms_norm_gradient(dy, x, weight, rstd):
    wide = torch.promote_types(x.dtype, F32)
    factor = rstd.unsqueeze(-1)
    e, g = x.to(wide) * factor, dy.to(wide) * weight.to(wide)
    dx = factor * (g - e * (g * e).mean(-1, keepdim=True))
    return dx.to(x.dtype), (dy.to(wide) * e).sum(0).to(x.dtype)


def exact_layer_norm_gradient(dy, x, weight, mean, rstd):
    e, g = (x - mean.unsqueeze(-1)) * rstd.unsqueeze(-1), dy * weight
    dx = rstd.unsqueeze(-1) * (g - g.mean(-1, keepdim=True) - e * (g * e).mean(-1, keepdim=True))
    return dx, (dy * e).sum(0), dy.sum(0)


def layer_norm_gradient(dy, x, weight, mean, rstd):
    return torch.ops.aten.native_layer_norm_backward(dy, x, x.shape[-1:], mean.unsqueeze(-1), rstd.unsqueeze(-1), weight, weight, [True] * 3)


add("rms_norm_gradient_bf16", make(False), rms_norm_gradient, tolerance=(5e-3,) * 2)
add("layer_norm_gradient_bf16", make(True), layer_norm_gradient, exact_layer_norm_gradient, tolerance=(5e-3,) * 3)
