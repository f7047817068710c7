// SPDX-License-Identifier: MIT
// Launches in a CUDA graph, which replays them without the host's time between them.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include "device.hpp"

namespace gpu_benchmark {

class launch_graph {
 public:
  launch_graph() = default;
  /// Captures launch(i, stream) for i < launches. Throws std::runtime_error if CUDA refuses.
  template <class Launch>
  launch_graph(int launches, Launch launch) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    const std::unique_ptr<CUstream_st, cudaError_t (*)(cudaStream_t)> owner(stream, cudaStreamDestroy);
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing launches");
    for (int i = 0; i < launches; ++i) launch(i, stream);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream, &graph), "capturing launches");
    const cudaError_t made = cudaGraphInstantiate(&graph_, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(made, "making a graph of launches");
  }
  launch_graph(launch_graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  launch_graph& operator=(launch_graph&& other) noexcept {
    std::swap(graph_, other.graph_);
    return *this;
  }
  ~launch_graph() {
    if (graph_) (void)cudaGraphExecDestroy(graph_);
  }
  void replay() const { check(cudaGraphLaunch(graph_, nullptr), "replaying a graph"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace gpu_benchmark
