// SPDX-License-Identifier: MIT
// jit::compiler: compiles kernels when they are needed, keeps them, loads them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/jit/buffer.hpp>
#include <tilewright/jit/cache_options.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/jit/kernel.hpp>
#include <tilewright/jit/kernel_source.hpp>
#include <tilewright/jit/repeated_launch.hpp>

namespace tilewright::jit {

/// What happens to a kernel that is neither in an archive nor in the cache.
enum class miss { compile, fail };

/// How far prepare() is. name: of the kernel that is ready.
struct progress {
  std::size_t done, total;
  const std::string& name;
};

struct compiler_options {
  std::string target = {};    // "gfx942", "sm_90a"; empty: that of this machine's GPU
  int device = -1;            // the GPU's number; -1: the current one
  std::string compiler = {};  // "nvrtc", "hiprtc", or a command: clang++, hipcc, nvcc; empty: the first that is there
  std::vector<std::string> flags = {};  // more options for the compiler
  cache_options cache = {};
  std::vector<std::filesystem::path> archives = {};       // asked before the cache, after those of the program
  miss on_miss = miss::compile;                           // fail: for production, where nothing may be compiled
  unsigned threads = 0;                                   // of prepare(); 0: one for each CPU that the process may use
  std::function<void(const progress&)> on_progress = {};  // called by one thread at a time
};

/// Functions may be called from several threads, and throw error, whose sentence names the kernel.
class compiler {
 public:
  /// Throws error if there is no GPU and no target is named, or an archive cannot be read. Looks for no compiler yet.
  explicit compiler(const compiler_options& options = {});

  const std::string& target() const;
  /// The GPU's number of SMs; 0: unknown.
  int SMs() const;

  /// The bytes of a code object (AMD) or cubin (NVIDIA). Needs no GPU.
  std::string code_object(const kernel_source& source);

  /// The kernel, on this machine's GPU. The second call with the same source takes it from memory.
  kernel load(const kernel_source& source);

  /// Makes all of these ready, several at a time: loads them where there is a GPU. Kernels that cannot be made do not
  /// stop the others; the error of the first is thrown at the end.
  void prepare(const std::vector<kernel_source>& sources);

  kernel load(const kernel_request& request) { return load(request(target())); }
  std::string code_object(const kernel_request& request) { return code_object(request(target())); }
  void prepare(const std::vector<kernel_request>& requests);

  /// The name under which archives keep a kernel: 32 bytes that depend on the library, the source, the flags and the
  /// target, and not on the compiler.
  std::string archive_key(const kernel_source& source) const;

  /// A kernel in messages and in tilewright-pack's lists: its name, a part of its key and the target, such as "scale
  /// (9f86d081) for gfx942". Kernels of one name have different keys where their constants differ.
  std::string archive_name(const kernel_source& source) const;

  /// Whether there are archives, of the options or in the program.
  bool has_archives() const;
  /// Which archive holds a kernel: the path of a file of the options, "linked into the program", or nothing. Without
  /// archives the request is not asked for its source.
  std::string archive_of(const kernel_request& request) const;

  /// A text of the archives, such as a tuning file.
  std::string archived_text(const std::string& name) const;
  /// What the archives' tuning files have for tuning_name() of a product; empty: nothing. jit::tuned() uses it.
  std::string tuned_choice(const std::string& product) const;

  /// Memory of this machine's GPU, for programs that use no runtime of their own.
  buffer allocate(std::size_t bytes);
  /// Waits for all that was queued. Throws error with the driver's message if a kernel failed.
  void synchronize();

  /// Seconds that each of these takes on this machine's GPU: replayed from CUDA graphs, so that the host's time does
  /// not count, one after another without a pause. Throws error on AMD GPUs.
  std::vector<double> time(const std::vector<repeated_launch>& launches);
  /// The key of this machine's GPU in tuning files: tilewright::tuning_key().
  std::string tuning_key_of_gpu() const;

  /// Which cache, entry or archive is not used because another user may have written it, else why the last kernel was
  /// not kept in the cache; empty if it was.
  std::string cache_trouble() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// The number of the GPU that a stream belongs to (cudaStream_t, CUstream, hipStream_t); null: of the current GPU.
/// Throws error if there is none.
int device_of(void* stream);

/// For compiler_options::on_progress: a line on stderr, once the work has taken a second.
std::function<void(const progress&)> progress_line();

}  // namespace tilewright::jit
