// SPDX-License-Identifier: MIT
// Operands whose rows are unaligned, and copies of them whose rows start at multiples of 16 bytes, as TMA copies
// want.
#pragma once

#include <tilewright/kernels/gemm/epilogue/epilogue.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/kernels/gemm/hopper/repitch.hpp>

namespace tilewright::detail {

/// An operand whose rows start at multiples of 16 bytes, or a copy of it for which that is true.
struct aligned_operand {
  bool is_copy = false;
  repitch_args copy = {};  // to the copy
  long_index_t bytes = 0;  // of the copy

  aligned_operand(const void* data, index_t rows, index_t cols, index_t ld, index_t batch, long_index_t batch_stride,
                  index_t element_bytes, bool whole_vectors) {
    const index_t vector = 16 / element_bytes;
    is_copy =
        !is_aligned(data) || ld % vector != 0 || batch_stride % vector != 0 || (whole_vectors && cols % vector != 0);
    if (!is_copy) return;
    const index_t to_ld = round_up(cols, 128 / element_bytes);  // rows of whole lines come faster from L2
    copy = {data, nullptr, rows, cols, ld, to_ld, batch, batch_stride, long_index_t(to_ld) * rows};
    bytes = round_up(copy.to_batch_stride * batch * element_bytes, long_index_t{256});
  }

  /// Puts the copy at `place`, which moves on, and makes the arguments of the product refer to it.
  template <class Pointer>
  void place_at(char*& place, Pointer& data, index_t& ld, long_index_t& batch_stride) {
    if (!is_copy) return;
    copy.to = place;
    data = reinterpret_cast<Pointer>(place);
    ld = copy.to_ld;
    batch_stride = copy.to_batch_stride;
    place += bytes;
  }
};

/// What a product needs so that TMA can move its operands.
template <class Product>
struct aligned_operands {
  using T = typename Product::element_type;
  using R = typename Product::result_type;
  static constexpr index_t too_long = 1 << 29;  // for a copy of a row
  static constexpr bool has_epilogue = !__is_same(typename Product::epilogue_type, epilogue::alpha_beta);
  aligned_operand a, b, c;
  aligned_operand bias, column_scale, residual;  // the epilogue reads two elements at once, where C has room for them
  gemm_args args;

  explicit aligned_operands(const gemm_args& g)
      : a(Product::a_major == operand_major::k
              ? aligned_operand(g.a, g.m, g.k, g.lda, g.batch, g.batch_stride_a, sizeof(T), false)
              : aligned_operand(g.a, g.k, g.m, g.lda, g.batch, g.batch_stride_a, sizeof(T), false)),
        b(Product::b_major == operand_major::k
              ? aligned_operand(g.b, g.n, g.k, g.ldb, g.batch, g.batch_stride_b, sizeof(T), false)
              : aligned_operand(g.b, g.k, g.n, g.ldb, g.batch, g.batch_stride_b, sizeof(T), false)),
        c(g.c, g.m, g.n, g.ldc, g.batch, g.batch_stride_c, sizeof(R), true),
        bias(of_epilogue(g.bias, 1, g.n, g.n, 1, 0)),
        column_scale(of_epilogue(g.column_scale, 1, 2 * min(g.n, too_long), 2 * min(g.n, too_long), 1, 0)),
        residual(of_epilogue(g.residual, g.m, g.n, g.ld_residual, g.batch, g.batch_stride_residual)),
        args(g) {
    char* place = static_cast<char*>(g.workspace) + hopper_gemm_workspace::bytes;
    a.place_at(place, args.a, args.lda, args.batch_stride_a);
    b.place_at(place, args.b, args.ldb, args.batch_stride_b);
    c.place_at(place, args.c, args.ldc, args.batch_stride_c);
    residual.place_at(place, args.residual, args.ld_residual, args.batch_stride_residual);
    index_t unused_ld = 0;
    long_index_t unused_stride = 0;
    bias.place_at(place, args.bias, unused_ld, unused_stride);
    column_scale.place_at(place, args.column_scale, unused_ld, unused_stride);
  }
  bool any() const { return bytes() > 0; }
  long_index_t bytes() const { return a.bytes + b.bytes + c.bytes + bias.bytes + column_scale.bytes + residual.bytes; }
  /// What forbids a copy, as an error message; nullptr: there is none.
  const char* check_copies() const {
    const char* why = nullptr;
    for (const aligned_operand* o : {&a, &b})
      if (!why && o->is_copy) why = repitch<T>::check(o->copy);
    for (const aligned_operand* o : {&c, &bias, &column_scale, &residual})
      if (!why && o->is_copy) why = repitch<R>::check(o->copy);
    return why;
  }
  /// From the copy of C to C.
  repitch_args back() const {
    repitch_args r = c.copy;
    r.from = c.copy.to, r.from_ld = c.copy.to_ld, r.from_batch_stride = c.copy.to_batch_stride;
    r.to = const_cast<void*>(c.copy.from), r.to_ld = c.copy.from_ld, r.to_batch_stride = c.copy.from_batch_stride;
    return r;
  }

 private:
  /// What an epilogue may read, as elements of 2 bytes.
  static aligned_operand of_epilogue(const void* data, index_t rows, index_t cols, index_t ld, index_t batch,
                                     long_index_t batch_stride) {
    if (!has_epilogue || !data) return {nullptr, rows, 0, 0, batch, 0, 2, true};
    return {data, rows, cols, ld, batch, batch_stride, 2, true};
  }
};

/// Arguments for check(): bulk stores fill the last 16 bytes of a row with zeros, for which a copy of C has room.
constexpr gemm_args with_room_after_rows(gemm_args g, operand_major b_major) {
  g.n = round_up(g.n, 16);
  g.ldc = max(g.ldc, g.n);
  g.ld_residual = max(g.ld_residual, g.n);
  if (b_major != operand_major::k) g.ldb = max(g.ldb, g.n);
  return g;
}

}  // namespace tilewright::detail
