// SPDX-License-Identifier: MIT
#include "shapes.hpp"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/jit/gemm.hpp>

namespace pack {
namespace {

namespace jit = tilewright::jit;
using nlohmann::json;
using tilewright::index_t;
using tilewright::long_index_t;

/// Stands for a pointer that the program will give.
alignas(16) float somewhere[4];

/// An object whose members are taken one after the other; those that are left at the end are unknown.
class reader {
 public:
  reader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) fail("is no object");
  }
  /// Throws error if a member was never asked for.
  void finish() const {
    for (const auto& [name, value] : object_.items())
      if (!asked_.contains(name)) fail("has the unknown member '" + name + "'");
  }
  template <class T>
  T get(const char* name, T otherwise) {
    asked_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end()) return otherwise;
    if constexpr (std::is_same_v<T, std::string>) {
      if (!found->is_string()) fail(std::string("needs a text as '") + name + "'");
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!found->is_boolean()) fail(std::string("needs true or false as '") + name + "'");
    } else if constexpr (std::is_integral_v<T>) {
      if (!found->is_number_integer() || found->template get<double>() > double(std::numeric_limits<T>::max()) ||
          found->template get<double>() < double(std::numeric_limits<T>::min()))
        fail(std::string("needs a whole number as '") + name + "'");
    } else if (!found->is_number()) {
      fail(std::string("needs a number as '") + name + "'");
    }
    return found->template get<T>();
  }
  template <class T>
  T require(const char* name) {
    if (!object_.contains(name)) fail(std::string("lacks '") + name + "'");
    return get<T>(name, T{});
  }
  const json* list(const char* name) {
    asked_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end()) return nullptr;
    if (!found->is_array()) fail(std::string("needs a list as '") + name + "'");
    return &*found;
  }
  [[noreturn]] void fail(const std::string& what) const { throw jit::error(where_ + " " + what); }

 private:
  const json& object_;
  std::string where_;
  std::set<std::string> asked_;
};

jit::element get_element(reader& r, const char* name, const std::string& otherwise) {
  constexpr const char* names[] = {"f16", "bf16", "f32", "fp8", "bf8", "i8", "i32"};
  const std::string text = r.get<std::string>(name, otherwise);
  for (int i = 0; i < 7; ++i)
    if (text == names[i]) return jit::element(i);
  r.fail("has '" + text + "' as '" + name + "'; there are f16, bf16, f32, fp8, bf8, i8 and i32");
}

bool get_along_k(reader& r, const char* name, const char* other) {
  const std::string text = r.get<std::string>(name, "k");
  if (text != "k" && text != other) r.fail(std::string("needs k or ") + other + " as '" + name + "'");
  return text == "k";
}

jit::gemm_problem read_product(reader r) {
  jit::gemm_problem p;
  p.type = get_element(r, "type", "f16");
  p.result = get_element(r, "result", r.get<std::string>("type", "f16"));
  p.a_along_k = get_along_k(r, "a", "m");
  p.b_along_k = get_along_k(r, "b", "n");
  p.policy = r.get<std::string>("policy", "");
  tilewright::gemm_args& g = p.args;
  g.m = r.require<index_t>("m");
  g.n = r.require<index_t>("n");
  g.k = r.require<index_t>("k");
  g.lda = r.get("lda", p.a_along_k ? g.k : g.m);
  g.ldb = r.get("ldb", p.b_along_k ? g.k : g.n);
  g.ldc = r.get("ldc", g.n);
  g.batch = r.get<index_t>("batch", 1);
  const bool is_batch = g.batch > 1;
  g.batch_stride_a =
      r.get<long_index_t>("batch_stride_a", is_batch ? long_index_t(g.lda) * (p.a_along_k ? g.m : g.k) : 0);
  g.batch_stride_b =
      r.get<long_index_t>("batch_stride_b", is_batch ? long_index_t(g.ldb) * (p.b_along_k ? g.n : g.k) : 0);
  g.batch_stride_c = r.get<long_index_t>("batch_stride_c", is_batch ? long_index_t(g.ldc) * g.m : 0);
  g.split_k = r.get<index_t>("split_k", 1);
  g.beta = r.get("adds", false) ? 1.0f : 0.0f;
  if (r.get("epilogue", false)) g.bias = somewhere;
  r.finish();
  return p;
}

