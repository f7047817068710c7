// SPDX-License-Identifier: MIT
// What one run computes with: matrices from files or random, and what the epilogue needs.
#include "inputs.hpp"

#include <algorithm>

#include "agreed.hpp"
#include "memory.hpp"
#include "npy.hpp"
#include "random.hpp"

namespace gemm_program {
namespace {

constexpr std::int64_t default_size = 512;
constexpr const char* the_options = "the options";

std::string text_of_size(std::int64_t size) { return std::to_string(size); }
std::string text_of_element(element type) { return name_of(type); }
std::string text_of_order(order storage) { return name_of(storage); }

/// The element that an option names on a machine.
element element_of(dtype type, tw::arch::fp8_kind fp8, const std::string& target) {
  switch (type) {
    case dtype::f16: return element::f16;
    case dtype::bf16: return element::bf16;
    case dtype::f32: return element::f32;
    case dtype::int8: return element::i8;
    case dtype::int32: return element::i32;
    case dtype::fp8:
    case dtype::bf8: break;
  }
  if (fp8 == tw::arch::fp8_kind::none) throw refusal(target + " has no kernels for fp8 and bf8");
  if (fp8 == tw::arch::fp8_kind::ocp) return type == dtype::fp8 ? element::e4m3 : element::e5m2;
  return type == dtype::fp8 ? element::e4m3fnuz : element::e5m2fnuz;
}

/// The result's type for operands of a type, unless the options name another.
element default_result(element type) {
  if (type == element::i8) return element::i32;
  return is_fp8(type) ? element::f32 : type;
}

/// What is settled about all three matrices before any of them is read.
struct agreement {
  agreed<std::int64_t> m{"m", text_of_size}, n{"n", text_of_size}, k{"k", text_of_size},
      batch{"the number of matrices", text_of_size};
  agreed<element> type{"the element type", text_of_element}, result{"the element type of C", text_of_element};
  agreed<order> a_order{"the order of A", text_of_order}, b_order{"the order of B", text_of_order},
      c_order{"the order of C", text_of_order};

  void state(const options& o, tw::arch::fp8_kind fp8, const std::string& target) {
    m.state(o.m, the_options);
    n.state(o.n, the_options);
    k.state(o.k, the_options);
    batch.state(o.batch, the_options);
    if (o.type) type.state(element_of(*o.type, fp8, target), the_options);
    if (o.result) result.state(element_of(*o.result, fp8, target), the_options);
    a_order.state(o.a_order, the_options);
    b_order.state(o.b_order, the_options);
    c_order.state(o.c_order, the_options);
  }

  /// `elements`: what the options say about them.
  void state(const npy_reader& file, agreed<std::int64_t>& rows, agreed<std::int64_t>& cols, agreed<element>& elements,
             bool elements_are_known, agreed<order>& storage) {
    const npy_header& header = file.header();
    const std::string source =
        file.name() + " (" + std::to_string(header.rows) + " x " + std::to_string(header.cols) + ")";
    rows.state(header.rows, source);
    cols.state(header.cols, source);
    batch.state(header.batch, file.name());
    switch (header.scalar) {
      case npy_scalar::f16: elements.state(element::f16, file.name()); break;
      case npy_scalar::bf16: elements.state(element::bf16, file.name()); break;
      case npy_scalar::i8: elements.state(element::i8, file.name()); break;
      case npy_scalar::i32: elements.state(element::i32, file.name()); break;
      case npy_scalar::byte:
        if (!elements_are_known)
          throw refusal("the bytes of " + file.name() + " may be fp8 or bf8; say which with --dtype or --out-dtype");
        break;
      case npy_scalar::f32: break;  // rounded to what is wanted
    }
    // A single row or column is the same in both orders, and NumPy always calls it row-major.
    if (header.rows > 1 && header.cols > 1) storage.state(header.storage, file.name());
  }

