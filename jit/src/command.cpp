// SPDX-License-Identifier: MIT
// clang++, hipcc and nvcc as commands.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/jit/error.hpp>

#include "embedded_header.hpp"
#include "files.hpp"
#include "process.hpp"
#include "targets.hpp"
#include "toolchain.hpp"

namespace tilewright::jit {
namespace {

class command final : public toolchain {
 public:
  command(std::string target, std::string program, std::vector<std::string> flags)
      : target_(std::move(target)), program_(std::move(program)), flags_(std::move(flags)) {}

  const std::string& identity() override {
    if (!identity_.empty()) return identity_;
    const command_result result = run_command({program_, "--version"});
    if (!result.started || result.exit_code == 127)
      throw error("the compiler " + program_ + " cannot be run: " + without_line_break(result.output));
    if (result.exit_code != 0)
      throw error(program_ + " --version failed with exit code " + std::to_string(result.exit_code));
    std::string version = without_paths(result.output);
    if (is_nvidia(target_))
      require_version(program_, version, "release ", 12, target_);
    else
      require_version(program_, version, "clang version ", arch::find_target(target_.c_str())->least_clang, target_);
    // Flags that compilers take from the environment.
    for (const char* name :
         {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "HIPCC_COMPILE_FLAGS_APPEND", "CCC_OVERRIDE_OPTIONS"})
      if (const char* value = std::getenv(name)) version.append(name).append("=").append(value).append("\n");
    return identity_ = version;
  }

  std::string compile(const translation_unit& unit) override {
    const temporary_folder folder;
    const std::filesystem::path source = folder.path() / "kernel.hip", object = folder.path() / "kernel.out";
    for (const auto& [path, text] : {std::pair{source, std::string_view(unit.text)},
                                     std::pair{folder.path() / "tilewright_single.hpp", embedded_header()}}) {
      const std::string failed = replace_file(path, text);
      if (!failed.empty()) throw error("cannot compile " + unit.name + ": " + failed);
    }
    std::vector<std::string> words = {program_};
    for (const std::string& word : flags_of(target_)) words.push_back(word);
    for (const std::string& d : unit.definitions) words.push_back("-D" + d);
    words.insert(words.end(), flags_.begin(), flags_.end());
    words.insert(words.end(), {"-I", folder.path().string(), source.string(), "-o", object.string()});
    const command_result result = run_command(words);
    if (!result.started)
      throw error("the compiler " + program_ + " cannot be run: " + without_line_break(result.output));
    if (result.exit_code != 0) throw_compile_error(program_, unit.name, target_, result.output);
    const std::optional<std::string> code = read_file(object);
    if (!code || code->empty())
      throw error(program_ + " ended without an error, but wrote no code for " + unit.name, result.output);
    return *code;
  }

 private:
  static std::vector<std::string> flags_of(const std::string& target) {
    if (is_nvidia(target)) return {"-x", "cu", "-std=c++20", "-O3", "-arch=" + target, "-cubin"};
    return {"-x",
            "hip",
            "-std=c++20",
            "-O3",
            "-nogpulib",
            "-nogpuinc",
            "--offload-arch=" + target,
            "--offload-device-only",
            "--no-gpu-bundle-output"};
  }
  /// Compilers say where they are installed, which does not change what they make.
  static std::string without_paths(const std::string& text) {
    std::istringstream lines(text);
    std::string result, line;
    while (std::getline(lines, line))
      if (line.find('/') == std::string::npos || line.find("version") != std::string::npos) result += line + "\n";
    return result;
  }
  static std::string without_line_break(const std::string& text) { return text.substr(0, text.find('\n')); }

  std::string target_, program_, identity_;
  std::vector<std::string> flags_;
};

}  // namespace

std::unique_ptr<toolchain> make_command(const std::string& target, const std::string& program,
                                        const std::vector<std::string>& flags) {
  return std::make_unique<command>(target, program, flags);
}

}  // namespace tilewright::jit
