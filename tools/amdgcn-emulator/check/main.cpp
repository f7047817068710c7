// SPDX-License-Identifier: MIT
// tilewright-check: runs a HIP program on the ISA emulator, and reports mistakes of its kernels (docs/check.md).
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "../../program/command_line.hpp"
#include "../../program/run.hpp"

namespace {
namespace fs = std::filesystem;
using program::refusal;

constexpr const char* kinds =
    "out-of-bounds      access outside of every buffer, of LDS (shared memory) or of scratch; also by hipMemcpy and "
    "hipMemset\n"
    "use-after-free     access to a buffer that was freed\n"
    "misaligned         LDS access or atomic at an address that hardware refuses\n"
    "uninitialised      an address, a branch, an atomic or a result depends on memory that was never written\n"
    "missing-wait       a register or LDS byte is used before a wait for the load that writes it (assembly)\n"
    "lds-race           two waves access the same LDS bytes, one writes, and no barrier orders them\n"
    "global-race        the same between workgroups in global memory, where neither barrier nor fence and atomic order "
    "them\n"
    "divergent-barrier  threads of a workgroup do not reach a barrier, or wait at different ones\n"
    "inactive-lane      a shuffle reads from a lane that is not active\n"
    "trap               an assertion failed, or the kernel called abort\n"
    "stuck              a deadlock, or more instructions than --limit\n"
    "invalid-call       a launch or a call of the runtime with arguments that it refuses\n"
    "Weak ones, which may be harmless and count with --strict only:\n"
    "in-flight          an LDS access that was not waited for before a barrier meets one after it\n"
    "uninitialised-copy the host copies device memory that was never written\n"
    "leak               a buffer that is never freed";
constexpr const char* exit_codes =
    "0 no findings; 1 findings; 2 the program cannot be checked, or failed without findings.";

struct request {
  std::string settings, gpu;  // settings: lines of NAME=VALUE
  std::vector<std::string> program;
  std::optional<std::string> text;
  void set(const std::string& name, const std::string& value) { settings += name + "=" + value + "\n"; }
};

std::string absolute(const std::string& path) { return fs::absolute(path).string(); }

/// Splits the arguments: options of this program end at the first word that is neither an option nor its value.
request read(int argc, char** argv) {
  request r;
  program::command_line table("tilewright-check",
                              "Runs a HIP program without a GPU, and reports mistakes of its kernels");
  std::string program_name;
  table.file("program", "PROGRAM", "The program; what follows it are its arguments",
             [&](const std::string& name) { program_name = name; });
  table.heading("What is reported");
  table.flag("--banks", "Report LDS bank conflicts by source line", [&r] { r.set("banks", "1"); });
  table.flag("--time", "Print how long each kernel took, and its wave instructions", [&r] { r.set("time", "1"); });
  table.flag("--strict", "Weak findings count, too", [&r] { r.set("strict", "1"); });
  table.text("--off", "KIND[,KIND]",
             "Switch checks off: out-of-bounds, uninitialised, missing-wait, lds-race, global-race",
             [&r](const std::string& text) { r.set("off", text); });
  table.file("--suppress", "FILE", "Suppressions: lines of KIND KERNEL FILE:LINE with * for anything",
             [&r](const std::string& f) {
               if (!fs::is_regular_file(f)) throw refusal("cannot open '" + f + "'");
               r.set("suppressions", absolute(f));
             });
  table.text("--max", "NUMBER", "Print so many findings of each kind (default 5)", [&r](const std::string& text) {
    const auto n = program::number_of<unsigned>(text);
    if (!n) throw refusal("--max must be a whole number, not '" + text + "'");
    r.set("max", text);
  });
  table.file("--json", "FILE", "Write the report as JSON", [&r](const std::string& f) { r.set("json", absolute(f)); });
  table.file("--sarif", "FILE", "Write the report as SARIF",
             [&r](const std::string& f) { r.set("sarif", absolute(f)); });
  table.heading("The run");
  table.text("--gpu", "TARGET", "The GPU, a target of docs/support.md (default gfx942)",
             [&r](const std::string& text) { r.gpu = text; });
  table.text("--wave-order", "in-order|reverse|random[:SEED]", "Order in which waves run (default in-order)",
             [&r](const std::string& text) {
               if (text != "in-order" && text != "reverse" && text != "random" &&
                   !(text.starts_with("random:") && program::number_of<unsigned long long>(text.substr(7))))
                 throw refusal("--wave-order must be in-order, reverse, random or random:SEED, not '" + text + "'");
               r.set("order", text);
             });
  table.text(
      "--threads", "NUMBER",
      "CPU threads that run workgroups (default: one for each core). 1: workgroups run in the same order each time, "
      "and so do atomics and whatever else depends on it",
      [&r](const std::string& text) {
        const auto n = program::number_of<unsigned>(text);
        if (!n || !*n || *n > 1024)
          throw refusal("--threads must be a whole number from 1 to 1024, not '" + text + "'");
        r.set("threads", text);
      });
  table.text("--limit", "NUMBER", "Wave instructions of a kernel, to end endless loops (default 4000000000)",
             [&r](const std::string& text) {
               const auto n = program::number_of<unsigned long long>(text);
               if (!n || !*n) throw refusal("--limit must be a whole number above 0, not '" + text + "'");
               r.set("limit", text);
             });
  table.section_of_help("Findings", kinds);
  table.section_of_help("Exit code", exit_codes);
  table.example("tilewright-check ./saxpy 1000", "Checks a program");
  table.example("tilewright-check --banks --json report.json ./transpose",
                "Bank conflicts as well, and a file for other programs");
  int own = 1;
  while (own < argc && argv[own][0] == '-') {
    const std::string name = argv[own++];
    for (const program::option& o : table.options())
      if (o.name == name && !o.value.empty() && own < argc) ++own;
    if (name == "--") break;
  }
  const int with_program = own < argc ? own + 1 : own;
  r.text = table.parse(with_program, argv);
  if (r.text) return r;
  if (program_name.empty()) throw refusal("name a program; tilewright-check --help lists the options");
  r.program.assign(argv + own, argv + argc);
  return r;
}

/// The runtime and the empty libraries: next to this program, or where it was installed.
fs::path libraries() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& p : {here, here / "../lib/tilewright/check", here / "../" TILEWRIGHT_CHECK_LIBRARIES})
    if (fs::exists(p / "libtilewright_check.so")) return fs::canonical(p);
  throw refusal("libtilewright_check.so is not next to tilewright-check, nor where it is installed");
}
void prepend(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  setenv(variable, (old && *old ? value + ":" + old : value).c_str(), 1);
}

