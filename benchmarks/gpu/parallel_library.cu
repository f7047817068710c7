// SPDX-License-Identifier: MIT
// libtilewright_parallel: products of several GPUs behind C functions, for benchmarks that load it from Python.
#include "parallel_library.hpp"

#include <cstring>
#include <string>

namespace {

namespace tw = tilewright;

std::string last_error;

/// What f returns; `failed`, with the error's sentence for tilewright_parallel_error, where it throws.
template <class Result, class F>
Result guarded(Result failed, F f) {
  try {
    return f();
  } catch (const std::exception& e) {
    last_error = e.what();
    return failed;
  }
}

}  // namespace

extern "C" {

const char* tilewright_parallel_error() { return last_error.c_str(); }

int tilewright_parallel_id(char* id) {
  static_assert(sizeof(ncclUniqueId) == 128);
  return ncclGetUniqueId(reinterpret_cast<ncclUniqueId*>(id)) == ncclSuccess;
}

void* tilewright_parallel_join(const char* id, int rank, int ranks, int timeout_ms) {
  return guarded<void*>(nullptr, [&] {
    ncclUniqueId unique;
    std::memcpy(&unique, id, sizeof(unique));
    return new tw::parallel::communicator(unique, {rank, ranks}, timeout_ms);
  });
}
void tilewright_parallel_leave(void* ranks) { delete static_cast<tw::parallel::communicator*>(ranks); }
int tilewright_parallel_has_peers(void* ranks) { return static_cast<tw::parallel::communicator*>(ranks)->has_peers(); }

void* tilewright_parallel_allocate(void* ranks, long long bytes) {
  return guarded<void*>(nullptr, [&] {
    return new tw::parallel::peer_memory(static_cast<tw::parallel::communicator*>(ranks)->allocate(bytes));
  });
}
void* tilewright_parallel_pointer(void* memory) { return static_cast<tw::parallel::peer_memory*>(memory)->here(); }
void tilewright_parallel_deallocate(void* memory) { delete static_cast<tw::parallel::peer_memory*>(memory); }

/// c: of an all-reduce, what tilewright_parallel_allocate returned.
void* tilewright_parallel_make(void* ranks, const parallel_request* r, void* c) {
  return guarded<void*>(nullptr, [&] {
    tw::gemm_args args;
    args.a = r->a;
    args.b = r->b;
    args.c = r->c;
    args.m = r->m;
    args.n = r->n;
    args.k = r->k;
    args.lda = r->lda;
    args.ldb = r->ldb;
    args.ldc = r->ldc;
    args.bias = r->bias;
    args.scale = static_cast<const float*>(r->scale);
    args.workspace = r->workspace;
    const std::string type = r->type;
    const auto make = type == "f16" ? make_f16 : type == "bf16" ? make_bf16 : make_e4m3;
    return new parallel_call(make(*static_cast<tw::parallel::communicator*>(ranks), *r, args,
                                  static_cast<const tw::parallel::peer_memory*>(c)));
  });
}
int tilewright_parallel_call(void* call, void* stream) {
  return guarded(0, [&] {
    static_cast<parallel_call*>(call)->run(static_cast<cudaStream_t>(stream));
    return 1;
  });
}
/// Transport and tile.
void tilewright_parallel_choice(void* call, int* choice) {
  const tw::parallel::parallel_choice& c = static_cast<parallel_call*>(call)->choice;
  choice[0] = int(c.transport);
  choice[1] = c.tile;
}
void tilewright_parallel_free(void* call) { delete static_cast<parallel_call*>(call); }

int tilewright_parallel_finish(void* ranks, void* stream) {
  return guarded(0, [&] {
    static_cast<tw::parallel::communicator*>(ranks)->finish(static_cast<cudaStream_t>(stream));
    return 1;
  });
}
}
