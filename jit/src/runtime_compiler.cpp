// SPDX-License-Identifier: MIT
// NVRTC and hipRTC, loaded at run time. Their interfaces, which are the same but for the names, are declared here.
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/jit/error.hpp>

#include "embedded_header.hpp"
#include "ptx.hpp"
#include "shared_library.hpp"
#include "toolchain.hpp"

namespace tilewright::jit {
namespace {

/// How one of them is called.
struct dialect {
  std::string name, prefix, code, architecture;
  int smallest_version;
  std::vector<std::string> options;
};

class runtime_compiler final : public toolchain {
 public:
  runtime_compiler(dialect how, std::string target, std::vector<std::string> flags, bool is_ahead,
                   const shared_library& library)
      : library_(library),
        how_(std::move(how)),
        target_(std::move(target)),
        flags_(std::move(flags)),
        is_ahead_(is_ahead) {
    int (*version)(int*, int*) = nullptr;
    find(version, "Version");
    find(error_string_, "GetErrorString");
    find(create_, "CreateProgram");
    find(compile_, "CompileProgram");
    find(log_, "ProgramLog");
    find(code_, how_.code);
    find(destroy_, "DestroyProgram");
    require(version(&major_, &minor_), "its version");
    identity_ = how_.name + " " + std::to_string(major_) + "." + std::to_string(minor_);
    require_version(how_.name, identity_, how_.name + " ", how_.smallest_version, target_);
  }

  const std::string& identity() override { return identity_; }
  bool does_one_at_a_time() const override { return true; }

  /// NVRTC's own cubin has the unused variables, so ptxas assembles its PTX where it is there and the kernel is
  /// compiled ahead of its first launch. The key of a kernel leaves ptxas out: whoever assembles, the kernel is the
  /// same.
  std::string compile(const translation_unit& unit) override {
    std::call_once(looked_for_ptxas_, [&] { look_for_ptxas(); });
    if (!ptxas_.empty()) {
      const std::string ptx = compile(unit, "compute_" + target_.substr(std::string_view("sm_").size()), ptx_);
      if (auto cubin = assemble(ptxas_, without_unused_variables(ptx.c_str()), target_)) return *cubin;
    }
    return compile(unit, target_, code_);
  }

 private:
  /// Something that the library made of a program.
  struct output {
    int (*size)(void*, std::size_t*) = nullptr;
    int (*read)(void*, char*) = nullptr;
  };
  struct program {
    explicit program(const runtime_compiler& by) : of(by) {}
    program(const program&) = delete;
    ~program() {
      if (handle != nullptr) (void)of.destroy_(&handle);
    }
    const runtime_compiler& of;
    void* handle = nullptr;
  };

  std::string compile(const translation_unit& unit, const std::string& architecture, const output& wanted) const {
    std::vector<std::string> words = how_.options;
    words.push_back(how_.architecture + architecture);
    for (const std::string& d : unit.definitions) words.push_back("-D" + d);
    words.insert(words.end(), flags_.begin(), flags_.end());
    std::vector<const char*> options;
    for (const std::string& word : words) options.push_back(word.c_str());

    const char* const header = embedded_header().data();  // ends with a zero
    const char* const include_name = "tilewright_single.hpp";
    program p(*this);
    require(create_(&p.handle, unit.text.c_str(), unit.name.c_str(), 1, &header, &include_name), unit.name);
    if (compile_(p.handle, int(options.size()), options.data()) != 0)
      throw_compile_error(how_.name, unit.name, target_, read(log_, p.handle, unit.name).c_str());
    return read(wanted, p.handle, unit.name);
  }

  /// Running it takes as long as a kernel from the disk, so it waits for the first compilation. Flags may be meant for
  /// NVRTC's assembler.
  void look_for_ptxas() {
    if (how_.prefix != "nvrtc" || !flags_.empty() || !is_ahead_) return;
    find(ptx_, "PTX");
    ptxas_ = find_ptxas(major_, minor_);
  }

  template <class F>
  void find(F*& function, const std::string& name) const {
    library_.find(function, (how_.prefix + name).c_str());
  }
  void find(output& made, const std::string& name) const {
    find(made.size, "Get" + name + "Size");
    find(made.read, "Get" + name);
  }
  void require(int result, const std::string& what) const {
    if (result != 0) throw error(how_.name + " failed for " + what + ": " + error_string_(result));
  }
  std::string read(const output& made, void* handle, const std::string& name) const {
    std::size_t size = 0;
    require(made.size(handle, &size), name);
    std::string bytes(size, '\0');
    require(made.read(handle, bytes.data()), name);
    return bytes;
  }

  shared_library library_;
  dialect how_;
  std::string target_, identity_, ptxas_;
  int major_ = 0, minor_ = 0;
  std::vector<std::string> flags_;
  bool is_ahead_;
  std::once_flag looked_for_ptxas_;
  const char* (*error_string_)(int) = nullptr;
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  int (*destroy_)(void**) = nullptr;
  output log_, code_, ptx_;
};

}  // namespace

std::unique_ptr<toolchain> make_nvrtc(const std::string& target, const std::vector<std::string>& flags, bool is_ahead) {
  const shared_library library(
      {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"});
  const dialect how{"NVRTC", "nvrtc", "CUBIN", "--gpu-architecture=", 12, {"--std=c++20", "-default-device"}};
  return std::make_unique<runtime_compiler>(how, target, flags, is_ahead, library);
}

std::unique_ptr<toolchain> make_hiprtc(const std::string& target, const std::vector<std::string>& flags) {
  const shared_library library({"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so"});
  const dialect how{"hipRTC", "hiprtc", "Code", "--offload-arch=", 6, {"-std=c++20", "-O3"}};
  return std::make_unique<runtime_compiler>(how, target, flags, true, library);
}

}  // namespace tilewright::jit
