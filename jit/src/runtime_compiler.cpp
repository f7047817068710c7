// SPDX-License-Identifier: MIT
// NVRTC and hipRTC, loaded at run time. Their interfaces, which are the same but for the names, are declared here.
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/jit/error.hpp>

#include "embedded_header.hpp"
#include "nvjitlink.hpp"
#include "shared_library.hpp"
#include "toolchain.hpp"

namespace tilewright::jit {
namespace {

/// How one of them is called.
struct dialect {
  std::string name, prefix;
  int smallest_version;
  std::vector<std::string> options;
};

class runtime_compiler final : public toolchain {
 public:
  runtime_compiler(dialect how, std::string target, std::vector<std::string> flags, const shared_library& library)
      : library_(library), how_(std::move(how)), target_(std::move(target)), flags_(std::move(flags)) {
    int (*version)(int*, int*) = nullptr;
    find(version, "Version");
    find(error_string_, "GetErrorString");
    find(create_, "CreateProgram");
    find(compile_, "CompileProgram");
    find(log_size_, "GetProgramLogSize");
    find(log_, "GetProgramLog");
    find(destroy_, "DestroyProgram");
    require(version(&major_, &minor_), "its version");
    identity_ = how_.name + " " + std::to_string(major_) + "." + std::to_string(minor_);
    require_version(how_.name, identity_, how_.name + " ", how_.smallest_version, target_);
  }

  const std::string& identity() override { return identity_; }
  bool does_one_at_a_time() const override { return true; }

  std::string compile(const translation_unit& unit) override {
    std::call_once(found_output_, [&] { find_output(); });
    std::vector<std::string> words = how_.options;
    for (const std::string& d : unit.definitions) words.push_back("-D" + d);
    words.insert(words.end(), flags_.begin(), flags_.end());
    std::vector<const char*> options;
    for (const std::string& word : words) options.push_back(word.c_str());

    const char* const header = embedded_header().data();  // ends with a zero
    const char* const include_name = "tilewright_single.hpp";
    program p(*this);
    require(create_(&p.handle, unit.text.c_str(), unit.name.c_str(), 1, &header, &include_name), unit.name);
    if (compile_(p.handle, int(options.size()), options.data()) != 0)
      throw_compile_error(how_.name, unit.name, target_, log_of(p.handle));
    std::size_t size = 0;
    require(code_size_(p.handle, &size), unit.name);
    std::string code(size, '\0');
    require(code_(p.handle, code.data()), unit.name);
    return assembler_ ? assembled(p.handle, unit.name).value_or(code) : code;
  }

 private:
  struct program {
    explicit program(const runtime_compiler& by) : of(by) {}
    program(const program&) = delete;
    ~program() {
      if (handle != nullptr) (void)of.destroy_(&handle);
    }
    const runtime_compiler& of;
    void* handle = nullptr;
  };

  /// The cubin of the PTX without variables that nothing reads; nothing for PTX with setmaxnreg, which nvJitLink
  /// ignores, as it makes objects that others could call: consumers with more than 128 accumulators would spill.
  std::optional<std::string> assembled(void* handle, const std::string& name) const {
    std::size_t size = 0;
    require(ptx_size_(handle, &size), name);
    std::string ptx(size, '\0');
    require(ptx_(handle, ptx.data()), name);
    if (ptx.find("setmaxnreg") != std::string::npos) return std::nullopt;
    return assembler_->assemble(without_unused_variables(ptx.c_str()), name, target_);
  }

  template <class F>
  void find(F*& function, const std::string& name) const {
    library_.find(function, (how_.prefix + name).c_str());
  }
  /// NVRTC makes PTX, which nvJitLink assembles where it can, and a cubin that has the unused variables. Loading
  /// nvJitLink takes as long as a kernel from the disk, so it waits for the first compilation. The key of a kernel
  /// leaves it out: whoever assembles, the kernel is the same.
  void find_output() {
    std::string output = "Code";
    if (how_.prefix == "nvrtc") {
      try {
        assembler_.emplace(major_, minor_);
      } catch (const error&) {
      }
      output = "CUBIN";
      how_.options.push_back("--gpu-architecture=" + target_);
      find(ptx_size_, "GetPTXSize");
      find(ptx_, "GetPTX");
    }
    find(code_size_, "Get" + output + "Size");
    find(code_, "Get" + output);
  }

  void require(int result, const std::string& what) const {
    if (result != 0) throw error(how_.name + " failed for " + what + ": " + error_string_(result));
  }
  std::string log_of(void* handle) const {
    std::size_t size = 0;
    if (log_size_(handle, &size) != 0 || size == 0) return {};
    std::string text(size, '\0');
    if (log_(handle, text.data()) != 0) return {};
    text.resize(size - 1);
    return text;
  }

  shared_library library_;
  dialect how_;
  std::string target_, identity_;
  int major_ = 0, minor_ = 0;
  std::vector<std::string> flags_;
  std::once_flag found_output_;
  std::optional<nvjitlink> assembler_;
  const char* (*error_string_)(int) = nullptr;
  int (*create_)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(void*, int, const char* const*) = nullptr;
  int (*log_size_)(void*, std::size_t*) = nullptr;
  int (*log_)(void*, char*) = nullptr;
  int (*code_size_)(void*, std::size_t*) = nullptr;
  int (*code_)(void*, char*) = nullptr;
  int (*ptx_size_)(void*, std::size_t*) = nullptr;
  int (*ptx_)(void*, char*) = nullptr;
  int (*destroy_)(void**) = nullptr;
};

}  // namespace

std::unique_ptr<toolchain> make_nvrtc(const std::string& target, const std::vector<std::string>& flags) {
  const shared_library library(
      {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"});
  const dialect how{"NVRTC", "nvrtc", 12, {"--std=c++20", "-default-device"}};
  return std::make_unique<runtime_compiler>(how, target, flags, library);
}

std::unique_ptr<toolchain> make_hiprtc(const std::string& target, const std::vector<std::string>& flags) {
  const shared_library library({"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so", "/opt/rocm/lib/libhiprtc.so"});
  const dialect how{"hipRTC", "hiprtc", 6, {"-std=c++20", "-O3", "--offload-arch=" + target}};
  return std::make_unique<runtime_compiler>(how, target, flags, library);
}

}  // namespace tilewright::jit