struct outcome {
  std::size_t findings = 0;
  bool started = false, ended = false;
  std::string cannot_run;
};
outcome read_status(const std::string& path) {
  outcome o;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line == "start") o.started = true, o.ended = false;
    if (line == "end") o.ended = true;
    if (line.starts_with("findings "))
      o.findings = std::max(o.findings, static_cast<std::size_t>(std::stoul(line.substr(9))));
    if (line.starts_with("cannot-run ")) o.cannot_run = line.substr(11);
  }
  return o;
}
int start(const request& r, const fs::path& folder) {
  const fs::path where = libraries();
  const pid_t child = fork();
  if (child < 0) throw refusal("cannot start another process");
  if (child == 0) {
    setenv("TILEWRIGHT_CHECK", (r.settings + "status=" + (folder / "status").string() + "\n").c_str(), 1);
    setenv("TMPDIR", folder.c_str(), 1);
    if (!r.gpu.empty()) setenv("AMDGCN_EMULATED_GPU", r.gpu.c_str(), 1);
    for (const char* version : {"7", "6", "5"})
      if (fs::exists(where / "names" / version)) prepend("LD_LIBRARY_PATH", (where / "names" / version).string());
    prepend("LD_PRELOAD", (where / "libtilewright_check.so").string());
    std::vector<char*> words;
    for (const std::string& w : r.program) words.push_back(const_cast<char*>(w.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return status;
}
int check(const request& r) {
  std::string name = (fs::temp_directory_path() / "tilewright-check-XXXXXX").string();
  if (!mkdtemp(name.data())) throw refusal("no folder can be made as " + name);
  struct remove_folder {
    fs::path path;
    ~remove_folder() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } folder{name};
  const int status = start(r, folder.path);
  const outcome o = read_status((folder.path / "status").string());
  if (!o.started && WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw refusal("cannot start '" + r.program[0] + "'");
  if (!o.started)
    throw refusal("'" + r.program[0] +
                  "' did not load HIP's runtime: it is no dynamically linked program, or the loader refused it");
  if (!o.cannot_run.empty()) return program::refused;
  if (o.findings) return program::wrong_result;
  if (WIFSIGNALED(status))
    throw refusal("the program ended by signal " + std::to_string(WTERMSIG(status)) + ", without findings");
  if (WEXITSTATUS(status))
    throw refusal("the program itself ended with " + std::to_string(WEXITSTATUS(status)) + ", without findings");
  return program::success;
}
}  // namespace

int main(int argc, char** argv) {
  return program::run("tilewright-check", 1, argv, [&]() -> int {  // --json is of another kind here
    const request r = read(argc, argv);
    if (r.text) return program::print(*r.text), program::success;
    return check(r);
  });
}
