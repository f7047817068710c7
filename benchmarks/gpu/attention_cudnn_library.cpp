// SPDX-License-Identifier: MIT
// libattention_cudnn: cuDNN's attention forward through its C++ frontend, a contender of attention_race.py. Compile it
// where the headers of cudnn_frontend and cuDNN are:
//   g++ -std=c++20 -O2 -shared -fPIC -I FRONTEND/include -I CUDA/include attention_cudnn_library.cpp -o
//   libattention_cudnn.so -lcudnn
#include <cudnn_frontend.h>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// What attention_race.py describes: lengths, and strides (batch, head, row) in elements of Q, K, V and O.
struct problem {
  int is_8bit, is_bf16, o_is_8bit;
  int batch, heads, kv_heads, queries, keys, head_dim, value_dim;
  long long strides[4][3];
  int left, right;  // negative: no limit; positions are aligned at the ends
  float scale;
};

struct plan {
  fe::graph::Graph graph;
  cudnnHandle_t handle{};
  tensor q, k, v, o, scales[6], amax[2];  // scales: of Q, K, V, of P back and forth, of O
  int64_t workspace_bytes = 0;
  ~plan() {
    if (handle) cudnnDestroy(handle);
  }
};

std::string message;

tensor add_tensor(fe::graph::Graph& graph, const char* name, const problem& p, int number, int64_t heads, int64_t rows,
                  int64_t dim) {
  const auto& s = p.strides[number];
  return graph.tensor(fe::graph::Tensor_attributes()
                          .set_name(name)
                          .set_dim({p.batch, heads, rows, dim})
                          .set_stride({s[0], s[1], s[2], 1}));
}

void set_up(plan& made, const problem& p) {
  auto& graph = made.graph;
  const auto type = p.is_8bit ? fe::DataType_t::FP8_E4M3 : p.is_bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF;
  graph.set_io_data_type(type)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  made.q = add_tensor(graph, "Q", p, 0, p.heads, p.queries, p.head_dim);
  made.k = add_tensor(graph, "K", p, 1, p.kv_heads, p.keys, p.head_dim);
  made.v = add_tensor(graph, "V", p, 2, p.kv_heads, p.keys, p.value_dim);
  fe::graph::SDPA_attributes options;
  options.set_name("attention").set_generate_stats(false).set_attn_scale(p.scale);
  // With as many queries as keys both alignments are the same; on Hopper 8 bits have the first one only.
  if (p.left >= 0 || p.right >= 0)
    options.set_diagonal_alignment(p.queries == p.keys ? fe::DiagonalAlignment_t::TOP_LEFT
                                                       : fe::DiagonalAlignment_t::BOTTOM_RIGHT);
  if (p.left >= 0) options.set_diagonal_band_left_bound(p.left + 1);
  if (p.right >= 0) options.set_diagonal_band_right_bound(p.right);
  if (p.is_8bit) {
    for (tensor& scale : made.scales)
      scale = graph.tensor(fe::graph::Tensor_attributes()
                               .set_dim({1, 1, 1, 1})
                               .set_stride({1, 1, 1, 1})
                               .set_data_type(fe::DataType_t::FLOAT));
    const auto& s = made.scales;
    auto results = graph.sdpa_fp8(made.q, made.k, made.v, s[0], s[1], s[2], s[3], s[4], s[5], options);
    made.o = results[0];
    for (int i = 0; i < 2; ++i) {
      made.amax[i] = results[2 + i];
      made.amax[i]
          ->set_output(true)
          .set_dim({1, 1, 1, 1})
          .set_stride({1, 1, 1, 1})
          .set_data_type(fe::DataType_t::FLOAT);
    }
  } else {
    made.o = graph.sdpa(made.q, made.k, made.v, options)[0];
  }
  const auto& s = p.strides[3];
  made.o->set_output(true).set_dim({p.batch, p.heads, p.queries, p.value_dim}).set_stride({s[0], s[1], s[2], 1});
  if (p.is_8bit && !p.o_is_8bit) made.o->set_data_type(fe::DataType_t::BFLOAT16);
}

bool is_good(fe::error_t status) {
  if (status.is_bad()) message = status.get_message();
  return status.is_good();
}

}  // namespace

/// A plan for a problem; null where cuDNN has none: then attention_cudnn_message() says why.
extern "C" void* attention_cudnn_plan(const problem* p, long long* workspace_bytes) {
  auto made = std::make_unique<plan>();
  if (cudnnCreate(&made->handle) != CUDNN_STATUS_SUCCESS) {
    message = "cudnnCreate failed";
    return nullptr;
  }
  set_up(*made, *p);
  auto& graph = made->graph;
  if (!is_good(graph.validate()) || !is_good(graph.build_operation_graph(made->handle)) ||
      !is_good(graph.create_execution_plans({fe::HeurMode_t::A})) || !is_good(graph.check_support(made->handle)) ||
      !is_good(graph.build_plans(made->handle)) || !is_good(graph.get_workspace_size(made->workspace_bytes)))
    return nullptr;
  *workspace_bytes = made->workspace_bytes;
  return made.release();
}

/// Queues O = attention(Q, K, V). `scales`: six floats on the GPU, of Q, K, V, 1 / s, s, and of O, where P is stored
/// as e4m3 times s; `amax`: two floats there.
extern "C" int attention_cudnn_run(void* made, const void* q, const void* k, const void* v, void* o, float* scales,
                                   float* amax, void* workspace, cudaStream_t stream) {
  auto& p = *static_cast<plan*>(made);
  std::unordered_map<tensor, void*> pack{
      {p.q, const_cast<void*>(q)}, {p.k, const_cast<void*>(k)}, {p.v, const_cast<void*>(v)}, {p.o, o}};
  for (int i = 0; i < 6; ++i)
    if (p.scales[i]) pack[p.scales[i]] = scales + i;
  for (int i = 0; i < 2; ++i)
    if (p.amax[i]) pack[p.amax[i]] = amax + i;
  cudnnSetStream(p.handle, stream);
  return is_good(p.graph.execute(p.handle, pack, workspace)) ? 0 : 1;
}

extern "C" const char* attention_cudnn_message() { return message.c_str(); }
extern "C" void attention_cudnn_destroy(void* made) { delete static_cast<plan*>(made); }
extern "C" int attention_cudnn_problem_bytes() { return int(sizeof(problem)); }
