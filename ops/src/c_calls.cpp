// SPDX-License-Identifier: MIT
#include "c_calls.hpp"

#include <exception>
#include <optional>
#include <vector>

#include <tilewright/jit/archive.hpp>
#include <tilewright/ops.hpp>
#include <tilewright/version.hpp>

#include "call.hpp"

namespace tilewright::ops {
namespace {

static_assert(int(element::i32) == TILEWRIGHT_I32 && tensor::max_rank == TILEWRIGHT_MAX_RANK &&
              int(activation::silu) == TILEWRIGHT_SILU && int(fault_kind::device_failed) == TILEWRIGHT_DEVICE_FAILED);

thread_local std::string last_error, last_explanation;
/// Of tilewright_begin_explain().
thread_local std::optional<std::vector<explanation>> collected;

activation activation_of(const char* operation, int value) {
  if (value < TILEWRIGHT_NO_ACTIVATION || value > TILEWRIGHT_SILU)
    refuse(operation, "activate is " + std::to_string(value) + ", which is no tilewright_activation");
  return activation(value);
}

gemm_options options_for(const char* operation, const tilewright_gemm_options& o) {
  return {.alpha = o.alpha,
          .scale = optional(o.scale),
          .row_scale = optional(o.row_scale),
          .column_scale = optional(o.column_scale),
          .bias = optional(o.bias),
          .activate = activation_of(operation, o.activate),
          .residual = optional(o.residual),
          .beta = o.beta,
          .gate = optional(o.gate),
          .choice = o.choice,
          .workspace = o.workspace,
          .workspace_bytes = o.workspace_bytes,
          .stream = o.stream};
}

}  // namespace

communicator as_communicator(const char* operation, const tilewright_communicator* given) {
  if (given == nullptr) refuse(operation, "the communicator is a null pointer");
  const auto c = options_of(operation, given, tilewright_communicator{sizeof *given, 0, 1, nullptr, nullptr, nullptr});
  return {c.rank, c.ranks, c.context, c.all_gather, c.all_to_all};
}

tilewright_status guarded(const char* operation, void (*work)(void*), void* data) {
  last_error.clear();
  try {
    work(data);
    return TILEWRIGHT_OK;
  } catch (const operation_error& e) {
    last_error = e.what();
    return tilewright_status(e.kind);
  } catch (const std::exception& e) {
    last_error = std::string(operation) + ": " + e.what();
    return TILEWRIGHT_INTERNAL;
  }
}

void read_options(const char* operation, void* to, const void* from, std::size_t bytes) {
  std::size_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < sizeof size || size > (std::size_t{1} << 16))
    refuse(operation, "the options' size is " + std::to_string(size) +
                          "; initialise them with the macro of their name, such as TILEWRIGHT_GEMM_OPTIONS");
  std::memcpy(to, from, size < bytes ? size : bytes);
  for (std::size_t i = bytes; i < size; ++i)
    if (static_cast<const char*>(from)[i] != 0)
      refuse(operation, "the options have members that this version of the library does not know; update it");
}

tensor required(const char* operation, const char* name, const tilewright_tensor* t) {
  if (t == nullptr) refuse(operation, std::string(name) + " is a null pointer; give a tensor");
  return optional(t);
}
tensor optional(const tilewright_tensor* t) {
  if (t == nullptr) return {};
  tensor r{.data = t->data, .type = element(t->type), .rank = t->rank};
  for (int i = 0; i < tensor::max_rank; ++i) r.lengths[i] = t->lengths[i], r.strides[i] = t->strides[i];
  return r;
}

}  // namespace tilewright::ops

using namespace tilewright::ops;
namespace ops = tilewright::ops;
using ops::call_c, ops::guarded, ops::operands, ops::optional;

