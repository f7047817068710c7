// SPDX-License-Identifier: MIT
// hipRTC: kernels that the program compiles while it runs, with clang as a command. AMDGCN_CLANG names it.
#include "state.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include <hip/hiprtc.h>

struct _hiprtcProgram {
  std::string source, name, log, code;
  std::vector<std::pair<std::string, std::string>> headers;  // name, text
  std::vector<std::pair<std::string, std::string>> names;    // expression, name of the symbol
};

namespace {
namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
/// One word for the shell.
std::string in_shell(const std::string& word) {
  std::string q = "'";
  for (const char c : word) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return q + "'";
}
/// What tilewright-check preloads is for the program, not for the compiler.
bool runs(const std::string& command, const std::string& log = "/dev/null") {
  return std::system(("LD_PRELOAD= " + command + " >/dev/null 2>" + log).c_str()) == 0;
}
/// clang that knows AMD's GPUs: as the user says, of ROCm, or of the system.
std::string compiler() {
  static const std::string found = [] {
    const char* const given = std::getenv("AMDGCN_CLANG");
    if (given) return in_shell(given);
    for (const char* c : {"hipcc", "clang++-22", "clang++"})
      if (runs(std::string(c) + " --version")) return std::string(c);
    return std::string();
  }();
  return found;
}
/// A folder for the files of one compilation.
struct work_folder {
  fs::path path;
  work_folder() {
    std::string name = (fs::temp_directory_path() / "amdgcn-rtc-XXXXXX").string();
    if (mkdtemp(name.data())) path = name;
  }
  ~work_folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};
/// The words of the command without those that say what is made. Options of nvrtc have two spellings.
std::string command_for(int n, const char** options, const fs::path& folder) {
  std::string command = compiler() + " -x hip --cuda-device-only --no-gpu-bundle-output -O3 -D__HIPCC_RTC__ -w";
  command += " -include hip/hip_runtime.h -I " + in_shell(folder.string());
  bool target = false;
  for (int k = 0; k < n; ++k) {
    std::string o = options[k];
    for (const char* spelling : {"--gpu-architecture=", "-arch=", "--offload-arch="})
      if (o.starts_with(spelling)) {
        o = o.substr(std::strlen(spelling));
        o = "--offload-arch=" + o.substr(0, o.find(':'));
        target = true;
      }
    command += " " + in_shell(o);
  }
  if (!target) command += " --offload-arch=" + emulated_hip::emulated_gpu();
  return command;
}
/// Which symbols the expressions name: a table of their addresses is compiled to assembly, and read from there.
void find_names(_hiprtcProgram& p, const std::string& command, const fs::path& folder) {
  if (p.names.empty() || !runs(command + " -S -o " + in_shell((folder / "names.s").string()))) return;
  std::istringstream lines(read(folder / "names.s"));
  std::pair<std::string, std::string>* open = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("tilewright_name_")) open = &p.names[std::stoul(line.substr(16))];
    const auto quad = line.find(".quad");
    if (!open || quad == line.npos) continue;
    std::istringstream(line.substr(quad + 5)) >> open->second;
    open = nullptr;
  }
}
hiprtcResult compile(_hiprtcProgram& p, int n, const char** options) {
  if (compiler().empty())
    emulated_hip::cannot_run("the program compiles kernels (hipRTC): that needs clang++; AMDGCN_CLANG names it");
  const work_folder folder;
  for (const auto& [name, text] : p.headers) {
    fs::create_directories((folder.path / name).parent_path());
    std::ofstream(folder.path / name) << text;
  }
  std::string source = p.source + "\n";
  for (std::size_t k = 0; k < p.names.size(); ++k)
    source += "extern \"C\" __device__ __attribute__((used)) const void* tilewright_name_" + std::to_string(k) +
              " = reinterpret_cast<const void*>(&" + p.names[k].first + ");\n";
  const fs::path file = folder.path / (p.name.empty() ? "program" : fs::path(p.name).filename().string());
  std::ofstream(file) << source;
  const std::string command = command_for(n, options, folder.path) + " " + in_shell(file.string());
  const fs::path object = folder.path / "program.co", log = folder.path / "program.log";
  const bool compiled = runs(command + " -o " + in_shell(object.string()), in_shell(log.string()));
  p.log = read(log), p.code = read(object);
  if (!compiled || p.code.empty()) return HIPRTC_ERROR_COMPILATION;
  find_names(p, command, folder.path);
  return HIPRTC_SUCCESS;
}
hiprtcResult copy_text(const std::string& text, char* to, bool with_end) {
  std::memcpy(to, text.c_str(), text.size() + with_end);
  return HIPRTC_SUCCESS;
}
}  // namespace

extern "C" {

hiprtcResult hiprtcVersion(int* major, int* minor) { return *major = 9, *minor = 0, HIPRTC_SUCCESS; }
const char* hiprtcGetErrorString(hiprtcResult result) {
  return result == HIPRTC_SUCCESS             ? "HIPRTC_SUCCESS"
         : result == HIPRTC_ERROR_COMPILATION ? "HIPRTC_ERROR_COMPILATION"
                                              : "HIPRTC_ERROR";
}
hiprtcResult hiprtcCreateProgram(hiprtcProgram* program, const char* source, const char* name, int n,
                                 const char** headers, const char** names) {
  *program = new _hiprtcProgram{source, name ? name : "", "", "", {}, {}};
  for (int k = 0; k < n; ++k) (*program)->headers.emplace_back(names[k], headers[k]);
  return HIPRTC_SUCCESS;
}
hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program) {
  return delete *program, *program = nullptr, HIPRTC_SUCCESS;
}
hiprtcResult hiprtcAddNameExpression(hiprtcProgram p, const char* expression) {
  return p->names.emplace_back(expression, ""), HIPRTC_SUCCESS;
}
hiprtcResult hiprtcCompileProgram(hiprtcProgram p, int n, const char** options) { return compile(*p, n, options); }
hiprtcResult hiprtcGetLoweredName(hiprtcProgram p, const char* expression, const char** name) {
  for (const auto& [e, symbol] : p->names)
    if (e == expression && !symbol.empty()) return *name = symbol.c_str(), HIPRTC_SUCCESS;
  return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram p, std::size_t* n) {
  return *n = p->log.empty() ? 0 : p->log.size() + 1, HIPRTC_SUCCESS;
}
hiprtcResult hiprtcGetProgramLog(hiprtcProgram p, char* log) { return copy_text(p->log, log, true); }
hiprtcResult hiprtcGetCodeSize(hiprtcProgram p, std::size_t* n) { return *n = p->code.size(), HIPRTC_SUCCESS; }
hiprtcResult hiprtcGetCode(hiprtcProgram p, char* code) { return copy_text(p->code, code, false); }

}  // extern "C"
