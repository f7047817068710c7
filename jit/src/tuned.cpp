// SPDX-License-Identifier: MIT
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/choice/choice_name.hpp>
#include <tilewright/kernels/gemm/choice/tuning_name.hpp>

#include "find_tunings.hpp"

namespace tilewright::jit {
namespace {

arch::matrix_element as_matrix_element(element e) {
  switch (e) {
    case element::bf16: return arch::matrix_element::bf16;
    case element::f32: return arch::matrix_element::f32;
    case element::fp8: return arch::matrix_element::fp8_ocp;
    case element::bf8: return arch::matrix_element::bf8_ocp;
    case element::i8: return arch::matrix_element::i8;
    default: return arch::matrix_element::f16;
  }
}

/// Nothing for a choice that only programs compiled ahead have, such as copies of operands.
std::optional<gemm_problem> with_choice(gemm_problem problem, const std::string& choice) {
  const std::optional<choice_name> name = choice_name::parse(choice);
  if (!name) return std::nullopt;
  problem.policy = name->text();
  try {
    (void)gemm(problem)("sm_90a");
    return problem;
  } catch (const error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<tuning_file::entry> find_tunings(std::string_view text, const std::string& problem) {
  std::vector<tuning_file::entry> found;
  const std::string sought = "\t" + problem + "\t",
                    this_version = tuning_key("", 0).substr(tuning_key("", 0).rfind(", "));
  for (std::size_t at = text.find(sought); at != std::string_view::npos; at = text.find(sought, at + 1)) {
    const std::size_t begin = text.rfind('\n', at) + 1;  // npos + 1 is 0
    const std::optional<tuning_file::entry> e =
        tuning_file::parse(std::string(text.substr(begin, text.find('\n', at) - begin)));
    if (e && e->problem == problem && e->key.ends_with(this_version)) found.push_back(*e);
  }
  return found;
}

std::string tuning_name_of(const gemm_problem& p) {
  return tuning_name(p.args, as_matrix_element(p.type), as_matrix_element(p.result), p.a_along_k, p.b_along_k);
}

gemm_problem tuned(const compiler& by, const gemm_problem& problem) {
  const std::string choice = by.tuned_choice(tuning_name_of(problem));
  return choice.empty() ? problem : with_choice(problem, choice).value_or(problem);
}

std::vector<gemm_problem> tuned(std::string_view tuning_text, const gemm_problem& problem) {
  std::vector<gemm_problem> problems;
  for (const tuning_file::entry& e : find_tunings(tuning_text, tuning_name_of(problem)))
    if (std::optional<gemm_problem> p = with_choice(problem, e.choice)) problems.push_back(std::move(*p));
  return problems;
}

}  // namespace tilewright::jit
