// SPDX-License-Identifier: MIT
#include <tilewright/jit/attention.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_choice.hpp>

#include "attention_name.hpp"
#include "constants.hpp"
#include "hopper_gemm.hpp"
#include "operation.hpp"
#include "source_text.hpp"
#include "targets.hpp"

namespace tilewright::jit {
namespace {

/// check() and prepare() of the kernels for Hopper.
template <class T, index_t Dim, index_t ValueDim, hopper_attention_tile Tile>
host_half hopper_half() {
  using kernel = attention_forward<hopper_attention_policy<T, Dim, ValueDim, Tile>>;
  return {.check = [](const void* args) { return kernel::check(*static_cast<const attention_args*>(args)); },
          .prepare =
              [](const void* args, const launch_facts& facts) {
                const auto made = kernel::prepare(*static_cast<const attention_args*>(args), facts);
                const auto* const bytes = reinterpret_cast<const char*>(&made);
                return host_half::prepared{{bytes, bytes + sizeof made}, {kernel::grid(made).x, 1, 1}};
              }};
}
/// For a tile that choose_hopper_attention_tile returns; nothing for other head dimensions than 64, 96, ... 256, 384
/// and 512, both equal, and 192 with values of 128.
template <class T>
host_half find_half(const attention_problem& p, const hopper_attention_tile& tile) {
  host_half found;
  const auto look_at = [&]<index_t Dim, index_t ValueDim, hopper_attention_tile Tile>() {
    if (p.head_dim == Dim && p.value_dim == ValueDim && tile == Tile) found = hopper_half<T, Dim, ValueDim, Tile>();
  };
  const auto with_default_tile = [&]<index_t Dim, index_t ValueDim = Dim>() {
    look_at.template operator()<Dim, ValueDim, detail::default_hopper_attention_tile(Dim, sizeof(T))>();
  };
  constexpr attention_args few = [] {
    attention_args args;
    args.keys = 1;
    args.window = {-1, 0};
    return args;
  }();
  look_at.template operator()<64, 64, choose_hopper_attention_tile(few, 64, 64, sizeof(T))>();
  look_at.template operator()<128, 128, choose_hopper_attention_tile(few, 128, 128, sizeof(T))>();
  constexpr hopper_attention_tile masked{.queries = 128, .keys = 128, .ordered = false};
  look_at.template operator()<64, 64, masked>();
  look_at.template operator()<96, 96, masked>();
  [&]<int... Is>(std::integer_sequence<int, Is...>) {
    (with_default_tile.template operator()<64 + 32 * Is>(), ...);
  }(std::make_integer_sequence<int, 7>{});
  with_default_tile.template operator()<192, 128>();
  with_default_tile.template operator()<384>();
  with_default_tile.template operator()<512>();
  return found;
}

constants constants_of(const attention_args& a) {
  constants c;
  for (const char* pointer : {"q", "k", "v", "o"}) c.points(pointer);
  if (a.lse) c.points("lse");
  if (a.sinks) c.points("sinks");
  if (a.query_starts) c.points("query_starts");
  if (a.key_starts) c.points("key_starts");
  c.set("batch", a.batch).set("heads", a.heads).set("kv_heads", a.kv_heads).set("queries", a.queries);
  c.set("keys", a.keys);
  const auto set_strides = [&](std::string_view name, const attention_strides& s) {
    c.set(name, "batch", s.batch).set(name, "head", s.head).set(name, "row", s.row);
  };
  set_strides("q_strides", a.q_strides);
  set_strides("k_strides", a.k_strides);
  set_strides("v_strides", a.v_strides);
  set_strides("o_strides", a.o_strides);
  if (a.lse) set_strides("lse_strides", a.lse_strides);
  c.set_float("scale", a.scale);
  c.set("window", "left", a.window.left).set("window", "right", a.window.right);
  return c;
}

bool are_equal(const attention_strides& x, const attention_strides& y) {
  return x.batch == y.batch && x.head == y.head && x.row == y.row;
}
const char* compare(const attention_args& p, const attention_args& a, int head_dim, int value_dim) {
  if (a.batch != p.batch || a.heads != p.heads || a.kv_heads != p.kv_heads || a.queries != p.queries ||
      a.keys != p.keys)
    return "the kernel was made for other lengths";
  if (!are_equal(a.q_strides, p.q_strides) || !are_equal(a.k_strides, p.k_strides) ||
      !are_equal(a.v_strides, p.v_strides) || !are_equal(a.o_strides, p.o_strides) ||
      (p.lse && !are_equal(a.lse_strides, p.lse_strides)))
    return "the kernel was made for other strides";
  if (a.scale != p.scale || a.window.left != p.window.left || a.window.right != p.window.right)
    return "the kernel was made for another scale or window";
  if (!a.lse != !p.lse || !a.query_starts != !p.query_starts || !a.key_starts != !p.key_starts || !a.sinks != !p.sinks)
    return "the kernel was made for other null pointers among lse, query_starts, key_starts and sinks";
  return detail::check_attention(a, head_dim, value_dim, 8);
}

bool is_masked(const attention_problem& p) { return p.args.block_mask.bits != nullptr; }

std::string lengths_name(const attention_problem& p) {
  return attention_name(p.type, p.head_dim, p.value_dim) + (is_masked(p) ? "_masked" : "");
}
/// What the policy of a kernel adds to its base.
std::string members_text(const attention_problem& p) {
  return is_masked(p) ? " { static constexpr bool has_block_mask = true; };\n" : " {};\n";
}

std::string dims_text(const attention_problem& p) {
  return std::to_string(p.head_dim) + ", " + std::to_string(p.value_dim);
}

kernel_source hopper_attention(const attention_problem& p, const hopper_attention_tile& tile, const host_half& host) {
  const bool is_default = tile == detail::default_hopper_attention_tile(std::max(p.head_dim, p.value_dim), 2);
  const std::string tile_text = "tw::hopper_attention_tile{" + std::to_string(tile.queries) + ", " +
                                std::to_string(tile.keys) + ", " + std::to_string(tile.stages) + ", " +
                                (tile.ordered ? "true" : "false") + ", " + std::to_string(tile.blocks) + "}";
  return {.name = "attention_hopper_" + lengths_name(p) + (is_default || is_masked(p) ? "" : "_short"),
          .code = "struct policy : tw::hopper_attention_policy<" + type_name(p.type) + ", " + dims_text(p) +
                  (is_default ? "" : ", " + tile_text) + ">" + members_text(p),
          .kernel = "tw::attention_forward<policy>",
          .uses = {"kernels/attention/forward/hopper_attention.hpp"},
          .host = host};
}

/// For any lengths.
kernel_source general_attention(const attention_problem& p, const std::string& target) {
  const index_t rows = with_arch(target, [&]<class Arch>(of_type<Arch>) {
    return detail::default_attention_tile<Arch, half_t>(p.head_dim, p.value_dim).queries;
  });
  kernel_source s{.name = "attention_" + lengths_name(p),
                  .code = "struct policy : tw::attention_policy<tw::arch::current, " + type_name(p.type) + ", " +
                          dims_text(p) + ">" + members_text(p),
                  .kernel = "tw::attention_forward<policy>",
                  .uses = {"kernels/attention/forward/attention_forward.hpp"}};
  s.host.check = [head_dim = p.head_dim, value_dim = p.value_dim, takes_mask = is_masked(p)](const void* args) {
    return detail::check_attention(*static_cast<const attention_args*>(args), head_dim, value_dim, 8, 8, takes_mask);
  };
  s.host.grid = [rows, parts = detail::parts_of_values(p.value_dim)](const void* args) {
    const auto& a = *static_cast<const attention_args*>(args);
    return block_grid{ceil_div(a.queries, rows), a.heads * parts, a.batch};
  };
  return s;
}

/// For the lengths of the problem.
kernel_source exact_attention(const attention_problem& p) {
  const constants known = constants_of(p.args);
  const attention_args& a = p.args;
  return {.name = "attention_" + lengths_name(p) + "_" + std::to_string(a.queries) + "x" + std::to_string(a.keys),
          .code =
              "inline float jit_floats[4];\ninline int jit_numbers[4];\n"
              "constexpr void* jit_somewhere(void*) { return jit_floats; }\n"
              "constexpr const void* jit_somewhere(const void*) { return jit_floats; }\n"
              "constexpr float* jit_somewhere(float*) { return jit_floats; }\n"
              "constexpr const float* jit_somewhere(const float*) { return jit_floats; }\n"
              "constexpr const index_t* jit_somewhere(const index_t*) { return jit_numbers; }\n"
              "struct policy : tw::attention_policy<tw::arch::current, " +
              type_name(p.type) + ", " + dims_text(p) +
              "> {};\nusing general_attention = tw::attention_forward<policy>;\n" +
              known.kernel("exact_attention", "general_attention"),
          .kernel = "exact_attention",
          .problem = known.initializer("tw::attention_args"),
          .uses = {"kernels/attention/forward/attention_forward.hpp"},
          .host = {.check =
                       [made_for = p](const void* args) {
                         return compare(made_for.args, *static_cast<const attention_args*>(args), made_for.head_dim,
                                        made_for.value_dim);
                       },
                   .prepare = {}}};
}

}  // namespace

kernel_request attention(const attention_problem& problem) {
  return remembered([problem](const std::string& target) {
    require_attention("attention", problem.type, problem.head_dim, problem.value_dim, true);
    require_matrix_instruction("attention", problem.type, target);
    if (target == "sm_90a") {
      const hopper_attention_tile tile =
          choose_hopper_attention_tile(problem.args, problem.head_dim, problem.value_dim, 2);
      host_half host =
          problem.type == element::f16 ? find_half<half_t>(problem, tile) : find_half<bfloat16_t>(problem, tile);
      if (host.check && is_masked(problem)) host = with_block_mask<attention_args>(std::move(host));
      attention_args probe = problem.args;  // null pointers are to be given later
      alignas(16) static char somewhere[2][16];
      for (const void** p : {&probe.q, &probe.k, &probe.v})
        if (!*p) *p = somewhere[0];
      if (!probe.o) probe.o = somewhere[1];
      if (host.check && host.check(&probe) == nullptr) return hopper_attention(problem, tile, host);
    }
    return problem.for_all_lengths || is_masked(problem) ? general_attention(problem, target)
                                                         : exact_attention(problem);
  });
}

}  // namespace tilewright::jit
