// SPDX-License-Identifier: MIT
// Kernels of tools/gemm, each with what the library says about it at compile time.
#pragma once

#include "../../tools/gemm/kernel.hpp"

#include <tilewright/kernels/gemm/lds_prediction.hpp>

#include <ostream>
#include <regex>
#include <stdexcept>

#include "code_objects.hpp"

struct gemm_kernel_facts {
  std::string name;  // for instance gemm_f16_ak_bk_v8
  tilewright::operand_major a_major, b_major;
  tilewright::index_t vector, block_size;
  std::uint16_t (*bits_of)(double);
  double (*value_of)(std::uint16_t);
  const char* (*check)(const tilewright::gemm_args&);
  tilewright::grid_size (*grid)(const tilewright::gemm_args&);
  tilewright::gemm_lds_prediction (*lds_prediction)();  // for one block and one tile along k
  tilewright::gemm_lds_phases (*num_lds_phases)(const tilewright::gemm_args&);
};

template <class Choice>
std::string kernel_name() {
  using enum tilewright::operand_major;
  const bool is_half = std::is_same_v<typename Choice::element_type, tilewright::half_t>;
  return std::string(is_half ? "gemm_f16" : "gemm_bf16") + (Choice::a_major == k ? "_ak" : "_am") +
         (Choice::b_major == k ? "_bk_v" : "_bn_v") + std::to_string(Choice::vector);
}

template <class Choice, class Arch>
gemm_kernel_facts facts_of() {
  using namespace tilewright;
  using T = typename Choice::element_type;
  using policy = gemm_program::policy<Choice, Arch>;
  using kernel = gemm_kernel<policy>;
  return {
      .name = kernel_name<Choice>(),
      .a_major = Choice::a_major,
      .b_major = Choice::b_major,
      .vector = Choice::vector,
      .block_size = kernel::block_size,
      .bits_of = [](double value) { return bit_cast<std::uint16_t>(type_convert<T>(float(value))); },
      .value_of = [](std::uint16_t bits) { return double(type_convert<float>(bit_cast<T>(bits))); },
      .check = kernel::check,
      .grid = kernel::grid,
      .lds_prediction = predict_lds<typename gemm_program::analysed<Choice, Arch>::type>,
      .num_lds_phases = num_lds_phases<policy>,
  };
}

/// All kernels for one target.
template <class Arch>
std::vector<gemm_kernel_facts> gemm_kernels_for() {
  using enum tilewright::operand_major;
  using gemm_program::kernel_choice;
  std::vector<gemm_kernel_facts> kernels;
  const auto add_majors = [&]<class T, tilewright::index_t Vector>() {
    kernels.push_back(facts_of<kernel_choice<T, k, k, Vector>, Arch>());
    kernels.push_back(facts_of<kernel_choice<T, k, mn, Vector>, Arch>());
    kernels.push_back(facts_of<kernel_choice<T, mn, k, Vector>, Arch>());
    kernels.push_back(facts_of<kernel_choice<T, mn, mn, Vector>, Arch>());
  };
  add_majors.template operator()<tilewright::half_t, 8>();
  add_majors.template operator()<tilewright::half_t, 1>();
  add_majors.template operator()<tilewright::bfloat16_t, 8>();
  add_majors.template operator()<tilewright::bfloat16_t, 1>();
  return kernels;
}

inline std::vector<gemm_kernel_facts> gemm_kernels_for(const std::string& arch) {
  std::vector<gemm_kernel_facts> kernels;
  for_each_target([&]<class Arch>() {
    if (arch == Arch::value.name) kernels = gemm_kernels_for<Arch>();
  });
  if (!kernels.empty()) return kernels;
  throw std::runtime_error("gemm_kernels_for: add " + arch);
}

/// The name of the kernel whose symbol this is. (The demangler of libstdc++ 12 does not know _Float16.)
inline std::string kernel_name_of(const std::string& symbol) {
  static const std::regex choice(
      R"(kernel_choiceI(DF16_|N(?:10tilewright|S\w*_)10bfloat16_tE)L.*operand_majorE([01])ELS\w_([01])ELi(\d+)E)");
  std::smatch found;
  if (!std::regex_search(symbol, found, choice)) return {};
  return std::string(found[1] == "DF16_" ? "gemm_f16" : "gemm_bf16") + (found[2] == "0" ? "_ak" : "_am") +
         (found[3] == "0" ? "_bk" : "_bn") + "_v" + found[4].str();
}
