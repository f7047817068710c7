# SPDX-License-Identifier: MIT
"""Routing to experts: logits to choices; choices to an order; rows to the experts' places and back."""
import torch

from . import BF16, F32, add, empty, gaussian

INT32 = torch.int32


def make_logits(dtype):
    return lambda tokens, experts, choices: ([gaussian(tokens, experts, dtype=dtype)],
                                             [empty(tokens, choices, dtype=INT32), empty(tokens, choices, dtype=F32)])


def choose(choices):
    def function(x):
        values, experts = x.topk(choices, -1)
        return experts, torch.softmax(values.float(), -1)
    return function


def choose_first_of_equals(choices):
    def function(x):
        values, experts = x.sort(dim=-1, descending=True, stable=True)
        return experts[:, :choices], torch.softmax(values[:, :choices], -1)
    return function


def make_choices(tokens, experts, choices):
    chosen = torch.rand(tokens, experts, device="cuda").topk(choices, -1).indices.to(INT32)
    return [chosen], [empty(experts, dtype=INT32), empty(tokens * choices, dtype=INT32), empty(tokens * choices, dtype=INT32)]


def order(experts):
    def function(chosen):
        flat = chosen.flatten()
        source = torch.sort(flat, stable=True).indices
        position = torch.empty_like(source)
        position[source] = torch.arange(flat.numel(), device="cuda")
        counts = torch.zeros(experts, device="cuda", dtype=torch.int64)  # bincount would wait for the GPU
        return counts.scatter_add_(0, flat.long(), torch.ones_like(source)).cumsum(0), source, position
    return function


def source_and_place(tokens, choices):
    source = torch.randperm(tokens * choices, device="cuda")
    position = torch.empty_like(source)
    position[source] = torch.arange(tokens * choices, device="cuda")
    return source.to(INT32), position.to(INT32)


def make_scattered(tokens, choices, cols):
    source, position = source_and_place(tokens, choices)
    return [gaussian(tokens, cols), position, None, source], [empty(tokens * choices, cols)]


def make_combined(tokens, choices, cols):
    return ([gaussian(tokens * choices, cols), source_and_place(tokens, choices)[1], torch.rand(tokens * choices, device="cuda")],
            [empty(tokens, cols)])


def scatter(choices):
    return lambda x, position, source: x[source // choices]  # PyTorch gathers: it has no row that goes to several places


def combine(choices):
    return lambda x, position, weight: ((x[position] * weight.unsqueeze(-1)).unflatten(0, (-1, choices)).sum(1)).to(x.dtype)


def draw_tokens(experts, choices):
    return lambda random, elements, _: (round(elements / experts * 2 ** random.uniform(0, 1)), experts, choices)


def draw_rows(choices):
    def draw(random, elements, _):
        cols = round(2 ** random.uniform(10, 14)) // 8 * 8
        return elements // choices // cols, choices, cols
    return draw


for experts, choices in ((128, 8), (256, 8), (64, 6)):
    name = f"_{experts}_{choices}"
    for kind, dtype in (("f32", F32), ("bf16", BF16)):
        add(f"choose_experts_{kind}" + name, make_logits(dtype), choose(choices), choose_first_of_equals(choices), tolerance=(0, 1e-5),
            kernel=f"choose_experts_{kind}", element_bytes=dtype.itemsize,
            shapes=((65536, experts, choices), (2**27 // experts // dtype.itemsize, experts, choices)), draw=draw_tokens(experts, choices))
    add("order_by_expert" + name, make_choices, order(experts), tolerance=(0, 0, 0), kernel="order_by_expert",
        shapes=((1024, experts, choices), (8192, experts, choices), (131072, experts, choices), (2**21, experts, choices)),
        draw=lambda random, *_, of=(experts, choices): (round(2 ** random.uniform(10, 21)), *of))
add("choose_experts_f32", make_logits(F32), choose(10), choose_first_of_equals(10), tolerance=(0, 1e-5), element_bytes=4,
    shapes=((2**25 // 512, 512, 10), (2**25 // 60, 60, 10), (2**25 // 160, 160, 10)),
    draw=lambda random, elements, multiple: (lambda experts: (elements // experts, experts, 10))(random.randrange(16, 513) // min(multiple, 4) * min(multiple, 4)))
rows = ((8192, 8, 4096), (32768, 4, 1024))
for choices in (8, 4):
    shapes = tuple(s for s in rows if s[1] == choices)
    add(f"scatter_rows_{choices}_bf16", make_scattered, scatter(choices), kernel="scatter_rows_bf16", shapes=shapes, draw=draw_rows(choices))
    add(f"combine_rows_{choices}_bf16", make_combined, combine(choices), tolerance=(5e-3,), kernel="combine_rows_bf16", shapes=shapes,
        draw=draw_rows(choices))
