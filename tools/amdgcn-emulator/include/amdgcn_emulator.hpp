// SPDX-License-Identifier: MIT
// Runs kernels of compiled AMD GPU code objects (gfx908, gfx90a, gfx942, gfx950, gfx11xx, gfx12xx) on the CPU.
//
//   emu::module m("gemm.co");
//   m.allow(a.data(), a.size() * sizeof a[0]);                  // a device address is a host address
//   emu::result r = m.launch("gemm", {4, 4, 1}, {256, 1, 1}, 0, emu::kernarg().add(a.data()).add(64));
//
// Anything wrong that the kernel does (access outside of the allowed memory, misaligned LDS access, a register read
// before its load was waited for, an unknown instruction, ...) is thrown as emu::fault, whose what() is one sentence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace emu {
/// Bytes of LDS that a workgroup may have on a target.
inline std::size_t lds_limit_of(std::string_view target) {
  return (target == "gfx1250" ? 320 : target == "gfx950" ? 160 : 64) * std::size_t{1024};
}
struct dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// What the emulator cannot execute: no mistake of the kernel.
struct not_supported : fault {
  using fault::fault;
};

/// What a check can find.
enum class finding_kind {
  out_of_bounds,       ///< access outside of every buffer, of LDS, or of scratch
  use_after_free,      ///< access to a buffer that was freed
  misaligned,          ///< LDS access or atomic at an address that hardware refuses
  uninitialised,       ///< an address, a branch, an atomic or a result depends on memory that was never written
  missing_wait,        ///< a register or LDS byte is used before a wait for the load that writes it
  lds_race,            ///< two waves access the same LDS bytes, one writes, and no barrier orders them
  global_race,         ///< two workgroups of one launch access the same bytes, one writes, nothing orders them
  divergent_barrier,   ///< a barrier that not all lanes or waves of the workgroup reach
  inactive_lane,       ///< a shuffle reads from a lane that is not active
  trap,                ///< the kernel stopped itself (an assertion, abort)
  stuck,               ///< a deadlock or an endless loop
  invalid_call,        ///< the host passes a launch or a copy what it does not accept
  in_flight,           ///< weak: an LDS access that was not waited for before a barrier meets one after it
  uninitialised_copy,  ///< weak: the host copies device memory that was never written
  leak,                ///< weak: a buffer that is never freed
};
/// Short name of a kind, as in suppressions and JSON: "out-of-bounds".
const char* name_of(finding_kind kind);
/// Whether findings of this kind may be harmless: they are listed, and are no reason to fail.
bool is_weak(finding_kind kind);

/// One frame of a source position; inlined functions have several.
struct source_frame {
  std::string function, file;
  unsigned line = 0;
  bool called = false;  // the frames before it are a function that is called here, not one that is inlined
};
/// One instruction of a kernel, with its source position where the code object has debug information.
struct code_site {
  std::string where, text;           ///< "kernel+0x40", "global_load_dword v1, v[2:3], off"
  std::vector<source_frame> frames;  ///< innermost first; empty without debug information
};
struct finding {
  finding_kind kind{};
  std::string message;     ///< what happened, with addresses and sizes
  std::string kernel;      ///< as in the source; empty for findings of host calls
  code_site site;          ///< the instruction, or the host call in site.text
  code_site other;         ///< the other access of a race, the load of an uninitialised value; may be empty
  std::string other_role;  ///< what `other` is: "the other access"
  dim3 workgroup{0, 0, 0}, thread{0, 0, 0};
  std::uint32_t wave = 0;
  int lane = -1;  ///< -1: the whole wave
  std::uint64_t address = 0;
  std::string memory;       ///< the buffer at or near the address; may be empty
  std::uint64_t count = 1;  ///< how often it happened at this instruction
};
/// The finding as lines of text.
std::string text_of(const finding& f);

