# SPDX-License-Identifier: MIT
"""Cross-entropy: logits, targets; loss of each row, and the gradient of their sum."""
import torch
import torch.nn.functional as F

from . import BF16, F32, add, empty, gaussian


def make(gradient):
    return lambda rows, cols: ([gaussian(rows, cols), torch.randint(cols, (rows,), device="cuda")],
                               [empty(rows, dtype=F32), empty(rows, cols) if gradient else None])


def loss(x, target):
    return F.cross_entropy(x, target, reduction="none")


def loss_and_gradient(x, target):
    p = torch.log_softmax(x.to(torch.promote_types(x.dtype, F32)), -1)
    gradient = p.exp()
    gradient.scatter_add_(-1, target.unsqueeze(-1), torch.full_like(gradient[:, :1], -1))
    return -p.gather(-1, target.unsqueeze(-1)).squeeze(-1), gradient.to(x.dtype)


add("cross_entropy_bf16", make(False), loss, tolerance=(5e-3,), numbers=(1,))
add("cross_entropy_gradient_bf16", make(True), loss_and_gradient, tolerance=(5e-3, 5e-3), numbers=(1,))
