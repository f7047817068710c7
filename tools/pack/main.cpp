// SPDX-License-Identifier: MIT
// tilewright-pack: an archive with the kernels of a list of problems, for several targets.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tilewright/jit/archive.hpp>
#include <tilewright/jit/compiler.hpp>

#include "../program/command_line.hpp"
#include "../program/output_file.hpp"
#include "../program/run.hpp"
#include "shapes.hpp"
#include "tune.hpp"

namespace {

namespace jit = tilewright::jit;

struct options {
  std::string shapes, output = "kernels.twa", compiler, listed, tuning;
  std::vector<std::string> targets;
  unsigned threads = 0;
};

void list(const std::string& path) {
  std::vector<std::string> sorted = jit::archive(path).names();
  std::sort(sorted.begin(), sorted.end());
  std::string names;
  for (const std::string& name : sorted) names += name + "\n";
  program::print(names);
}

/// Of the list, with what its GEMMs' fastest tiles on this machine's GPU add.
void tune(const options& o, pack::shapes& shapes, std::vector<std::string>& targets) {
  jit::compiler here({.compiler = o.compiler, .threads = o.threads, .on_progress = jit::progress_line()});
  if (targets.empty()) targets.push_back(here.target());
  if (std::find(targets.begin(), targets.end(), here.target()) == targets.end())
    throw jit::error("--tune times kernels for this machine's " + here.target() +
                     ", which is no target of the archive");
  const std::vector<std::string> choices = pack::tune(shapes, o.tuning, here);
  for (std::size_t i = 0; i < choices.size(); ++i)
    program::print("gemm[" + std::to_string(i) + "]: " + choices[i] + "\n");
}

void write(const options& o) {
  pack::shapes shapes = pack::read_shapes(pack::read_file(o.shapes), std::filesystem::path(o.shapes).parent_path());
  std::vector<std::string> targets = o.targets.empty() ? shapes.targets : o.targets;
  program::output_file file(o.output);  // what forbids it is said before anything is compiled
  if (!o.tuning.empty()) tune(o, shapes, targets);
  if (targets.empty()) throw jit::error("name the targets, in the list of shapes or by --target");
  jit::archive_writer writer;
  std::set<std::string> keys;
  for (const std::string& target : targets) {
    jit::compiler compiler(
        {.target = target, .compiler = o.compiler, .threads = o.threads, .on_progress = jit::progress_line()});
    const std::vector<jit::kernel_source> sources = pack::sources_of(shapes, target);
    compiler.prepare(sources);
    for (const jit::kernel_source& source : sources) {
      const std::string key = compiler.archive_key(source);
      if (keys.insert(key).second) writer.add(key, compiler.archive_name(source), compiler.code_object(source));
    }
  }
  for (const auto& [name, text] : shapes.texts) writer.add_text(name, text);
  file.write(writer.bytes());
  file.commit();
  const auto count = [](std::size_t n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
  };
  const std::string problems = count(shapes.kernels.size(), "problem"), sets = count(shapes.sets.size(), "set");
  const std::string of_what = shapes.sets.empty() ? problems : shapes.kernels.empty() ? sets : problems + ", " + sets;
  program::print(o.output + ": " + count(keys.size(), "kernel") + " for " + of_what + " and " +
                 count(targets.size(), "target") + "\n");
}

/// The text to print if only that was asked for.
std::optional<std::string> parse(options& o, int argc, const char* const* argv) {
  program::command_line line(
      "tilewright-pack",
      "Compiles the kernels of a list of problems into an archive that programs load without a compiler");
  line.file("shapes", "SHAPES.json", "The list: docs/jit.md says what it holds",
            [&o](const std::string& name) { o.shapes = name; });
  line.file("--output", "FILE", "The archive (default kernels.twa)", [&o](const std::string& name) { o.output = name; })
      .letter = "-o";
  line.list("--target", "TARGET", "gfx942, sm_90a, ... (default: those of the list)", o.targets);
  line.text("--compiler", "NAME", "nvrtc, hiprtc, clang++, hipcc or nvcc (default: the first that is there)",
            [&o](const std::string& name) { o.compiler = name; });
  line.number<unsigned>(
      "--threads", "NUMBER", "Compilations at a time (default: one for each of the CPU's threads)",
      "a whole number from 1 to 1024", [](unsigned n) { return n >= 1 && n <= 1024; },
      [&o](unsigned n) { o.threads = n; });
  line.file(
      "--tune", "FILE",
      "Time tiles for each GEMM of the list on this machine's GPU, and keep the fastest in a tuning file and in the "
      "archive",
      [&o](const std::string& name) { o.tuning = name; });
  line.file("--list", "FILE", "Print what an archive holds", [&o](const std::string& name) { o.listed = name; });
  line.section_of_help("Exit code",
                       "0 success; 2 the request cannot be carried out. The archive is written whole, or not at all.");
  line.example("tilewright-pack shapes.json --tune tuning.txt -o kernels.twa",
               "The fastest tiles of this machine's GPU, by time");
  line.example("tilewright-pack shapes.json --target gfx942 --target sm_90a -o kernels.twa",
               "Kernels for two GPUs in one archive");
  const std::optional<std::string> text = line.parse(argc, argv);
  if (!text && o.listed.empty() && o.shapes.empty())
    throw program::refusal("name a list of shapes, or an archive with --list; --help says more");
  if (!text && !o.listed.empty() && (!o.shapes.empty() || line.has("--output") || line.has("--tune")))
    throw program::refusal(
        "--list prints what an archive holds; it cannot be combined with a list of shapes, --output or --tune");
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  return program::run("tilewright-pack", argc, argv, [&]() -> int {
    options o;
    if (const std::optional<std::string> text = parse(o, argc, argv)) {
      program::print(*text);
      return program::success;
    }
    try {
      o.listed.empty() ? write(o) : list(o.listed);
    } catch (const jit::error& error) {
      const std::string sentence = error.what();
      throw program::refusal(sentence.starts_with("jit: ") ? sentence.substr(5) : sentence);
    }
    return program::success;
  });
}
