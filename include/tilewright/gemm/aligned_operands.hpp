// SPDX-License-Identifier: MIT
// Operands whose rows start anywhere, and copies of them whose rows start at multiples of 16 bytes, as bulk copies
// want.
#pragma once

#include <tilewright/gemm/gemm_args.hpp>
#include <tilewright/gemm/repitch.hpp>
#include <tilewright/gemm/specialized_plan.hpp>

namespace tilewright::detail {

/// An operand whose rows start at multiples of 16 bytes, or a copy of it for which that is true.
struct aligned_operand {
  bool is_copy = false;
  repitch_args copy = {};  // to the copy
  long_index_t bytes = 0;  // of the copy

  aligned_operand(const void* data, index_t rows, index_t cols, index_t ld, index_t batch, long_index_t batch_stride,
                  index_t element_bytes, bool whole_vectors) {
    const index_t vector = 16 / element_bytes;
    is_copy = reinterpret_cast<unsigned long long>(data) % 16 != 0 || ld % vector != 0 || batch_stride % vector != 0 ||
              (whole_vectors && cols % vector != 0);
    if (!is_copy) return;
    const index_t to_ld = round_up(cols, vector);
    copy = {data, nullptr, rows, cols, ld, to_ld, batch, batch_stride, long_index_t(to_ld) * rows};
    bytes = round_up(copy.to_batch_stride * batch * element_bytes, long_index_t{256});
  }

  /// Puts the copy at `place`, which moves on, and makes the arguments of the product refer to it.
  template <class Pointer>
  void place_at(char*& place, Pointer& data, index_t& ld, long_index_t& batch_stride) {
    if (!is_copy) return;
    copy.to = place;
    data = place;
    ld = copy.to_ld;
    batch_stride = copy.to_batch_stride;
    place += bytes;
  }
};

/// What a product needs so that bulk copies can move its operands.
template <class Product>
struct aligned_operands {
  using T = typename Product::element_type;
  using R = typename Product::result_type;
  aligned_operand a, b, c;
  gemm_args args;

  explicit aligned_operands(const gemm_args& g)
      : a(Product::a_major == operand_major::k
              ? aligned_operand(g.a, g.m, g.k, g.lda, g.batch, g.batch_stride_a, sizeof(T), false)
              : aligned_operand(g.a, g.k, g.m, g.lda, g.batch, g.batch_stride_a, sizeof(T), false)),
        b(Product::b_major == operand_major::k
              ? aligned_operand(g.b, g.n, g.k, g.ldb, g.batch, g.batch_stride_b, sizeof(T), false)
              : aligned_operand(g.b, g.k, g.n, g.ldb, g.batch, g.batch_stride_b, sizeof(T), false)),
        c(g.c, g.m, g.n, g.ldc, g.batch, g.batch_stride_c, sizeof(R), true),
        args(g) {
    char* place = static_cast<char*>(g.workspace) + specialized_workspace::bytes;
    a.place_at(place, args.a, args.lda, args.batch_stride_a);
    b.place_at(place, args.b, args.ldb, args.batch_stride_b);
    c.place_at(place, args.c, args.ldc, args.batch_stride_c);
  }
  bool any() const { return a.is_copy || b.is_copy || c.is_copy; }
  long_index_t bytes() const { return a.bytes + b.bytes + c.bytes; }
  /// From the copy of C to C.
  repitch_args back() const {
    return {c.copy.to,
            const_cast<void*>(c.copy.from),
            c.copy.rows,
            c.copy.cols,
            c.copy.to_ld,
            c.copy.from_ld,
            c.copy.batch,
            c.copy.to_batch_stride,
            c.copy.from_batch_stride};
  }
};

/// Bulk stores fill the last 16 bytes of a row with zeros, for which a copy of C has room.
template <class Kernel>
struct with_room_after_rows : Kernel {
  static const char* check(gemm_args g) {
    g.n = round_up(g.n, 16);
    g.ldc = max(g.ldc, g.n);
    if (Kernel::policy::b_major != operand_major::k) g.ldb = max(g.ldb, g.n);
    return Kernel::check(g);
  }
};

}  // namespace tilewright::detail
