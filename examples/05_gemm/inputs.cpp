// SPDX-License-Identifier: MIT
// The matrices of one run: read from files, or random.
#include "inputs.hpp"

#include <algorithm>

#include "agreed.hpp"
#include "memory.hpp"
#include "npy.hpp"
#include "random.hpp"

namespace gemm_example {
namespace {

constexpr std::int64_t default_size = 512;
constexpr const char* the_options = "the options";

std::string text_of_size(std::int64_t size) { return std::to_string(size); }
std::string text_of_element(element type) { return name_of(type); }
std::string text_of_order(order storage) { return name_of(storage); }

/// What is settled about all three matrices before any of them is read.
struct agreement {
  agreed<std::int64_t> m{"m", text_of_size}, n{"n", text_of_size}, k{"k", text_of_size};
  agreed<element> type{"the element type", text_of_element};
  agreed<order> a_order{"the order of A", text_of_order}, b_order{"the order of B", text_of_order},
      c_order{"the order of C", text_of_order};

  void state(const options& o) {
    m.state(o.m, the_options);
    n.state(o.n, the_options);
    k.state(o.k, the_options);
    type.state(o.type, the_options);
    a_order.state(o.a_order, the_options);
    b_order.state(o.b_order, the_options);
    c_order.state(o.c_order, the_options);
  }

  void state(const npy_reader& file, agreed<std::int64_t>& rows, agreed<std::int64_t>& cols, agreed<order>& storage) {
    const npy_header& header = file.header();
    const std::string source =
        file.name() + " (" + std::to_string(header.rows) + " x " + std::to_string(header.cols) + ")";
    rows.state(header.rows, source);
    cols.state(header.cols, source);
    if (header.scalar != npy_scalar::f32)
      type.state(header.scalar == npy_scalar::f16 ? element::f16 : element::bf16, file.name());
    // A single row or column is the same in both orders, and NumPy always calls it row-major.
    if (header.rows > 1 && header.cols > 1) storage.state(header.storage, file.name());
  }

  problem settled(const options& o) const {
    return {.m = m.value_or(default_size),
            .n = n.value_or(default_size),
            .k = k.value_or(default_size),
            .type = type.value_or(element::f16),
            .a_order = a_order.value_or(order::row_major),
            .b_order = b_order.value_or(order::row_major),
            .c_order = c_order.value_or(order::row_major),
            .alpha = o.alpha,
            .beta = o.beta};
  }
};

std::optional<npy_reader> open(const std::optional<std::string>& name) {
  return name ? std::optional<npy_reader>(std::in_place, *name) : std::nullopt;
}

/// A matrix of the settled size, order and type.
struct wanted {
  std::int64_t rows, cols;
  order storage;
  element type;
};

matrix read(npy_reader& file, const wanted& w) {
  matrix result = file.read(w.type);
  result.storage = w.storage;  // differs from the file's for a single row or column only, where it makes no difference
  return result;
}

matrix make(const wanted& w, std::uint16_t fill) {
  return {.rows = w.rows,
          .cols = w.cols,
          .storage = w.storage,
          .elements = std::vector<std::uint16_t>(static_cast<std::size_t>(w.rows * w.cols), fill)};
}

matrix draw(const wanted& w, std::uint64_t seed, char stream) {
  matrix result = make(w, 0);
  fill_random(result, w.type, seed, static_cast<std::uint64_t>(stream));
  return result;
}

}  // namespace

inputs prepare_inputs(const options& o) {
  std::optional<npy_reader> a_file = open(o.a_file), b_file = open(o.b_file), c_file = open(o.c_file);
  agreement all;
  all.state(o);
  if (a_file) all.state(*a_file, all.m, all.k, all.a_order);
  if (b_file) all.state(*b_file, all.k, all.n, all.b_order);
  if (c_file) all.state(*c_file, all.m, all.n, all.c_order);

  inputs result;
  const problem& p = result.what = all.settled(o);
  require_memory(p, /*keeps_initial_c=*/p.beta != 0 && is_verified(o, p));

  const wanted a{p.m, p.k, p.a_order, p.type}, b{p.k, p.n, p.b_order, p.type}, c{p.m, p.n, p.c_order, p.type};
  result.a = a_file ? read(*a_file, a) : draw(a, o.seed, 'A');
  result.b = b_file ? read(*b_file, b) : draw(b, o.seed, 'B');
  result.c = c_file ? read(*c_file, c) : p.beta != 0 ? draw(c, o.seed, 'C') : make(c, nan_bits);
  result.a_source = o.a_file.value_or("random");
  result.b_source = o.b_file.value_or("random");
  result.c_source = o.c_file.value_or(p.beta != 0 ? "random" : "none");
  return result;
}

bool is_verified(const options& o, const problem& p) {
  return o.verify.value_or(double(p.m) * double(p.n) * double(p.k) <= 0x1p36);
}

}  // namespace gemm_example
