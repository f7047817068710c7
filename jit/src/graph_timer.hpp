// SPDX-License-Identifier: MIT
// CUDA graphs of launches, replayed one after another between events.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <tilewright/jit/repeated_launch.hpp>

#include "shared_library.hpp"

namespace tilewright::jit {

/// Of the current context.
class graph_timer {
 public:
  /// require(result, what) throws where a result of the driver is an error.
  using requirement = std::function<void(int, const char*)>;

  graph_timer(const shared_library& driver, requirement require) : require_(std::move(require)) {
    driver.find(begin_capture_, "cuStreamBeginCapture_v2");
    driver.find(end_capture_, "cuStreamEndCapture");
    driver.find(instantiate_, "cuGraphInstantiateWithFlags");
    driver.find(destroy_graph_, "cuGraphDestroy");
    driver.find(launch_, "cuGraphLaunch");
    driver.find(destroy_, "cuGraphExecDestroy");
    driver.find(create_event_, "cuEventCreate");
    driver.find(record_, "cuEventRecord");
    driver.find(elapsed_, "cuEventElapsedTime");
    driver.find(destroy_event_, "cuEventDestroy_v2");
    driver.find(create_stream_, "cuStreamCreate");
    driver.find(wait_, "cuStreamSynchronize");
    driver.find(destroy_stream_, "cuStreamDestroy_v2");
    constexpr unsigned non_blocking = 1;
    require_(create_stream_(&stream_, non_blocking), "making a stream");
  }
  graph_timer(const graph_timer&) = delete;
  graph_timer& operator=(const graph_timer&) = delete;
  ~graph_timer() {
    for (void* const graph : graphs_) (void)destroy_(graph);
    for (void* const event : events_) (void)destroy_event_(event);
    (void)destroy_stream_(stream_);
  }

  void capture(const repeated_launch& launches) {
    constexpr int of_this_thread = 1;
    require_(begin_capture_(stream_, of_this_thread), "capturing launches");
    void *graph = nullptr, *ready = nullptr;
    try {
      for (int i = 0; i < launches.count; ++i) launches.launch(stream_);
    } catch (...) {
      if (end_capture_(stream_, &graph) == 0 && graph != nullptr) (void)destroy_graph_(graph);
      throw;
    }
    require_(end_capture_(stream_, &graph), "capturing launches");
    const int made = instantiate_(&ready, graph, 0);
    (void)destroy_graph_(graph);
    require_(made, "making a graph of launches");
    graphs_.push_back(ready);
  }

  /// Seconds of each graph.
  std::vector<double> replay() {
    for (std::size_t i = events_.size(); i <= graphs_.size(); ++i) {
      void* event = nullptr;
      require_(create_event_(&event, 0), "making an event");
      events_.push_back(event);
    }
    require_(record_(events_[0], stream_), "recording an event");
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
      require_(launch_(graphs_[i], stream_), "replaying launches");
      require_(record_(events_[i + 1], stream_), "recording an event");
    }
    require_(wait_(stream_), "running launches");
    std::vector<double> seconds;
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
      float milliseconds = 0;
      require_(elapsed_(&milliseconds, events_[i], events_[i + 1]), "reading a timer");
      seconds.push_back(milliseconds * 1e-3);
    }
    return seconds;
  }

 private:
  requirement require_;
  void* stream_ = nullptr;
  std::vector<void*> graphs_, events_;
  int (*begin_capture_)(void*, int) = nullptr;
  int (*end_capture_)(void*, void**) = nullptr;
  int (*instantiate_)(void**, void*, unsigned long long) = nullptr;
  int (*destroy_graph_)(void*) = nullptr;
  int (*launch_)(void*, void*) = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*create_event_)(void**, unsigned) = nullptr;
  int (*record_)(void*, void*) = nullptr;
  int (*elapsed_)(float*, void*, void*) = nullptr;
  int (*destroy_event_)(void*) = nullptr;
  int (*create_stream_)(void**, unsigned) = nullptr;
  int (*wait_)(void*) = nullptr;
  int (*destroy_stream_)(void*) = nullptr;
};

}  // namespace tilewright::jit
