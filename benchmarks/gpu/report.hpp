// SPDX-License-Identifier: MIT
// Results as a table while they come in, and as JSON at the end.
#pragma once

#include <map>

#include "ceilings.hpp"
#include "race.hpp"
#include "sample.hpp"

namespace gpu_benchmark {

/// Facts about the machine and the program, for the JSON's head.
using facts = std::map<std::string, std::string>;

struct result {
  problem what;
  std::vector<standing> standings;
};

void print_head(const facts& about);
void print_row(const result& r);
/// The same in one line, with the bytes of A, B and C over the time.
void print_line_head();
void print_line(const result& r);
/// By regime, and as a histogram.
void print_population(const std::vector<result>& results);
void print_means(const std::vector<result>& results);

/// One object per problem in "results", with `tflops`, `cublas_tflops` and
/// `ratio_to_cublas` of the library's contender.
std::string to_json(const facts& about, const std::vector<result>& results);

/// The same for loops of instructions, in "ceilings": medians, and `tflops` of each launch.
void print_ceilings(const std::vector<ceiling>& all);
std::string to_json(const facts& about, const std::vector<ceiling>& ceilings);

}  // namespace gpu_benchmark
