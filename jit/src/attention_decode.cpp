// SPDX-License-Identifier: MIT
#include <optional>

#include <tilewright/jit/attention.hpp>
#include <tilewright/kernels/attention/decode/hopper_latent_decode.hpp>

#include "attention_name.hpp"
#include "operation.hpp"
#include "targets.hpp"

namespace tilewright::jit {

namespace {

template <class T, class Cache, bool HasTokenLists>
struct latent_policy : hopper_latent_policy<T, 576, 512, Cache> {
  static constexpr bool has_token_lists = HasTokenLists;
};

/// Head dimensions of latent attention: multiples of 32 up to 256, and of 64 up to 576 and 512.
bool is_latent_dims(int head_dim, int value_dim) {
  const auto is_one = [](int dim, int most) { return 32 <= dim && dim <= most && dim % (dim > 256 ? 64 : 32) == 0; };
  return is_one(head_dim, 576) && is_one(value_dim, 512);
}

/// Whether the table lists a row for each key.
bool has_token_lists(const attention_decode_problem& p) { return p.args.block_table && p.args.rows_per_page == 1; }

attention_decode_args with_pointers(const attention_decode_problem& p, bool is_8bit) {
  attention_decode_args args = p.args;
  stand_ins stand_in;
  stand_in(args.q, args.k, args.v, args.o, args.workspace);
  if (is_8bit) stand_in(args.k_scales, args.v_scales);
  if (p.is_latent) args.v = args.k, args.v_scales = args.k_scales;
  return args;
}

/// check(), prepare() and grid() of the kernel with wgmma; nothing where it cannot compute the problem.
std::optional<host_half> latent_half(const attention_decode_problem& p, const std::string& target) {
  if (target != "sm_90a" || !p.is_latent || p.head_dim != 576 || p.value_dim != 512) return std::nullopt;
  const element cache = p.cache_type.value_or(p.type);
  const auto with_cache = [&]<class T, class Cache>() {
    return has_token_lists(p) ? half_of<tilewright::attention_decode<latent_policy<T, Cache, true>>>()
                              : half_of<tilewright::attention_decode<latent_policy<T, Cache, false>>>();
  };
  const auto with_type = [&]<class T>() {
    return cache == p.type         ? with_cache.template operator()<T, T>()
           : cache == element::fp8 ? with_cache.template operator()<T, fp8_ocp_t>()
                                   : with_cache.template operator()<T, int8_t>();
  };
  const host_half half =
      p.type == element::f16 ? with_type.template operator()<half_t>() : with_type.template operator()<bfloat16_t>();
  const attention_decode_args args = with_pointers(p, cache != p.type);
  return half.check(&args) ? std::nullopt : std::optional(half);
}

}  // namespace

index_t rows_of_block(const attention_decode_problem& problem, const std::string& target) {
  return latent_half(problem, target) ? 64 : detail::decode_rows;
}

kernel_request attention_decode(const attention_decode_problem& problem) {
  const bool is_latent = problem.is_latent && is_latent_dims(problem.head_dim, problem.value_dim);
  require_attention("attention_decode", problem.type, is_latent ? 128 : problem.head_dim,
                    is_latent ? 128 : problem.value_dim, true);
  const element cache = problem.cache_type.value_or(problem.type);
  if (cache != problem.type && cache != element::fp8 && cache != element::i8)
    throw error("attention_decode: the cache has the elements of Q, fp8 or i8");
  return remembered([problem, cache](const std::string& target) {
    // Values of 8 bits are multiplied as bf16.
    require_matrix_instruction("attention_decode", is_8_bits(cache) ? element::bf16 : problem.type, target);
    const bool is_8bit = cache != problem.type;
    const std::string dims = std::to_string(problem.head_dim) + ", " + std::to_string(problem.value_dim);
    const auto args_of = [](const void* args) -> const attention_decode_args& {
      return *static_cast<const attention_decode_args*>(args);
    };
    kernel_source s;
    s.kernel = "tw::attention_decode<policy>";
    if (const std::optional<host_half> latent = latent_half(problem, target)) {
      const bool lists = has_token_lists(problem);
      s.name = "attention_decode_latent_" + attention_name(problem.type, problem.head_dim, problem.value_dim) +
               (is_8bit ? "_cache_" + short_name(cache) : "") + (lists ? "_tokens" : "");
      s.code = "struct policy : tw::hopper_latent_policy<" + type_name(problem.type) +
               (is_8bit ? ", 576, 512, " + type_name_on(cache, target) : "") +
               (lists ? "> { static constexpr bool has_token_lists = true; };\n" : "> {};\n");
      s.uses = {"kernels/attention/decode/hopper_latent_decode.hpp"};
      s.host = *latent;
      return s;
    }
    if (has_token_lists(problem))
      throw error("attention_decode: a table of rows (pages of 1 row) needs latent attention of 576 and 512 on sm_90a");
    s.name = "attention_decode_" + attention_name(problem.type, problem.head_dim, problem.value_dim) +
             (is_8bit ? "_cache_" + short_name(cache) : "");
    s.code = "struct policy : tw::attention_decode_policy<tw::arch::current, " + type_name(problem.type) + ", " + dims +
             (is_8bit ? ", tw::detail::default_decode_waves(tw::arch::current::value, " + dims + "), " +
                            type_name_on(cache, target)
                      : "") +
             "> {};\n";
    s.uses = {"kernels/attention/decode/attention_decode.hpp"};
    s.host.check = [args_of, is_8bit, head_dim = problem.head_dim, value_dim = problem.value_dim](const void* args) {
      return detail::check_decode(args_of(args), head_dim, value_dim, is_8bit ? 1 : 2);
    };
    const index_t parts = with_arch(
        target, [&]<class Arch>(of_type<Arch>) { return detail::decode_value_parts<Arch, half_t>(problem.value_dim); });
    s.host.grid = [args_of, parts](const void* args) {
      return grid_of(detail::grid_of_decode(args_of(args), detail::decode_rows, parts));
    };
    host_half combine;
    combine.grid = [args_of](const void* args) { return grid_of(detail::grid_of_decode_combine(args_of(args))); };
    s.host.next = std::make_shared<const host_half>(std::move(combine));
    const attention_decode_args args = with_pointers(problem, is_8bit);
    require_fit("attention_decode", s.host.check(&args));
    return s;
  });
}

}  // namespace tilewright::jit
