# SPDX-License-Identifier: MIT
"""Times of calls that queue work on the current CUDA stream."""
import torch


def seconds_of(calls, repeat):
    """Times of one block of back-to-back launches for each call, in turns."""
    result = []
    for call in calls:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(repeat):
            call()
        end.record()
        end.synchronize()
        result.append(begin.elapsed_time(end) / 1e3 / repeat)
    return result
