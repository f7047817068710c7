// SPDX-License-Identifier: MIT
#include <tilewright/jit/tensor.hpp>

#include <bit>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/tensor/permute_choice.hpp>

#include "operation.hpp"

namespace tilewright::jit {
namespace {

/// A kernel's name, the start of its type, and what follows the element type in it.
struct permute_text {
  std::string name, type, rest;
};
template <class Offset>
constexpr const char* offset_text = sizeof(Offset) == 4 ? ", tilewright::index_t" : ", tilewright::long_index_t";

template <class Arch, class T, index_t Vector, class Offset>
permute_text text_of(tilewright::permute<Arch, T, Vector, Offset>) {
  return {"permute_v" + std::to_string(Vector), "permute", ", " + std::to_string(Vector) + offset_text<Offset>};
}
template <class Arch, class T, class Offset>
permute_text text_of(permute_runs<Arch, T, Offset>) {
  return {"permute_runs", "permute_runs", offset_text<Offset>};
}
template <class Arch, class T, class Offset>
permute_text text_of(permute_unaligned<Arch, T, Offset>) {
  return {"permute_unaligned", "permute_unaligned", offset_text<Offset>};
}
template <class Arch, class T>
permute_text text_of(map_tensor<Arch, T>) {
  return {"permute_by_element", "map_tensor", ""};
}

template <class T>
kernel_source permute_source(const map_args<void, void>& given, const char* element) {
  const auto args = std::bit_cast<map_args<T, T>>(given);
  kernel_source s;
  choose_permute_kernel<arch::sm90>(args, [&]<class Kernel>(Kernel kernel) {
    require_fit("permute", Kernel::check(args));
    const permute_text text = text_of(kernel);
    s.name = text.name + "_" + std::to_string(8 * sizeof(T)) + (text.rest.ends_with("long_index_t") ? "_far" : "");
    s.kernel = "tw::" + text.type + "<tw::arch::current, " + element + text.rest + ">";
    s.uses = {"kernels/tensor/" + text.type + ".hpp"};
    s.host = half_of<Kernel>();
  });
  return s;
}

}  // namespace

kernel_request permute(const permute_problem& problem) {
  return remembered([problem](const std::string& target) {
    map_args<void, void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x.data, args.y.data);
    kernel_source s;
    switch (problem.element_bytes) {
      case 1: s = permute_source<unsigned char>(args, "unsigned char"); break;
      case 2: s = permute_source<unsigned short>(args, "unsigned short"); break;
      case 4: s = permute_source<unsigned>(args, "unsigned"); break;
      case 8: s = permute_source<unsigned long long>(args, "unsigned long long"); break;
      default: throw error("permute: elements have 1, 2, 4 or 8 bytes, not " + std::to_string(problem.element_bytes));
    }
    limit_threads(s.host, target, 256);
    return s;
  });
}

}  // namespace tilewright::jit
