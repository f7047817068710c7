// SPDX-License-Identifier: MIT
#include <tilewright/ops/parallel.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <dlfcn.h>

#include <tilewright/jit/given_later.hpp>
#include <tilewright/ops/map.hpp>

#include "device.hpp"
#include "matrix_view.hpp"
#include "moe_layer.hpp"

namespace tilewright::ops {
namespace {

void require_ranks(const char* op, const communicator& ranks) {
  if (ranks.ranks < 1 || ranks.rank < 0 || ranks.rank >= ranks.ranks)
    refuse(op, "rank " + std::to_string(ranks.rank) + " of " + std::to_string(ranks.ranks) +
                   " is none; ranks count from 0");
  if (ranks.ranks > 1 && (!ranks.all_gather || !ranks.all_to_all))
    refuse(op, "the communicator has no functions; set all_gather and all_to_all, or use nccl_communicator");
}

/// Memory for one call, or under explain() a pointer that stands for it. Ranks that share a GPU's stream have one each:
/// it is locked while a collective may wait for the other ranks.
held_workspace hold_for(const char* op, void* stream, const communicator& ranks, long_index_t bytes) {
  if (is_explaining()) return {.data = jit::given_later(0)};
  return device_for(op, stream)->hold(op, stream, 2 + ranks.rank, bytes);
}

/// A collective; nothing happens under explain() and in a rehearsal.
void exchange(const char* op, decltype(communicator::all_gather) collective, const communicator& ranks,
              const void* sent, void* received, long_index_t bytes, void* stream) {
  if (is_explaining() || is_rehearsing()) return;
  if (const char* const why = collective(ranks.context, sent, received, bytes, stream))
    throw operation_error(fault_kind::device_failed, std::string(op) + ": the other ranks: " + why);
}

/// Of all ranks, or of this one: rows of x, and their experts and weights.
struct routed_tokens {
  tensor x;
  moe_routing routing;
};
/// Memory of expert_parallel_moe. own: lists, if the caller gave none, and x where it has gaps.
struct expert_parallel_memory {
  routed_tokens own, all;
  tensor partial, received;  // (ranks x tokens, d): sums of this rank's experts, and of each rank's for own tokens

  expert_parallel_memory(scratch_memory& memory, const rows_view& x, const moe_options& o, int ranks) {
    const long_index_t rows = long_index_t{x.rows} * ranks;
    const auto take = [&](routed_tokens& t, long_index_t tokens) {
      t.x = memory.take(x.type, {tokens, x.cols});
      t.routing.expert = memory.take(element::i32, {tokens, o.choices});
      t.routing.weight = memory.take(element::f32, {tokens, o.choices});
    };
    take(own, x.rows), take(all, rows);
    if (o.expert.data) own.routing.expert = o.expert, own.routing.weight = o.weight;
    partial = memory.take(x.type, {rows, x.cols}), received = memory.take(x.type, {rows, x.cols});
  }
};

struct nccl_functions {
  int (*all_gather)(const void*, void*, std::size_t, int type, void* comm, void* stream) = nullptr;
  int (*send)(const void*, std::size_t, int type, int to, void* comm, void* stream) = nullptr;
  int (*receive)(void*, std::size_t, int type, int from, void* comm, void* stream) = nullptr;
  int (*count)(void* comm, int* ranks) = nullptr;
  int (*start)() = nullptr;
  int (*end)() = nullptr;
  const char* (*text)(int) = nullptr;

