// SPDX-License-Identifier: MIT
// Kernels of a set are found by asking for the kernel of each of many problems: requests say which kernel a problem
// has.
#include "sets.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/given_later.hpp>
#include <tilewright/jit/grouped.hpp>
#include <tilewright/jit/narrow_gemm.hpp>
#include <tilewright/jit/routing.hpp>
#include <tilewright/jit/rows.hpp>
#include <tilewright/jit/tensor.hpp>
#include <tilewright/kernels/gemm/choice/choice_name.hpp>

namespace pack {
namespace {

namespace jit = tilewright::jit;
using jit::element;
using tilewright::index_t;
using tilewright::long_index_t;

bool has_8_bits(element e) { return e == element::fp8 || e == element::bf8 || e == element::i8; }
int bytes_of(element e) { return has_8_bits(e) ? 1 : e == element::f16 || e == element::bf16 ? 2 : 4; }

/// Kernels on a target, each once.
class collection {
 public:
  explicit collection(std::string target) : target_(std::move(target)) {}

  const std::string& target() const { return target_; }
  /// The kernel of a problem. What no kernel computes is left out, but the sentence is kept.
  void add(const std::function<jit::kernel_request()>& request) {
    try {
      jit::kernel_source source = request()(target_);
      if (texts_.insert(source.code + source.kernel + source.problem).second) sources_.push_back(std::move(source));
    } catch (const jit::error& e) {
      refusal_ = std::string(e.what()).substr(5);
    }
  }
  std::vector<jit::kernel_source> take(const std::string& operation) {
    if (sources_.empty()) throw jit::error(operation + " has no kernels for " + target_ + ": " + refusal_);
    return std::move(sources_);
  }

