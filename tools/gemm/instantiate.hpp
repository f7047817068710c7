// SPDX-License-Identifier: MIT
// Makes the kernels of kernel_table.hpp, each with what the program must know about it.
#pragma once

#include "kernel_entry.hpp"
#include "kernel_table.hpp"

namespace gemm_program {

/// -1: a default policy without a name.
template <class Choice, class Arch>
inline constexpr tw::index_t policy_number =
    Choice::variant.named >= 0 ? Choice::variant.named
                               : number_of_default_policy<Arch, typename Choice::element_type>();

template <class Choice, class Arch>
const char* name_of_policy() {
  constexpr tw::index_t number = policy_number<Choice, Arch>;
  if constexpr (number < 0) {
    return "gemm_default";
  } else {
    return detail::base_policy<vector_choice<typename Choice::element_type>, Arch, number>::type::name;
  }
}

#if TILEWRIGHT_CPU_PASS

/// Launches on the CPU emulator and adds the LDS conflicts that it counts.
template <class Kernel>
void run_on_cpu(const tw::gemm_args& args, std::vector<lds_conflicts>& conflicts,
                const std::function<void(double)>& progress) {
  const tw::emulator::launch_report report =
      tw::launch<Kernel>(args, {.progress = [&](tw::long_index_t done, tw::long_index_t total) {
                           if (progress) progress(double(done) / double(total));
                         }});
  for (const tw::emulator::lds_op_counts& counts : report.by_op) {
    const std::string name = tw::arch::instruction_name(Kernel::arch::value, counts.op);
    for (lds_conflicts& known : conflicts) {
      if (known.instruction == name) known.counted_conflicts += counts.conflicts;
    }
  }
}

#endif

template <class Choice, class Arch>
kernel_entry make_entry() {
  using own = policy<Choice, Arch>;
  using kernel = typename kernel_of<Choice>::template type<Arch>;
  using known = typename analysed<Choice, Arch>::type;
  constexpr kernel_variant v = Choice::variant;
  kernel_entry e;
  e.target = &Arch::value;
  e.type = element_of<typename Choice::element_type>();
  e.result = element_of<typename Choice::result_type>();
  e.a_major = Choice::a_major;
  e.b_major = Choice::b_major;
  e.vector = Choice::vector;
  e.policy = name_of_policy<Choice, Arch>();
  e.policy_number = policy_number<Choice, Arch>;
  e.is_default = v.named < 0;
  e.has_epilogue = v.has_epilogue;
  e.split_k = v.split_k;
  e.curve = v.curve;
  e.check = kernel::check;
  e.prediction = &tw::lds_prediction_of<known>;
  e.rounds = tw::num_lds_phases<own>;
  if constexpr (v.is_plain() && __is_same(typename Choice::element_type, tw::half_t) && Choice::vector == 8 &&
                Choice::a_major == tw::operand_major::k && Choice::b_major == tw::operand_major::k)
    e.report = &tw::static_report<own>;
#if TILEWRIGHT_CPU_PASS
  e.run_on_cpu = run_on_cpu<kernel>;
#elif !TILEWRIGHT_AMDGCN_PASS  // nvcc must see the same kernels in both of its passes
  e.launch = [](const tw::gemm_args& args) { tw::launch<kernel_of<Choice>::template type, Arch>(args); };
#endif
  return e;
}

template <class Arch, class Elements>
void add_kernels(kernel_list& list) {
  tw::apply(
      [&]<class... Ts>(Ts...) {
        const auto add = [&]<class Choice>(Choice) {
          if constexpr (Elements::template has<Choice>) {
            if constexpr (is_available<Choice, Arch>) list.push_back(make_entry<Choice, Arch>());
          }
        };
        (for_each_kernel<Ts, Arch>(add), ...);
      },
      typename Elements::types{});
}

#if TILEWRIGHT_DEVICE_PASS
/// The kernels of this pass's target, and nothing of what the host needs.
template <class Elements>
void emit_kernels() {
  tw::apply(
      []<class... Ts>(Ts...) {
        const auto emit = []<class Choice>(Choice) {
          if constexpr (Elements::template has<Choice>) launch_kernels<Choice>({});
        };
        (for_each_kernel<Ts, tw::arch::current>(emit), ...);
      },
      typename Elements::types{});
}
#endif

}  // namespace gemm_program
