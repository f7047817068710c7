// SPDX-License-Identifier: MIT
// tilewright-predict: the model's times for GEMMs on AMD GPUs against measured ones.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "../program/command_line.hpp"
#include "../program/refusal.hpp"
#include "../program/run.hpp"
#include "fit.hpp"
#include "ledger.hpp"
#include "published.hpp"

namespace {

struct options {
  std::string table = PREDICT_TABLE;
  const tilewright::arch::cdna_gpu* gpu = nullptr;
  bool json = false, fits = false, by_group = false, behind = false, rows = false, published = false;
  int seed = 0;
};

std::optional<std::string> parse(options& o, int argc, const char* const* argv) {
  program::command_line line(
      "tilewright-predict",
      "Predicts measured GEMMs of AMD GPUs from the tiles of their kernels, and reports the errors");
  line.file("table", "TABLE.csv",
            "Measured GEMMs, in the columns of aiter's tuning tables (default: tools/predict/data/aiter_gemm.csv)",
            [&o](const std::string& name) { o.table = name; });
  std::vector<std::string> gpus;
  for (const tilewright::arch::cdna_gpu& gpu : tilewright::arch::cdna_gpus) gpus.push_back(gpu.name);
  line.choice("--gpu", "Only the rows of one GPU", gpus,
              [&o](std::size_t i) { o.gpu = &tilewright::arch::cdna_gpus[tilewright::index_t(i)]; });
  line.flag("--by-group", "Errors by GPU, type, library and time, too", o.by_group);
  line.flag("--behind", "List the shapes where this library is predicted to take 1.3 times as long as measured kernels",
            o.behind);
  line.number<int>(
      "--seed", "S", "Draw the shapes that this library is compared for by a seed (default: 0)",
      "a whole number from 0", [](int seed) { return seed >= 0; }, [&o](int seed) { o.seed = seed; });
  line.flag("--published", "Compare rates that HipKittens published for GEMM and attention, without a table",
            o.published);
  line.flag("--rows", "Print each row of the table with its predicted time, as JSON", o.rows);
  line.flag("--json", "Print JSON, with the groups", o.json);
  line.flag("--fit", "Fit the model's constants to one half of the shapes and print them", o.fits);
  line.section_of_help("Exit code", "0 success; 2 the request cannot be carried out.");
  line.example("tilewright-predict --by-group", "The ledger of docs/amd_predictions.md");
  const std::optional<std::string> text = line.parse(argc, argv);
  if (!text) line.refuse_both("--json", "--fit");
  return text;
}

std::string fitted(const std::vector<predict::measured_gemm>& rows) {
  const predict::fit_result result = predict::fit(rows, {}, 80);
  std::string text;
  char line[80];
  for (const predict::fitted_constant& c : predict::values_of(result.constants)) {
    std::snprintf(line, sizeof line, "%-22s %.3g\n", c.name.c_str(), c.value);
    text += line;
  }
  std::snprintf(line, sizeof line, "%-22s %.4f\n", "mean error", result.mean_error);
  return text + line;
}

}  // namespace

int main(int argc, char** argv) {
  return program::run("tilewright-predict", argc, argv, [&]() -> int {
    options o;
    if (const std::optional<std::string> text = parse(o, argc, argv)) {
      program::print(*text);
      return program::success;
    }
    if (o.published) {
      program::print(predict::published_rates());
      return program::success;
    }
    std::ifstream file(o.table);
    if (!file) throw program::refusal("cannot read " + o.table);
    std::vector<predict::measured_gemm> rows = predict::read_measured(file);
    if (o.gpu) std::erase_if(rows, [&o](const predict::measured_gemm& g) { return g.gpu != o.gpu; });
    if (o.rows) {
      program::print(predict::rows_as_json(rows).text());
      return program::success;
    }
    if (o.fits) {
      program::print(fitted(rows));
      return program::success;
    }
    const predict::ledger l = predict::make_ledger(rows, std::uint64_t(o.seed));
    if (o.behind) {
      program::print(predict::as_text_of_behind(l, 1.3));
      return program::success;
    }
    program::print(o.json ? predict::as_json(l).text() : predict::as_text(l, o.by_group));
    return program::success;
  });
}