 private:
  std::string target_, refusal_ = "these types are not computed";
  std::set<std::string> texts_;
  std::vector<jit::kernel_source> sources_;
};

/// add(cols, stride) for rows of all lengths that a tile may be for, aligned and not; or of the set's lengths.
template <class Add>
void for_each_row(const kernel_set& s, Add add) {
  for (const int cols : s.lengths) add(cols, cols);
  if (!s.lengths.empty()) return;
  for (index_t cols = 8; cols <= 140000; cols += cols < 16384 ? 64 : 1024) {
    add(cols, cols);
    add(cols, cols + 1);
  }
}

// GEMM

/// For 300 GEMMs of published models' layers with 1 to 16,384 rows these take longer than the best tile of a problem,
/// in the mean of predicted times, by 0.1 % on gfx942 and gfx950, 0.0 % on gfx1201, 0.9 % on sm_80. Tiles for Hopper:
/// linked_hopper_tiles.
constexpr const char* portable_tiles[] = {"16x64", "64x64", "128x128", "direct_128x128", "one_wave"};

/// m, n and k, whole vectors and not, few rows and many.
constexpr index_t product_lengths[][3] = {{4096, 4096, 4096}, {256, 512, 2048}, {64, 4096, 4096},   {16, 4096, 8192},
                                          {1, 512, 4096},     {1, 4096, 4096},  {4001, 4001, 4001}, {100, 401, 1001},
                                          {1, 401, 1001},     {16, 2050, 1026}, {4000, 4004, 4004}};

jit::gemm_problem gemm_problem_of(const kernel_set& s, const std::string& order, const index_t (&lengths)[3]) {
  jit::gemm_problem p;
  p.type = s.type;
  p.result = s.result;
  p.a_along_k = order.starts_with("k-");
  p.b_along_k = order.ends_with("-k");
  p.for_all_lengths = true;
  tilewright::gemm_args& g = p.args;
  g.m = lengths[0], g.n = lengths[1], g.k = lengths[2];
  g.lda = p.a_along_k ? g.k : g.m, g.ldb = p.b_along_k ? g.k : g.n, g.ldc = g.n;
  g.split_k = 0;
  g.workspace = jit::given_later(4);
  return p;
}

/// Tiles of one problem. Where kernels for Hopper compute it, none of the others is needed; for elements that make no
/// whole vector one is enough.
void add_gemm(collection& to, jit::gemm_problem p) {
  const auto is_among = [](const auto& tiles, const std::string& tile) {
    return std::find(std::begin(tiles), std::end(tiles), tile) != std::end(tiles);
  };
  bool has_hopper_kernel = false;
  for (const jit::gemm_candidate& c : jit::rank_gemm(p, to.target())) {
    const std::string tile = tilewright::choice_name::parse(c.choice)->tile;
    const bool is_for_hopper = c.kernel.starts_with("gemm_hopper_") || c.kernel.starts_with("gemm_small_m");
    has_hopper_kernel = has_hopper_kernel || is_for_hopper;
    const bool one_is_enough = p.has_gate || c.kernel.ends_with("_v1");
    const bool is_needed =
        is_for_hopper ||
        (!has_hopper_kernel && (one_is_enough ? tile == "128x128" && c.split_k == 1 : is_among(portable_tiles, tile)));
    if (!is_needed) continue;
    p.policy = c.choice;
    to.add([&] { return jit::gemm(p); });
  }
}

void collect_gemm(collection& to, const kernel_set& s) {
  for (const std::string& order : s.orders)
    for (const auto& lengths : product_lengths) {
      jit::gemm_problem p = gemm_problem_of(s, order, lengths);
      add_gemm(to, p);
      if (s.type == element::i8) continue;
      p.has_gate = true;
      p.args.product_stride_b = long_index_t(p.args.n) * p.args.k;
      add_gemm(to, p);
    }
}

/// Lengths that groups, or the whole, may have: few and many, whole vectors and not.
void add_grouped_gemm(collection& to, jit::grouped_problem p, index_t rows, index_t groups) {
  const bool by_rows = p.groups == tilewright::group_kind::rows;
  p.for_all_lengths = true;
  for (const index_t n : {512, 3544, 8192, 404, 402, 401})
    for (const index_t k : {16, 512, 4096, 404, 402, 401}) {
      tilewright::grouped_args& g = p.args;
      g.m = by_rows ? rows : n, g.n = n, g.k = by_rows ? k : rows;
      g.lda = p.a_along_k ? g.k : g.m, g.ldb = p.b_along_k ? g.k : g.n, g.ldc = g.n;
      g.groups = groups;
      g.batch_stride_b = by_rows ? long_index_t(g.n) * g.k : 0;
      g.batch_stride_c = by_rows ? 0 : long_index_t(g.m) * g.n;
      g.ends = static_cast<const index_t*>(jit::given_later(5));
      g.workspace = jit::given_later(6);
      to.add([&] { return jit::grouped_gemm(p); });
    }
}
void collect_grouped_gemm(collection& to, const kernel_set& s) {
  for (const tilewright::group_kind kind : {tilewright::group_kind::rows, tilewright::group_kind::k})
    for (const std::string& order : s.orders)
      for (const index_t rows : {100, 1000, 10000, 100000})
        for (const index_t groups : {1, 8, 64, 256}) {
          const bool a_along_k = order.starts_with("k-"), b_along_k = order.ends_with("-k");
          add_grouped_gemm(to, {s.type, s.result, a_along_k, b_along_k, kind}, rows, groups);
        }
}

// Attention

template <class Problem>
Problem attention_of(const kernel_set& s, const std::string& dims) {
  Problem p;
  p.type = s.type;
  p.head_dim = std::atoi(dims.c_str());
  const std::size_t dash = dims.find('-');
  p.value_dim = dash == std::string::npos ? p.head_dim : std::atoi(dims.c_str() + dash + 1);
  p.args.queries = p.args.keys = 4096;
  p.args.q_strides = p.args.k_strides = {0, p.head_dim, p.head_dim};
  p.args.v_strides = p.args.o_strides = {0, p.value_dim, p.value_dim};
  p.args.lse_strides = {1, 1, 1};
  p.args.scale = 1;
  return p;
}

void collect_attention(collection& to, const kernel_set& s) {
  for (const std::string& dims : s.head_dims) {
    auto p = attention_of<jit::attention_problem>(s, dims);
    p.for_all_lengths = true;
    to.add([&] { return jit::attention(p); });
    p.args.keys = 128;
    p.args.window.right = 0;
    to.add([&] { return jit::attention(p); });
  }
}
void collect_backward(collection& to, const kernel_set& s) {
  for (const std::string& dims : s.head_dims) {
    auto p = attention_of<jit::attention_backward_problem>(s, dims);
    p.args.d_o_strides = p.args.o_strides, p.args.d_q_strides = p.args.q_strides;
    p.args.d_k_strides = p.args.k_strides, p.args.d_v_strides = p.args.v_strides;
    to.add([&] { return jit::attention_backward(p); });
  }
}
void collect_decode(collection& to, const kernel_set& s) {
  for (const std::string& dims : s.head_dims)
    to.add([&] { return jit::attention_decode(attention_of<jit::attention_decode_problem>(s, dims)); });
}

// Rows

template <tilewright::norm_kind Kind>
void collect_norm(collection& to, const kernel_set& s) {
  using enum tilewright::scale_kind;
  for (const tilewright::scale_kind scales : {none, per_row, per_128})
    for_each_row(s, [&](index_t cols, index_t stride) {
      if ((scales == none) == has_8_bits(s.result)) return;
      jit::norm_problem p{s.type, s.result, scales, Kind};
      p.args.rows = 2, p.args.cols = cols;
      p.args.x_stride = p.args.y_stride = stride;
      p.args.scale_row_stride = p.args.scale_group_stride = 1;
      to.add([&] { return jit::row_norm(p); });
    });
}
template <tilewright::norm_kind Kind>
void collect_norm_gradient(collection& to, const kernel_set& s) {
  for_each_row(s, [&](index_t cols, index_t stride) {
    jit::norm_gradient_problem p{s.type, Kind};
    p.args.rows = 2, p.args.cols = cols;
    p.args.dy_stride = p.args.s_stride = p.args.dx_stride = stride;
    to.add([&] { return jit::norm_gradient(p); });
  });
}
void collect_softmax(collection& to, const kernel_set& s) {
  for (const auto kind : {tilewright::softmax_kind::softmax, tilewright::softmax_kind::log_softmax})
    for_each_row(s, [&](index_t cols, index_t stride) {
      jit::softmax_problem p{s.type, kind};
      p.args.rows = 2, p.args.cols = cols;
      p.args.x_stride = p.args.y_stride = stride;
      to.add([&] { return jit::softmax(p); });
    });
}
void collect_quantise(collection& to, const kernel_set& s) {
  for (const auto scales : {tilewright::scale_kind::per_row, tilewright::scale_kind::per_128})
    for_each_row(s, [&](index_t cols, index_t stride) {
      jit::quantise_problem p{s.type, has_8_bits(s.result) ? s.result : element::fp8, scales};
      p.args.rows = 2, p.args.cols = cols;
      p.args.x_stride = p.args.y_stride = stride;
      p.args.scale_row_stride = p.args.scale_group_stride = 1;
      to.add([&] { return jit::quantise_rows(p); });
    });
}
void collect_cross_entropy(collection& to, const kernel_set& s) {
  using enum tilewright::cross_entropy_kind;
  for (const tilewright::cross_entropy_kind kind : {loss, loss_and_gradient})
    for_each_row(s, [&](index_t cols, index_t stride) {
      jit::cross_entropy_problem p{s.type, kind};
      p.args.rows = 2, p.args.cols = cols;
      p.args.x_stride = p.args.gradient_stride = stride;
      to.add([&] { return jit::cross_entropy(p); });
    });
}
void collect_rotary(collection& to, const kernel_set& s) {
  for (const auto kind : {tilewright::rotary_kind::half_split, tilewright::rotary_kind::interleaved})
    for (const index_t pairs : {64, 5}) {
      jit::rotary_problem p{s.type, kind};
      p.args.pairs = pairs;
      p.args.tokens = p.args.heads = 2;
      p.args.max_position = 1;
      p.args.x_head_stride = p.args.y_head_stride = 2 * pairs;
      p.args.x_token_stride = p.args.y_token_stride = 4 * pairs;
      to.add([&] { return jit::rotary(p); });
    }
}

// Tensors

/// y = x with dimensions in another order: y's strides in x's order, and x's own.
void add_permute(collection& to, int bytes, std::vector<long_index_t> lengths, const std::vector<int>& order,
                 long_index_t gap) {
  jit::permute_problem p{.element_bytes = bytes};
  const auto dims = index_t(lengths.size());
  p.args.x.dims = p.args.y.dims = dims;
  long_index_t x_stride = 1, y_stride = 1;
  for (index_t d = dims; d-- > 0;) {
    p.args.x.lengths[d] = p.args.y.lengths[d] = lengths[std::size_t(d)];
    p.args.x.strides[d] = x_stride;
    x_stride *= lengths[std::size_t(d)] + (d == dims - 1 ? gap : 0);
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto d = std::size_t(order[i]);
    p.args.y.strides[d] = y_stride;
    y_stride *= lengths[d] + (i == order.size() - 1 ? gap : 0);
  }
  to.add([&] { return jit::permute(p); });
}
void collect_permute(collection& to, const kernel_set& s) {
  for (const long_index_t outer : {3, 1 << 12})
    for (const long_index_t rows : {7, 16, 64, 100, 1024, 4097})
      for (const long_index_t cols : {1, 5, 16, 40, 64, 100, 1023, 4096})
        for (const long_index_t gap : {0, 1}) {
          add_permute(to, bytes_of(s.type), {outer, rows, cols}, {0, 1, 2}, gap);  // a copy
          add_permute(to, bytes_of(s.type), {outer, rows, cols}, {0, 2, 1}, gap);
          add_permute(to, bytes_of(s.type), {outer, rows, cols}, {1, 0, 2}, gap);
          add_permute(to, bytes_of(s.type), {outer, rows, cols}, {2, 1, 0}, gap);
          add_permute(to, bytes_of(s.type), {outer, 12, rows, cols}, {0, 2, 1, 3}, gap);
        }
}
void collect_elementwise(collection& to, const kernel_set& s) {
  for (const std::string& text : s.expressions) {
    jit::elementwise_problem p{s.type, s.result};
    const bool has_two = text.find("x2") != std::string::npos;
    p.function = jit::expression(text, has_two ? 2 : 1);
    p.args.x = {nullptr, {1}};
    p.args.y = {nullptr, {1}};
    if (has_two) p.args.x2 = {nullptr, {1}};
    to.add([&] { return jit::elementwise(p); });
  }
}
void collect_reduce(collection& to, const kernel_set& s) {
  using enum tilewright::reduce_kind;
  for (const tilewright::reduce_kind kind : {sum, mean, maximum})
    for (const element result : {s.result, element::f32}) {
      jit::reduce_problem p{s.type, result, kind};
      p.args.x = {nullptr, {2}};
      p.args.y = {nullptr, {1}};
      to.add([&] { return jit::reduce(p); });
    }
}

// Routing

void collect_choose_experts(collection& to, const kernel_set& s) {
  for (const int experts : s.experts)
    for (const index_t gap : {0, 1}) {
      jit::choose_experts_problem p{.type = s.type};
      p.args.tokens = 2;
      p.args.experts = experts;
      p.args.choices = std::min(experts, 16);
      p.args.x_stride = experts + gap;
      to.add([&] { return jit::choose_experts(p); });
    }
}
void collect_order_by_expert(collection& to, const kernel_set& s) {
  for (const int experts : s.experts) {
    jit::order_by_expert_problem p;
    p.args.entries = 1;
    p.args.experts = experts;
    to.add([&] { return jit::order_by_expert(p); });
  }
}
template <tilewright::expert_rows_kind Kind>
void collect_expert_rows(collection& to, const kernel_set& s) {
  for_each_row(s, [&](index_t cols, index_t stride) {
    jit::expert_rows_problem p{.type = s.type, .kind = Kind};
    p.args.cols = cols;
    p.args.tokens = 2;
    p.args.choices = 1;
    p.args.x_stride = p.args.y_stride = stride;
    to.add([&] { return jit::expert_rows(p); });
  });
}

/// Both GEMMs of a layer, for few entries and many, whole vectors and not.
void add_expert_gemms(collection& to, jit::expert_problem p, index_t entries, index_t experts) {
  for (const index_t n : {512, 3544, 8192, 404, 402, 401})
    for (const index_t k : {512, 4096, 404, 402, 401}) {
      tilewright::expert_args& g = p.args;
      g.m = entries, g.n = n, g.k = g.lda = g.ldb = k, g.ldc = n;
      g.groups = experts, g.tokens = entries;
      g.batch_stride_b = 2ll * n * k, g.product_stride_b = p.is_gate_up ? 1ll * n * k : 0;
      g.ends = static_cast<const index_t*>(jit::given_later(5));
      g.source = p.is_gate_up && p.gathers ? g.ends : nullptr;
      g.workspace = jit::given_later(6);
      to.add([&] { return jit::expert_gemm(p); });
    }
}
/// type: of the weights; result: of x and y. Logits are of that type, or f32.
void collect_moe(collection& to, const kernel_set& s) {
  kernel_set rows = s;
  rows.type = s.result;
  for (const element logits : {s.result, element::f32})
    for (const int experts : s.experts) {
      jit::choose_experts_problem p{.type = logits};
      p.args = {.tokens = 2, .experts = experts, .choices = std::min(experts, 16), .x_stride = experts};
      to.add([&] { return jit::choose_experts(p); });
      p.args.bias = static_cast<const float*>(jit::given_later(4));  // by scores
      to.add([&] { return jit::choose_experts(p); });
    }
  collect_order_by_expert(to, s);
  collect_expert_rows<tilewright::expert_rows_kind::combine>(to, rows);
  collect_expert_rows<tilewright::expert_rows_kind::scatter>(to, rows);
  if (has_8_bits(s.type)) {
    rows.result = s.type;
    collect_quantise(to, rows);
  }
  for (const jit::expert_problem& p :
       {jit::expert_problem{s.type, s.result}, {s.type, s.result, true, false}, {s.type, s.result, false}})
    for (const index_t entries : {100, 1000, 10000, 100000})
      for (const int experts : s.experts) add_expert_gemms(to, p, entries, experts);
}

// Narrow weights

/// Small M and large, whole vectors of C and not, with an epilogue and without.
void collect_narrow_gemm(collection& to, const kernel_set& s) {
  for (const std::string& format : s.formats)
    for (const index_t m : {1, 16, 32, 64, 128, 256})
      for (const index_t n : {64, 63})
        for (const bool has_bias : {false, true}) {
          to.add([&] {
            jit::narrow_gemm_problem p{.type = s.type, .result = s.result, .format = jit::narrow_format_of(format)};
            tilewright::narrow_args& g = p.args;
            g.m = m, g.n = n, g.k = g.lda = g.ldb = 128, g.ldc = n;
            if (has_bias) g.bias = jit::given_later(0);
            return jit::narrow_gemm(p);
          });
        }
}

using collect_function = void (*)(collection&, const kernel_set&);

/// By the names of the calls of tilewright::ops.
const std::map<std::string, collect_function>& all_operations() {
  using enum tilewright::norm_kind;
  using enum tilewright::expert_rows_kind;
  static const std::map<std::string, collect_function> all{
      {"gemm", collect_gemm},
      {"grouped_gemm", collect_grouped_gemm},
      {"moe", collect_moe},
      {"narrow_gemm", collect_narrow_gemm},
      {"attention", collect_attention},
      {"attention_backward", collect_backward},
      {"attention_decode", collect_decode},
      {"rms_norm", collect_norm<rms_norm>},
      {"layer_norm", collect_norm<layer_norm>},
      {"rms_norm_gradient", collect_norm_gradient<rms_norm>},
      {"layer_norm_gradient", collect_norm_gradient<layer_norm>},
      {"softmax", collect_softmax},
      {"quantise", collect_quantise},
      {"cross_entropy", collect_cross_entropy},
      {"rotary", collect_rotary},
      {"permute", collect_permute},
      {"elementwise", collect_elementwise},
      {"reduce", collect_reduce},
      {"choose_experts", collect_choose_experts},
      {"order_by_expert", collect_order_by_expert},
      {"rows_to_experts", collect_expert_rows<scatter>},
      {"rows_from_experts", collect_expert_rows<combine>},
  };
  return all;
}

void require_orders(reader& r, const std::vector<std::string>& orders) {
  for (const std::string& order : orders)
    if (order != "k-k" && order != "k-mn" && order != "mn-k" && order != "mn-mn")
      r.fail("has the order '" + order + "'; there are k-k, k-mn, mn-k and mn-mn");
}

}  // namespace

kernel_set read_set(reader& r) {
  kernel_set s;
  s.operation = r.require<std::string>("operation");
  if (!all_operations().contains(s.operation)) {
    std::string names;
    for (const auto& [name, collect] : all_operations()) names += (names.empty() ? "" : ", ") + name;
    r.fail("has the operation '" + s.operation + "'; there are " + names);
  }
  const std::string type = r.get<std::string>("type", "f16");
  s.type = r.element("type", type);
  const bool widens = s.operation.ends_with("gemm") && (type == "fp8" || type == "bf8");
  s.result = r.element("result", widens ? "bf16" : s.operation == "gemm" && type == "i8" ? "i32" : type);
  s.orders = r.get_texts("orders", s.orders);
  require_orders(r, s.orders);
  s.head_dims = r.get_texts("head_dims", s.head_dims);
  s.lengths = r.get_list<int>("lengths", 1024, {});
  s.experts = r.get_list<int>("experts", 1024, s.experts);
  s.expressions = r.get_texts("expressions", s.expressions);
  s.formats = r.get_texts("formats", s.formats);
  if (s.operation == "elementwise" && s.expressions.empty()) r.fail("lacks 'expressions'");
  return s;
}

std::vector<jit::kernel_source> kernels_of(const kernel_set& set, const std::string& target) {
  collection all(target);
  all_operations().at(set.operation)(all, set);
  return all.take(set.operation);
}

}  // namespace pack