  /// All null if there is no library.
  nccl_functions() {
    void* library = nullptr;
    for (const char* name : {"libnccl.so.2", "librccl.so.1", "librccl.so"})
      if (!library) library = dlopen(name, RTLD_NOW);
    if (!library) return;
    const auto find = [library]<class F>(F*& to, const char* name) { to = reinterpret_cast<F*>(dlsym(library, name)); };
    find(all_gather, "ncclAllGather");
    find(send, "ncclSend");
    find(receive, "ncclRecv");
    find(count, "ncclCommCount");
    find(start, "ncclGroupStart");
    find(end, "ncclGroupEnd");
    find(text, "ncclGetErrorString");
  }
  bool are_there() const { return all_gather && send && receive && count && start && end && text; }
};
const nccl_functions& nccl() {
  static const nccl_functions functions;
  return functions;
}
constexpr int bytes_type = 0;  // ncclInt8

const char* nccl_all_gather(void* comm, const void* sent, void* received, std::int64_t bytes, void* stream) {
  const int result = nccl().all_gather(sent, received, std::size_t(bytes), bytes_type, comm, stream);
  return result == 0 ? nullptr : nccl().text(result);
}
const char* nccl_all_to_all(void* comm, const void* sent, void* received, std::int64_t bytes, void* stream) {
  int ranks = 0, result = nccl().count(comm, &ranks);
  if (result == 0) result = nccl().start();
  for (int r = 0; r < ranks && result == 0; ++r) {
    result = nccl().send(static_cast<const char*>(sent) + r * bytes, std::size_t(bytes), bytes_type, r, comm, stream);
    if (result == 0)
      result =
          nccl().receive(static_cast<char*>(received) + r * bytes, std::size_t(bytes), bytes_type, r, comm, stream);
  }
  const int ended = nccl().end();
  result = result != 0 ? result : ended;
  return result == 0 ? nullptr : nccl().text(result);
}

}  // namespace

communicator nccl_communicator(void* comm, int rank, int ranks) {
  if (!nccl().are_there())
    throw operation_error(fault_kind::no_device,
                          "nccl_communicator: neither libnccl.so.2 nor librccl.so can be loaded; install one of them");
  return {rank, ranks, comm, nccl_all_gather, nccl_all_to_all};
}

void all_gather_gemm(const tensor& c, const tensor& a, const tensor& b, const communicator& ranks,
                     const gemm_options& options) {
  constexpr const char* op = "all_gather_gemm";
  require_ranks(op, ranks);
  if (ranks.ranks == 1) return gemm(c, a, b, options);
  const matrix_view own = as_matrix(op, "A", a), out = as_matrix(op, "C", c);
  if (a.rank != 2 || c.rank != 2) refuse(op, "A and C have two dimensions: there are no batches");
  if (!own.along_cols) refuse(op, "A must be contiguous along k");
  if (own.rows > 0x7fffffff / ranks.ranks || out.rows != own.rows * ranks.ranks)
    refuse(op, "C has " + std::to_string(out.rows) + " rows, but " + std::to_string(ranks.ranks) + " ranks have " +
                   std::to_string(own.rows) + " rows of A each");
  const long_index_t row = long_index_t(own.cols) * bytes_of(own.type), bytes = row * own.rows;
  const bool is_packed = own.ld == own.cols || own.rows == 1;
  const held_workspace memory = hold_for(op, options.stream, ranks, bytes * (ranks.ranks + (is_packed ? 0 : 1)));
  const tensor all = packed(memory.data, own.type, {own.rows * ranks.ranks, own.cols}),
               copy = packed(static_cast<char*>(memory.data) + bytes * ranks.ranks, own.type, {own.rows, own.cols});
  run_steps([&] {
    if (!is_packed) permute(copy, a, {.stream = options.stream});
    exchange(op, ranks.all_gather, ranks, is_packed ? own.data : copy.data, memory.data, bytes, options.stream);
    gemm(c, all, b, options);
  });
}

void gemm_reduce_scatter(const tensor& c, const tensor& a, const tensor& b, const communicator& ranks,
                         const reduce_scatter_options& options) {
  constexpr const char* op = "gemm_reduce_scatter";
  require_ranks(op, ranks);
  const gemm_options product{.alpha = options.alpha, .stream = options.stream};
  if (ranks.ranks == 1) return gemm(c, a, b, product);
  const matrix_view out = as_matrix(op, "C", c), left = as_matrix(op, "A", a), right = as_matrix(op, "B", b, false);
  if (a.rank != 2 || b.rank != 2 || c.rank != 2) refuse(op, "A, B and C have two dimensions: there are no batches");
  if (out.type != element::f16 && out.type != element::bf16 && out.type != element::f32)
    refuse(op, std::string("C has ") + name_of(out.type) + "; sums of ranks are f16, bf16 or f32");
  if (!out.along_cols || (out.ld != out.cols && out.rows > 1)) refuse(op, "C must be packed: its rows without gaps");
  if (out.rows > 0x7fffffff / ranks.ranks || left.rows != out.rows * ranks.ranks || right.cols != out.cols)
    refuse(op, "C is " + describe(c) + ", A " + describe(a) + " and B " + describe(b) + "; with " +
                   std::to_string(ranks.ranks) + " ranks they must be (m / ranks, n), (m, k) and (k, n)");
  const long_index_t bytes = long_index_t(out.rows) * out.cols * bytes_of(out.type);
  const held_workspace memory = hold_for(op, options.stream, ranks, 2 * ranks.ranks * bytes);
  void* const received = static_cast<char*>(memory.data) + ranks.ranks * bytes;
  const index_t count = ranks.ranks;
  run_steps([&] {
    gemm(packed(memory.data, out.type, {left.rows, out.cols}), a, b, product);
    exchange(op, ranks.all_to_all, ranks, memory.data, received, bytes, options.stream);
    reduce(packed(c.data, out.type, {1, out.rows, out.cols}), packed(received, out.type, {count, out.rows, out.cols}),
           {.stream = options.stream});
  });
}

void expert_parallel_moe(const tensor& y, const tensor& x, const tensor& logits, const tensor& gate_up,
                         const tensor& down, const communicator& ranks, const moe_options& options) {
  constexpr const char* op = "expert_parallel_moe";
  require_ranks(op, ranks);
  if (ranks.ranks == 1) return moe(y, x, logits, gate_up, down, options);
  const rows_view in = as_rows(op, "x", x), out = as_rows_like(op, "y", y, x, x.type);
  if (options.shared != 0 || options.first_expert != 0)
    refuse(op, "shared and first_expert must be 0: each rank has its own experts");
  if (gate_up.rank != 3 || options.choices < 1) refuse(op, "gate_up has three dimensions, and choices is 1 or more");
  if (logits.data) {
    const rows_view given = as_rows(op, "logits", logits);
    if (given.rows != in.rows || given.cols != ranks.ranks * gate_up.lengths[0])
      refuse(op, "logits is " + describe(logits) + ", but must be (" + std::to_string(in.rows) + ", " +
                     std::to_string(ranks.ranks * gate_up.lengths[0]) + "): all ranks have as many experts");
  } else if (!options.expert.data) {
    refuse(op, "logits is null: give the gate's output, or the options expert and weight");
  }
  if (in.rows == 0) return;
  scratch_memory sizes;
  (void)expert_parallel_memory(sizes, in, options, ranks.ranks);
  const held_workspace held = hold_for(op, options.stream, ranks, sizes.bytes);
  scratch_memory scratch{.base = static_cast<char*>(held.data)};
  const expert_parallel_memory memory(scratch, in, options, ranks.ranks);
  moe_options of_rank = options;
  of_rank.expert = memory.all.routing.expert, of_rank.weight = memory.all.routing.weight;
  of_rank.first_expert = int(ranks.rank * gate_up.lengths[0]);
  const auto gather = [&](const tensor& all, const tensor& own) {
    const long_index_t bytes = own.lengths[0] * own.lengths[1] * bytes_of(own.type);
    exchange(op, ranks.all_gather, ranks, own.data, all.data, bytes, options.stream);
  };
  run_steps([&] {
    choose_entries(op, memory.own.routing, logits, options);
    const bool is_packed = in.stride == in.cols || in.rows == 1;
    if (!is_packed) permute(memory.own.x, x, {.stream = options.stream});
    gather(memory.all.x, is_packed ? packed(in.data, in.type, {in.rows, in.cols}) : memory.own.x);
    gather(memory.all.routing.expert, memory.own.routing.expert);
    gather(memory.all.routing.weight, memory.own.routing.weight);
    moe(memory.partial, memory.all.x, {}, gate_up, down, of_rank);
    exchange(op, ranks.all_to_all, ranks, memory.partial.data, memory.received.data,
             long_index_t{in.rows} * in.cols * bytes_of(in.type), options.stream);
    reduce(strided(out.data, out.type, {1, out.rows, out.cols}, {out.rows * out.stride, out.stride, 1}),
           packed(memory.received.data, in.type, {ranks.ranks, in.rows, in.cols}), {.stream = options.stream});
  });
}

}  // namespace tilewright::ops
