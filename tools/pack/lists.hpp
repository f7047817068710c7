// SPDX-License-Identifier: MIT
// The lists that shapes have: what an entry of each asks for.
#pragma once

#include <span>
#include <string>
#include <utility>

#include <tilewright/jit/gemm.hpp>
#include <tilewright/jit/kernel_source.hpp>

#include "reader.hpp"

namespace pack {

namespace jit = tilewright::jit;

/// The request, which throws error with the sentence of check() if launches with these arguments are refused.
template <class Args>
jit::kernel_request checked(jit::kernel_request request, const Args& launched) {
  return [request = std::move(request), launched](const std::string& target) {
    jit::kernel_source source = request(target);
    if (const char* const why = source.host.check ? source.host.check(&launched) : nullptr) throw jit::error(why);
    return source;
  };
}

/// An entry of "gemm".
jit::gemm_problem read_product(reader& r);
jit::kernel_request product_request(const jit::gemm_problem& problem);

/// A list by its name, and what an entry of it asks for.
struct operation_list {
  const char* name;
  jit::kernel_request (*read)(reader&);
};
/// All lists but "gemm", "kernels" and "texts".
std::span<const operation_list> grouped_lists();
std::span<const operation_list> attention_lists();
std::span<const operation_list> row_lists();
std::span<const operation_list> tensor_lists();  // and routing

}  // namespace pack
