// SPDX-License-Identifier: MIT
// Q, K and V of 8 bits in attention's gradients: 16-bit copies in the workspace, which are what is multiplied.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/backward/backward_args.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::detail {

template <class Policy>
inline constexpr bool converts_inputs = sizeof(typename Policy::input_type) == 1;

/// Arguments whose Q, K and V are the copies, without scales. A copy is (heads, sequences, rows, head dimension):
/// packed sequences, which begin with row 0, fill it without gaps. The copies follow what 16-bit tensors need of the
/// workspace.
template <class Policy>
struct converted_inputs {
  using From = typename Policy::input_type;
  using To = typename Policy::element_type;
  static_assert(__is_same(From, To) || (sizeof(To) == 2 && is_small_float_v<From> && sizeof(From) == 1),
                "attention_backward: the policy's input_type is its element_type or an 8-bit float");
  typename Policy::args_type args;
  long_index_t workspace_bytes;  // with the copies

  TILEWRIGHT_HD constexpr explicit converted_inputs(const typename Policy::args_type& given)
      : args(given),
        workspace_bytes(tilewright::workspace_bytes(given, arch::is_wgmma(Policy::op) ? Policy::head_dim : 0)) {
    if constexpr (!converts_inputs<Policy>) return;
    workspace_bytes = round_up(workspace_bytes, long_index_t{16});
    place(args.q, args.q_strides, args.queries, args.heads, Policy::head_dim);
    place(args.k, args.k_strides, args.keys, args.kv_heads, Policy::head_dim);
    place(args.v, args.v_strides, args.keys, args.kv_heads, Policy::value_dim);
    args.q_scales = args.k_scales = args.v_scales = nullptr;
  }

 private:
  TILEWRIGHT_HD constexpr void place(const void*& data, attention_strides& strides, index_t rows, index_t heads,
                                     index_t dim) {
    if (args.workspace) data = static_cast<const char*>(args.workspace) + workspace_bytes;
    strides = {long_index_t(rows) * dim, long_index_t(args.batch) * rows * dim, dim};
    workspace_bytes += heads * strides.head * index_t(sizeof(To));
  }
};

/// `lanes` lanes write one row, times its head's scale and rounded. Rows after the last one are left alone.
template <class From, class To>
TILEWRIGHT_HD void convert_row(const head_rows<From>& from, const head_rows<To>& to, float scale, index_t row,
                               index_t dim, index_t lane, index_t lanes) {
  if (row >= from.count) return;
  const exec::global_buffer source = exec::make_global_buffer(from.data + long_index_t(row) * from.stride, dim),
                            target = exec::make_global_buffer(to.data + long_index_t(row) * to.stride, dim * 2);
  for (index_t first = lane * 8; first < dim; first += lanes * 8) {
    const auto pairs = exec::buffer_load<array<unsigned short, 4>>(source, first);
    array<unsigned, 4> result;
    for (index_t i = 0; i < 4; ++i) {
      const array<float, 2> x = fp8_pair_to_floats<From::format>(pairs[i]);
      result[i] = bits_of_pair<remove_const_t<To>>(x[0] * scale, x[1] * scale);
    }
    exec::buffer_store(target, first * 2, result);
  }
}

/// Writes a row of head p.head of each copy that has this head.
template <class Policy>
TILEWRIGHT_HD void convert_inputs(const typename Policy::args_type& args, attention_problem p, index_t row,
                                  index_t lane, index_t lanes) {
  using From = const typename Policy::input_type;
  using To = const typename Policy::element_type;
  const auto to = converted_inputs<Policy>(args).args;
  convert_row(query_rows<From>(args.q, args.q_strides, p), query_rows<To>(to.q, to.q_strides, p),
              scale_of_head(args.q_scales, p.batch, args.heads, p.head), row, Policy::head_dim, lane, lanes);
  if (p.head >= args.kv_heads) return;
  p.kv_head = p.head;
  convert_row(key_rows<From>(args.k, args.k_strides, p), key_rows<To>(to.k, to.k_strides, p),
              scale_of_head(args.k_scales, p.batch, args.kv_heads, p.head), row, Policy::head_dim, lane, lanes);
  convert_row(key_rows<From>(args.v, args.v_strides, p), key_rows<To>(to.v, to.v_strides, p),
              scale_of_head(args.v_scales, p.batch, args.kv_heads, p.head), row, Policy::value_dim, lane, lanes);
}

/// `Gradients`, the kernel for 16-bit tensors, of the copies.
template <class Policy, class Gradients>
struct gradients_of_copies : Gradients {
  using args_type = typename Policy::args_type;
  using device_args = launched_args_t<Gradients>;

  static constexpr const char* check(const args_type& args) {
    constexpr index_t vector = 16;
    if (const char* why =
            check_attention_tensors(args, Policy::head_dim, Policy::value_dim, vector, vector, Policy::has_block_mask))
      return why;
    return Gradients::check(converted_inputs<Policy>(args).args);
  }
  static device_args prepare(const args_type& given, [[maybe_unused]] const launch_facts& facts) {
    const args_type args = converted_inputs<Policy>(given).args;
    if constexpr (HasDeviceArgs<Gradients>)
      return Gradients::prepare(args, facts);
    else
      return args;
  }
};

}  // namespace tilewright::detail