  problem settled(const options& o) const {
    problem p;
    p.m = m.value_or(default_size);
    p.n = n.value_or(default_size);
    p.k = k.value_or(default_size);
    p.batch = batch.value_or(1);
    p.type = type.value_or(element::f16);
    if (p.type == element::i32) throw refusal("A and B cannot be int32; int8 operands give an int32 C");
    p.result = result.value_or(default_result(p.type));
    if (p.result == element::i32 && p.type != element::i8) throw refusal("an int32 C needs int8 operands");
    // Kernels for everything but plain products of 16-bit elements want operands contiguous along k.
    const bool is_plain = bytes_of(p.type) == 2 && p.result == p.type && o.epilogue == epilogue_request{} &&
                          o.kernel.split_k == 1 && !o.kernel.policy && !o.kernel.grid_order;
    p.a_order = a_order.value_or(order::row_major);
    p.b_order = b_order.value_or(is_plain ? order::row_major : order::col_major);
    p.c_order = c_order.value_or(order::row_major);
    p.alpha = o.alpha;
    p.beta = o.beta;
    p.epilogue = o.epilogue;
    p.gap = o.gap;
    return p;
  }
};

std::optional<npy_reader> open(const std::optional<std::string>& name) {
  return name ? std::optional<npy_reader>(std::in_place, *name) : std::nullopt;
}

/// An empty matrix of the wanted shape.
struct wanted {
  std::int64_t rows, cols;
  order storage;
  element type;
  std::int64_t batch;
};

matrix read(npy_reader& file, const wanted& w) {
  matrix result = file.read(w.type);
  result.storage = w.storage;  // differs from the file's for a single row or column only, where it makes no difference
  return result;
}

matrix make(const wanted& w) {
  return {.rows = w.rows, .cols = w.cols, .storage = w.storage, .type = w.type, .batch = w.batch};
}

matrix make_poisoned(const wanted& w) {
  matrix result = make(w);
  const std::uint32_t poison = poison_of(w.type);
  for (std::int64_t i = 0; i < result.count(); ++i) result.set_bits_at(i, poison);
  return result;
}

matrix draw(const wanted& w, std::uint64_t seed, char stream) {
  matrix result = make(w);
  fill_random(result, seed, static_cast<std::uint64_t>(stream));
  return result;
}

epilogue_data draw_epilogue(const problem& p, const options& o) {
  epilogue_data e;
  if (p.epilogue.scale) e.scale = o.scale.value();
  if (p.epilogue.row_scale) e.row_scale = random_scales(p.m, o.seed, 'm');
  if (p.epilogue.column_scale) e.column_scale = random_scales(p.n, o.seed, 'n');
  if (p.epilogue.bias) e.bias = draw({1, p.n, order::row_major, p.result, 1}, o.seed, 'b');
  if (p.epilogue.residual) e.residual = draw({p.m, p.n, p.c_order, p.result, p.batch}, o.seed, 'r');
  return e;
}

}  // namespace

operands inputs::pointers() {
  const auto data = [](const std::vector<float>& values) { return values.empty() ? nullptr : values.data(); };
  const auto first = [](const matrix& m) { return m.bytes.empty() ? nullptr : m.bytes.data(); };
  return {.a = a.bytes.data(),
          .b = b.bytes.data(),
          .c = c.bytes.data(),
          .scale = what.epilogue.scale ? &epilogue.scale : nullptr,
          .row_scale = data(epilogue.row_scale),
          .column_scale = data(epilogue.column_scale),
          .bias = first(epilogue.bias),
          .residual = first(epilogue.residual)};
}

inputs prepare_inputs(const options& o, tw::arch::fp8_kind fp8, const std::string& target,
                      const std::function<void(const problem&)>& require) {
  std::optional<npy_reader> a_file = open(o.a_file), b_file = open(o.b_file), c_file = open(o.c_file);
  agreement all;
  all.state(o, fp8, target);
  if (a_file) all.state(*a_file, all.m, all.k, all.type, o.type.has_value(), all.a_order);
  if (b_file) all.state(*b_file, all.k, all.n, all.type, o.type.has_value(), all.b_order);
  if (c_file) all.state(*c_file, all.m, all.n, all.result, o.result.has_value(), all.c_order);

  inputs result;
  const problem& p = result.what = all.settled(o);
  require_memory(p, /*copies_of_c=*/p.beta == 0 ? 0 : (is_verified(o, p) ? 1 : 0) + (o.repeat > 1 ? 1 : 0));
  if (o.out_file && p.batch > 1 && p.c_order == order::col_major)
    throw refusal(
        "a batch of column-major matrices does not fit a .npy file: in Fortran's order they would not follow each "
        "other; use a row-major C");
  if (require) require(p);

  const wanted a{p.m, p.k, p.a_order, p.type, p.batch}, b{p.k, p.n, p.b_order, p.type, p.batch},
      c{p.m, p.n, p.c_order, p.result, p.batch};
  result.a = a_file ? read(*a_file, a) : draw(a, o.seed, 'A');
  result.b = b_file ? read(*b_file, b) : draw(b, o.seed, 'B');
  result.c = c_file ? read(*c_file, c) : p.beta != 0 ? draw(c, o.seed, 'C') : make_poisoned(c);
  result.epilogue = draw_epilogue(p, o);
  if (p.gap > 0) {
    for (matrix* m : {&result.a, &result.b, &result.c, &result.epilogue.residual})
      if (!m->bytes.empty()) *m = with_gap(*m, p.gap, poison_of(m->type));
  }
  result.a_source = o.a_file.value_or("random");
  result.b_source = o.b_file.value_or("random");
  result.c_source = o.c_file.value_or(p.beta != 0 ? "random" : "none");
  return result;
}

bool is_verified(const options& o, const problem& p) {
  return o.verify.value_or(double(p.batch) * double(p.m) * double(p.n) * double(p.k) <= 0x1p36);
}

}  // namespace gemm_program
