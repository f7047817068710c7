// SPDX-License-Identifier: MIT
#include "tune.hpp"

#include <tilewright/jit/error.hpp>
#include <tilewright/jit/given_later.hpp>
#include <tilewright/launch/tuning/tuning_file.hpp>

namespace pack {

namespace jit = tilewright::jit;

std::vector<std::string> tune(shapes& all, const std::filesystem::path& file, jit::compiler& by) {
  if (all.products.empty()) throw jit::error("--tune times the tiles of GEMMs; the list has no \"gemm\"");
  tilewright::tuning_file remembered(file, by.tuning_key_of_gpu());
  std::vector<std::string> choices;
  for (jit::gemm_problem problem : all.products) {
    problem.args.workspace = jit::given_later(4);
    choices.push_back(jit::fastest_gemm(by, problem).policy);
    if (!remembered.remember(jit::tuning_name_of(problem), choices.back()))
      throw jit::error("the tuning file " + file.string() + " cannot be written");
  }
  std::string& text = all.texts["tuning"];
  text = read_file(file) + text;  // the first line of a problem counts
  add_tuned(all);
  return choices;
}

}  // namespace pack