jit::attention_problem read_attention(reader r) {
  jit::attention_problem p;
  p.type = get_element(r, "type", "f16");
  p.head_dim = r.get("head_dim", 128);
  p.value_dim = r.get("value_dim", p.head_dim);
  tilewright::attention_args& a = p.args;
  a.batch = r.get<index_t>("batch", 1);
  a.heads = r.require<index_t>("heads");
  a.kv_heads = r.get("kv_heads", a.heads);
  a.queries = r.require<index_t>("queries");
  a.keys = r.get("keys", a.queries);
  a.scale = r.require<float>("scale");
  a.window.left = r.get<index_t>("window_left", -1);
  a.window.right = r.get<index_t>("window_right", r.get("causal", false) ? 0 : -1);
  if (r.get("lse", false)) a.lse = somewhere;
  const auto dense = [](index_t rows, index_t heads, index_t dim) {  // (batch, row, head, dim)
    return tilewright::attention_strides{long_index_t(rows) * heads * dim, dim, heads * dim};
  };
  a.q_strides = dense(a.queries, a.heads, p.head_dim);
  a.o_strides = dense(a.queries, a.heads, p.value_dim);
  a.k_strides = dense(a.keys, a.kv_heads, p.head_dim);
  a.v_strides = dense(a.keys, a.kv_heads, p.value_dim);
  if (a.lse) a.lse_strides = {long_index_t(a.heads) * a.queries, a.queries, 1};
  r.finish();
  return p;
}

jit::kernel_source read_kernel(reader r, const std::filesystem::path& folder) {
  jit::kernel_source s;
  s.name = r.require<std::string>("name");
  s.code = read_file(folder / r.require<std::string>("source"));
  s.kernel = r.require<std::string>("kernel");
  s.problem = r.get<std::string>("problem", "");
  if (const json* uses = r.list("uses"))
    for (const json& header : *uses) s.uses.push_back(header.is_string() ? header.get<std::string>() : "");
  r.finish();
  return s;
}

/// The kernels that jit::tuned() will ask for; for other targets than Hopper's they are those that are there already.
void add_tuned(const std::vector<jit::gemm_problem>& products, std::string_view tuning,
               std::vector<jit::kernel_request>& to) {
  for (const jit::gemm_problem& p : products) {
    for (const jit::gemm_problem& with_choice : jit::tuned(tuning, p))
      to.push_back([usual = jit::gemm(p), chosen = jit::gemm(with_choice)](const std::string& target) {
        return target == "sm_90a" ? chosen(target) : usual(target);
      });
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file;
  const bool may_never_end = std::filesystem::is_character_file(path);  // /dev/zero
  if (!may_never_end && !std::filesystem::is_directory(path)) file.open(path, std::ios::binary);
  if (!file.is_open()) throw jit::error("the file " + path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

shapes read_shapes(std::string_view text, const std::filesystem::path& folder) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) throw jit::error("the list of shapes is no JSON");
  shapes result;
  reader all(document, "the list of shapes");
  const auto for_each = [&](const char* name, auto add) {
    const json* const list = all.list(name);
    for (std::size_t i = 0; list && i < list->size(); ++i)
      add(reader((*list)[i], std::string(name) + "[" + std::to_string(i) + "]"));
  };
  if (const json* targets = all.list("targets"))
    for (const json& t : *targets) result.targets.push_back(t.is_string() ? t.get<std::string>() : "");
  std::vector<jit::gemm_problem> products;
  for_each("gemm", [&](const reader& r) { products.push_back(read_product(r)); });
  for (const jit::gemm_problem& p : products) result.kernels.push_back(jit::gemm(p));
  for_each("attention", [&](const reader& r) { result.kernels.push_back(jit::attention(read_attention(r))); });
  for_each("kernels", [&](const reader& r) {
    result.kernels.push_back([source = read_kernel(r, folder)](const std::string&) { return source; });
  });
  for_each("texts", [&](reader r) {
    const std::string name = r.require<std::string>("name");
    result.texts[name] = read_file(folder / r.require<std::string>("file"));
    r.finish();
  });
  if (const auto tuning = result.texts.find("tuning"); tuning != result.texts.end())
    add_tuned(products, tuning->second, result.kernels);
  all.finish();
  return result;
}

}  // namespace pack
