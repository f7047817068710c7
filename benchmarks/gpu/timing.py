# SPDX-License-Identifier: MIT
"""Times of calls that queue work on the current CUDA stream: in CUDA graphs, interleaved, and the host's time for a call."""
import functools
import statistics
import time

import torch


@functools.cache
def capture_stream():
    """The stream on which graphs are captured: autograd's backward runs where its forward ran."""
    return torch.cuda.Stream()


def in_graph(call, launches):
    """A CUDA graph of that many calls."""
    stream = capture_stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call()  # what allocates or compiles does so before the capture
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(launches):
            call()
    return graph


def host_seconds_of(call, launches=16, blocks=7):
    """What the host needs for one call while the stream has room for more; the median of some blocks."""
    seconds = []
    for _ in range(blocks):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(launches):
            call()
        seconds.append((time.perf_counter() - begin) / launches)
    torch.cuda.synchronize()
    return statistics.median(seconds)


class Race:
    """Calls against each other. A block of each replays a graph of launches for about `seconds`; blocks are interleaved, every other round
    backwards. Calls that cannot be captured are launched into the stream: `in_stream` names them."""

    def __init__(self, calls, seconds, most=256):
        self.calls, self.blocks, self.in_stream = dict(calls), {}, []
        for name, call in self.calls.items():
            call()
            once = self._seconds(call)
            launches = max(1, min(most, int(seconds / max(once, 1e-6))))
            replays = max(1, int(seconds / max(once * launches, 1e-6)))
            try:
                block = in_graph(call, launches).replay
            except RuntimeError:
                torch.cuda.synchronize()
                self.in_stream.append(name)
                block = lambda call=call, launches=launches: [call() for _ in range(launches)]
            self.blocks[name] = (block, replays, launches * replays)

    @staticmethod
    def _seconds(work):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3

    def times(self, rounds):
        """Of each round the seconds of one launch by name. A round before them warms up."""
        result = []
        for i in range(rounds + 1):
            order = list(self.blocks) if i % 2 else list(reversed(self.blocks))
            row = {name: self._seconds(lambda b=self.blocks[name]: [b[0]() for _ in range(b[1])]) / self.blocks[name][2] for name in order}
            result.append(row)
        return result[1:]

    def host_us(self):
        """Microseconds of the host for one call, by name."""
        return {name: host_seconds_of(call) * 1e6 for name, call in self.calls.items()}
