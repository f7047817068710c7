// SPDX-License-Identifier: MIT
#include "toolchain.hpp"

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <sstream>

#include <tilewright/jit/error.hpp>

#include "process.hpp"
#include "targets.hpp"

namespace tilewright::jit {

void throw_compile_error(const std::string& compiler, const std::string& kernel, const std::string& target,
                         const std::string& log) {
  std::istringstream lines(log);
  std::string first, line;
  while (std::getline(lines, line)) {
    if (first.empty()) first = line;
    const std::size_t at = line.find("error");
    if (at == std::string::npos) continue;
    first = line.substr(at);
    break;
  }
  throw error(compiler + " could not compile " + kernel + " for " + target + ": " +
                  (first.empty() ? "it wrote no message" : first),
              log);
}

void require_version(const std::string& compiler, const std::string& text, const std::string& word, int smallest,
                     const std::string& target) {
  const std::size_t at = text.find(word);
  const int version = at == std::string::npos ? 0 : std::atoi(text.c_str() + at + word.size());
  if (version == 0) throw error(compiler + " does not say which version it is, so it cannot compile kernels: " + text);
  if (version < smallest)
    throw error(compiler + " is version " + std::to_string(version) + ", too old for kernels for " + target +
                "; they need " + std::to_string(smallest) + " or later");
}

std::unique_ptr<toolchain> make_toolchain(const std::string& target, const std::string& compiler,
                                          const std::vector<std::string>& flags, bool is_ahead) {
  require_known_target(target);
  if (compiler == "nvrtc") return make_nvrtc(target, flags, is_ahead);
  if (compiler == "hiprtc") return make_hiprtc(target, flags);
  if (!compiler.empty()) return make_command(target, compiler, flags);

  // Of those that are missing only the names are listed.
  std::string tried;
  const auto attempt = [&](auto make) -> std::unique_ptr<toolchain> {
    try {
      std::unique_ptr<toolchain> found = make();
      found->identity();
      return found;
    } catch (const error& e) {
      tried += (tried.empty() ? "" : "; ") + std::string(e.what()).substr(5);
      return nullptr;
    }
  };
  const auto try_commands = [&](std::initializer_list<const char*> programs) -> std::unique_ptr<toolchain> {
    for (const char* program : programs) {
      if (!is_program(program))
        tried += (tried.empty() ? "no " : "; no ") + std::string(program);
      else if (auto found = attempt([&] { return make_command(target, program, flags); }))
        return found;
    }
    return nullptr;
  };
  std::unique_ptr<toolchain> found;
  if (is_nvidia(target)) {
    found = attempt([&] { return make_nvrtc(target, flags, is_ahead); });
    if (!found) found = try_commands({"nvcc", "/usr/local/cuda/bin/nvcc"});
  } else {
    found = try_commands({"clang++-22", "clang++-21", "clang++-20", "clang++-19", "amdclang++",
                          "/opt/rocm/bin/amdclang++", "hipcc", "clang++"});
    if (!found) found = attempt([&] { return make_hiprtc(target, flags); });
  }
  if (found) return found;
  throw error("no compiler for " + target + " was found (" + tried +
              "); install one, name it in compiler_options::compiler, or load an archive");
}

}  // namespace tilewright::jit