extern "C" {

const char* tilewright_last_error(void) { return ops::last_error.c_str(); }
int tilewright_version(void) { return TILEWRIGHT_VERSION; }

tilewright_status tilewright_configure(const tilewright_library_options* given) {
  return call_c("configure", given, TILEWRIGHT_LIBRARY_OPTIONS, [&](const operands&, const auto& o) {
    library_options options;
    if (o.cache_directory) options.jit.cache.directory = o.cache_directory;
    for (std::size_t i = 0; i < o.num_archives; ++i) options.jit.archives.push_back(o.archives[i]);
    if (o.compiler) options.jit.compiler = o.compiler;
    if (o.forbid_compiling) options.jit.on_miss = tilewright::jit::miss::fail;
    if (o.emulate) options.emulate = o.emulate;
    configure(options);
  });
}
tilewright_status tilewright_release_workspaces(void* stream) {
  return guarded("release_workspaces", [&] { release_workspaces(stream); });
}

tilewright_status tilewright_add_archive(const void* data, size_t bytes) {
  return guarded("add_archive", [&] {
    if (data == nullptr) ops::refuse("add_archive", "data is a null pointer; give an archive of tilewright-pack");
    try {
      tilewright::jit::add_program_archive({static_cast<const char*>(data), bytes});
    } catch (const tilewright::jit::error& e) {
      ops::refuse("add_archive", std::string(e.what()).substr(5));
    }
  });
}

void tilewright_begin_explain(void) {
  ops::collected.emplace();
  ops::collect_explanations(&*ops::collected);
}
const char* tilewright_end_explain(void) {
  ops::collect_explanations(nullptr);
  if (!ops::collected) return nullptr;
  ops::last_explanation.clear();
  for (const explanation& e : *ops::collected)
    ops::last_explanation += e.operation + ": " + e.kernel + " for " + e.target + ", " + e.provider +
                             (e.choice.empty() ? "" : "; choice: " + e.choice) +
                             (e.reason.empty() ? "" : "; " + e.reason) + "\n";
  ops::collected.reset();
  return ops::last_explanation.c_str();
}

tilewright_status tilewright_gemm(const tilewright_tensor* c, const tilewright_tensor* a, const tilewright_tensor* b,
                                  const tilewright_gemm_options* given) {
  return call_c("gemm", given, TILEWRIGHT_GEMM_OPTIONS, [&](const operands& in, const auto& o) {
    gemm(in("C", c), in("A", a), in("B", b), ops::options_for("gemm", o));
  });
}

tilewright_status tilewright_nccl_communicator(tilewright_communicator* to, void* comm, int32_t rank, int32_t ranks) {
  return guarded("nccl_communicator", [&] {
    if (to == nullptr) ops::refuse("nccl_communicator", "to is a null pointer; give a tilewright_communicator");
    const communicator made = nccl_communicator(comm, rank, ranks);
    *to = {sizeof *to, made.rank, made.ranks, made.context, made.all_gather, made.all_to_all};
  });
}
tilewright_status tilewright_all_gather_gemm(const tilewright_tensor* c, const tilewright_tensor* a,
                                             const tilewright_tensor* b, const tilewright_communicator* ranks,
                                             const tilewright_gemm_options* given) {
  constexpr const char* op = "all_gather_gemm";
  return call_c(op, given, TILEWRIGHT_GEMM_OPTIONS, [&](const operands& in, const auto& o) {
    all_gather_gemm(in("C", c), in("A", a), in("B", b), ops::as_communicator(op, ranks), ops::options_for(op, o));
  });
}
tilewright_status tilewright_gemm_reduce_scatter(const tilewright_tensor* c, const tilewright_tensor* a,
                                                 const tilewright_tensor* b, const tilewright_communicator* ranks,
                                                 const tilewright_reduce_scatter_options* given) {
  constexpr const char* op = "gemm_reduce_scatter";
  return call_c(op, given, TILEWRIGHT_REDUCE_SCATTER_OPTIONS, [&](const operands& in, const auto& o) {
    gemm_reduce_scatter(in("C", c), in("A", a), in("B", b), ops::as_communicator(op, ranks),
                        {.alpha = o.alpha, .stream = o.stream});
  });
}

tilewright_status tilewright_narrow_gemm(const tilewright_tensor* c, const tilewright_tensor* a,
                                         const tilewright_tensor* codes, const tilewright_tensor* scales,
                                         const tilewright_narrow_gemm_options* given) {
  constexpr const char* op = "narrow_gemm";
  return guarded(op, [&] {
    const auto o = options_of(op, given, tilewright_narrow_gemm_options TILEWRIGHT_NARROW_GEMM_OPTIONS);
    const narrow_weights b{.format = weight_format(o.format),
                           .codes = required(op, "codes", codes),
                           .scales = required(op, "scales", scales),
                           .zeros = optional(o.zeros),
                           .group = o.group};
    const gemm_options options{.alpha = o.alpha,
                               .scale = optional(o.scale),
                               .row_scale = optional(o.row_scale),
                               .column_scale = optional(o.column_scale),
                               .bias = optional(o.bias),
                               .activate = ops::activation_of(op, o.activate),
                               .residual = optional(o.residual),
                               .beta = o.beta,
                               .workspace = o.workspace,
                               .workspace_bytes = o.workspace_bytes,
                               .stream = o.stream};
    const tensor to = required(op, "C", c), from = required(op, "A", a);
    if (o.a_scales == nullptr) return narrow_gemm(to, from, b, options);
    narrow_gemm(
        to, {.format = weight_format(o.a_format), .codes = from, .scales = optional(o.a_scales), .group = o.a_group}, b,
        options);
  });
}

}  // extern "C"
