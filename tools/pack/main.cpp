// SPDX-License-Identifier: MIT
// tilewright-pack: an archive with the kernels of a list of problems, for several targets.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <tilewright/jit/archive.hpp>
#include <tilewright/jit/compiler.hpp>

#include "shapes.hpp"

namespace {

namespace jit = tilewright::jit;

struct options {
  std::string shapes, output, compiler;
  std::vector<std::string> targets;
  unsigned threads = 0;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw jit::error("the list " + path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

void list(const std::string& path) {
  for (const std::string& name : jit::archive(path).names()) std::printf("%s\n", name.c_str());
}

void write(const options& o) {
  const pack::shapes shapes = pack::read_shapes(read_file(o.shapes), std::filesystem::path(o.shapes).parent_path());
  const std::vector<std::string>& targets = o.targets.empty() ? shapes.targets : o.targets;
  if (targets.empty()) throw jit::error("name the targets, in the list of shapes or by --target");
  jit::archive_writer writer;
  std::set<std::string> keys;
  for (const std::string& target : targets) {
    jit::compiler compiler(
        {.target = target, .compiler = o.compiler, .threads = o.threads, .on_progress = jit::progress_line()});
    compiler.prepare(shapes.kernels);
    for (const jit::kernel_request& request : shapes.kernels) {
      const jit::kernel_source source = request(target);
      const std::string key = compiler.archive_key(source);
      if (keys.insert(key).second) writer.add(key, source.name + " for " + target, compiler.code_object(source));
    }
  }
  for (const auto& [name, text] : shapes.texts) writer.add_text(name, text);
  writer.write(o.output);
  std::printf("%s: %zu kernels for %zu problems and %zu targets\n", o.output.c_str(), keys.size(),
              shapes.kernels.size(), targets.size());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compiles the kernels of a list of problems into an archive that programs load without a compiler.");
  options o;
  std::string listed;
  app.add_option("shapes", o.shapes, "the list, JSON: docs/jit.md says what it holds");
  app.add_option("-o,--output", o.output, "the archive")->default_str("kernels.twa");
  app.add_option("--target", o.targets, "gfx942, sm_90a, ...; otherwise those of the list");
  app.add_option("--compiler", o.compiler, "nvrtc, hiprtc, clang++, hipcc or nvcc; otherwise the first that is there");
  app.add_option("--threads", o.threads, "compilations at a time; otherwise one for each of the CPU's threads");
  app.add_option("--list", listed, "print what an archive holds");
  CLI11_PARSE(app, argc, argv);
  try {
    if (o.output.empty()) o.output = "kernels.twa";
    if (!listed.empty())
      list(listed);
    else if (o.shapes.empty())
      throw jit::error("name a list of shapes; --help says more");
    else
      write(o);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tilewright-pack: %s\n", e.what() + (std::string_view(e.what()).starts_with("jit: ") ? 5 : 0));
    return 2;
  }
}