// The explicit kernel arguments, laid out as C does it (natural alignment).
class kernarg {
 public:
  template <class T>
  kernarg& add(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add_bytes(&v, sizeof v, alignof(T));
  }
  kernarg& add_bytes(const void* p, std::size_t n, std::size_t align) {
    bytes.resize((bytes.size() + align - 1) / align * align + n);
    std::memcpy(bytes.data() + bytes.size() - n, p, n);
    return *this;
  }
  std::vector<std::uint8_t> bytes;
};

struct options {
  bool collect = false;       // add what checks find to result::findings and go on, instead of throwing the first fault
  bool uninitialised = true;  // collect: follow memory that was never written to addresses, branches and results
  bool global_races = true;   // collect: report unordered accesses of different workgroups to global memory
  bool all_resident = false;  // every workgroup runs at the same time (cooperative launches)
  bool race = true;           // report LDS accesses of different waves that no barrier orders
  bool waits = true;          // fault when the result of a memory instruction is used before an s_wait* allows it
  bool bounds = true;         // fault on global accesses outside of the allowed ranges
  bool poison = true;         // registers and LDS start as NaN patterns
  bool count = false;         // count executions of every instruction
  bool lds_log = false;       // count LDS bank conflicts of every instruction
  bool cycles = false;        // time the first workgroup on a CDNA compute unit; see timing
  unsigned memory_clocks = 700;          // of --cycles: from the end of an access's transfer to its return
  unsigned memory_bytes_per_clock = 64;  // of --cycles: between memory and the compute unit
  int trace = 0;                         // print the first N instructions executed
  enum order_t { in_order, reverse, random } order = in_order;
  std::uint64_t seed = 1;
  std::uint64_t slice = 0;  // number of instructions after which waves are switched; 0: at barriers only (64 when
                            // random, 1000 with several resident workgroups)
  unsigned resident =
      1;  // workgroups that run at the same time: more than one if kernels' workgroups wait for each other
  unsigned threads = 1;  // collect: CPU threads that run workgroups, in no particular order; 0: one for each core. One
                         // thread is used with `order`, `count`, `lds_log`, `cycles` and `trace`, and for kernels that
                         // call the host
  void* hostcall = nullptr;                // buffer through which kernels call the host (printf)
  void* heap = nullptr;                    // what the device library keeps of malloc in kernels; zeros at first
  std::uint64_t limit = 4'000'000'000ull;  // wave instructions, to end endless loops
  std::string phases = {};                 // path of the LDS phase table; empty: the built-in one
};
// One LDS instruction (or one half of a two-address instruction).
struct lds_row {
  std::uint64_t address;  // of the instruction in the code object
  std::string where, text, model;
  std::vector<source_frame> frames;  // with options::collect
  std::string advice;                // with options::collect: a layout without the conflicts; may be empty
  bool store = false;
  unsigned bytes = 0;  // per lane
  std::uint64_t executions = 0, cycles = 0, ideal = 0, conflicts = 0, worst = 0, same_dword_writes = 0;
};
struct count_row {
  std::uint64_t address, executions;
  std::string where, text;
  bool block;  // a basic block starts here
};
/// An instruction, and how long waves waited before it could issue.
struct wait_row {
  std::uint64_t address;
  std::string where, text;
  int cause;  // of timing::cause
  std::uint64_t clocks;
};
/// When the instructions of one workgroup, which has a CDNA compute unit for itself, would issue: waves in order on
/// four SIMDs, one instruction of a wave in four clocks, matrix instructions at the rates of the data sheets, LDS
/// phases as in lds_row, results of memory after options::memory_clocks. Never compared with hardware.
struct timing {
  enum cause { issue, matrix, vector, lds, memory, barrier, num_causes };
  std::uint64_t clocks = 0;  // from the first issue to the last
  std::uint64_t matrix_clocks = 0, lds_clocks = 0,
                memory_clocks = 0;        // that units are busy; matrix: of the busiest SIMD
  std::uint64_t waited[num_causes] = {};  // of all waves, by what they waited for
  std::uint64_t loop_iterations = 0;      // of the loop that wave 0 repeats most often
  double loop_clocks = 0;                 // of one of its iterations; 0: there is no loop
  std::vector<wait_row> longest_waits;    // at most 10
};
struct race_row {
  std::uint64_t count = 0;
  std::string message;
};
struct result {
  std::uint64_t instructions = 0, waves = 0;
  double seconds = 0, user_seconds = 0;  // of the wall; of all threads in user mode
  std::vector<race_row> races;
  std::vector<finding> findings;  // options::collect
  std::vector<lds_row> lds;
  std::vector<count_row> counts;
  timing cycles;
};
struct kernel_summary {
  std::string name;
  std::uint32_t lds_bytes, scratch_bytes, kernarg_bytes, max_workgroup, vgprs, agprs, sgprs, vgpr_spills, sgpr_spills;
  struct arg {
    std::string name, kind;
    std::uint32_t offset, size;
  };
  std::vector<arg> args;                 // explicit ones
  std::vector<std::string> unsupported;  // instructions of the kernel that this emulator cannot run
};

