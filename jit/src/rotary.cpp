// SPDX-License-Identifier: MIT
#include <tilewright/jit/rows.hpp>

#include "row_kernel.hpp"

namespace tilewright::jit {

kernel_request rotary(const rotary_problem& problem) {
  require_float("rotary", problem.type);
  return remembered([problem](const std::string&) {
    rotary_args<void> args = problem.args;
    stand_ins stand_in;
    stand_in(args.x, args.y, args.cos, args.sin);
    return with_float(problem.type, [&]<class T>(of_type<T>) {
      constexpr index_t widest = 16 / sizeof(T);
      const auto make = [&]<class Kernel>(of_type<Kernel>, index_t vector) {
        const auto given = std::bit_cast<typename Kernel::args_type>(args);
        require_fit("rotary", Kernel::check(given));
        kernel_source s;
        s.name = std::string("rotary_") + (problem.kind == rotary_kind::half_split ? "split_" : "interleaved_") +
                 short_name(problem.type) + "_v" + std::to_string(vector);
        s.kernel = "tw::rotary<tw::arch::current, " + type_name(problem.type) + ", " +
                   kind_text("rotary_kind", problem.kind) + ", " + std::to_string(vector) + ">";
        s.uses = {"kernels/rows/rotary.hpp"};
        s.host = half_of<Kernel>();
        return s;
      };
      using wide = tilewright::rotary<arch::sm90, T>;
      using single = tilewright::rotary<arch::sm90, T, rotary_kind::half_split, 1>;
      return wide::check(std::bit_cast<typename wide::args_type>(args)) == nullptr ? make(of_type<wide>{}, widest)
                                                                                   : make(of_type<single>{}, 1);
    });
  });
}

}  // namespace tilewright::jit