/// Memory of a GPU that kernels may access: buffers with guard gaps around them, and what is known of every byte.
/// Device addresses are host addresses.
class memory {
 public:
  memory();
  ~memory();
  memory(memory&&) noexcept;
  memory& operator=(memory&&) noexcept;

  /// Uninitialised memory with 256 bytes of guard around it. `label` names it in findings: "x", "hipMalloc #3".
  /// Throws std::bad_alloc.
  void* allocate(std::size_t bytes, const std::string& label);
  template <class T>
  T* allocate(std::size_t count, const std::string& label) {
    return static_cast<T*>(allocate(count * sizeof(T), label));
  }
  /// Frees it; later accesses are reported as such (the bytes stay in quarantine). False: it is no buffer.
  bool release(void* p);
  /// Memory of the host that kernels may access, initialised.
  void add(const void* p, std::size_t bytes, const std::string& label);
  void forget(const void* p);
  void clear();

  /// The host writes, or copies between two positions: what is known of the bytes changes with them.
  void mark_written(const void* p, std::size_t bytes);
  void mark_copied(void* to, const void* from, std::size_t bytes);

  /// Whether [p, p + bytes) lies in one live buffer.
  bool contains(const void* p, std::size_t bytes) const;
  /// Whether p lies in, or close to, memory that this object allocated.
  bool owns(const void* p) const;
  /// The buffer at or next to an address, in words.
  std::string describe(std::uint64_t address) const;
  /// Findings of a copy of these bytes to the host: results computed from uninitialised memory, bytes never written.
  std::vector<finding> check_results(const void* p, std::size_t bytes) const;
  struct buffer {
    void* data;
    std::size_t bytes;
    std::string label;
  };
  /// Buffers that were allocated and not released.
  std::vector<buffer> live() const;
  /// Start and size of the buffer that p lies in; null when there is none.
  buffer find(const void* p) const;

  struct impl;
  impl& get() const { return *p_; }

 private:
  std::unique_ptr<impl> p_;
};

class module {
 public:
  explicit module(const std::string& path);
  ~module();
  module(module&&) noexcept;
  module& operator=(module&&) noexcept;

  const std::string& target() const;
  std::vector<kernel_summary> kernels() const;
  void allow(const void* p, std::size_t bytes);  // memory that kernels may touch
  void forbid_all();                             // forget all ranges
  /// Kernels access this memory, and nothing that was allowed before. It must outlive the launches.
  void use(memory& m);
  /// Start and size of a global variable of the code object; null when there is none.
  memory::buffer variable(const std::string& name) const;
  /// Called when a wave sends an interrupt to the host (printf), with the buffer of options::hostcall.
  void on_interrupt(void (*service)(void* hostcall));
  result launch(const std::string& kernel, dim3 grid, dim3 block, std::size_t dynamic_lds, const kernarg& args,
                const options& o = {});

 private:
  struct impl;
  std::unique_ptr<impl> p_;
};
}  // namespace emu
