// SPDX-License-Identifier: MIT
// Runs kernels of compiled AMD GPU code objects (gfx90a, gfx942, gfx950, gfx11xx, gfx120x) on the CPU.
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
#include <type_traits>
#include <vector>

namespace emu {
struct dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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
  bool race = true;              // report LDS accesses of different waves that no barrier orders
  bool waits = true;             // fault when the result of a memory instruction is used before an s_wait* allows it
  bool bounds = true;            // fault on global accesses outside of the allowed ranges
  bool poison = true;            // registers and LDS start as NaN patterns
  bool count = false;            // count executions of every instruction
  bool lds_log = false;          // count LDS bank conflicts of every instruction
  bool cycles = false;           // time the first workgroup on a CDNA compute unit; see timing
  unsigned memory_clocks = 700;  // of --cycles: from the end of an access's transfer to its return
  unsigned memory_bytes_per_clock = 64;  // of --cycles: between memory and the compute unit
  int trace = 0;                         // print the first N instructions executed
  enum order_t { in_order, reverse, random } order = in_order;
  std::uint64_t seed = 1;
  std::uint64_t slice = 0;  // number of instructions after which waves are switched; 0: at barriers only (64 when
                            // random, 1000 with several resident workgroups)
  unsigned resident =
      1;  // workgroups that run at the same time (more than one for kernels whose workgroups wait for each other)
  std::uint64_t limit = 4'000'000'000ull;  // wave instructions, to end endless loops
  std::string phases;                      // path of the LDS phase table; empty: the built-in one
};
// One LDS instruction (or one half of a two-address instruction).
struct lds_row {
  std::uint64_t address;  // of the instruction in the code object
  std::string where, text, model;
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
  double seconds = 0;
  std::vector<race_row> races;
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
  result launch(const std::string& kernel, dim3 grid, dim3 block, std::size_t dynamic_lds, const kernarg& args,
                const options& o = {});

 private:
  struct impl;
  std::unique_ptr<impl> p_;
};
}  // namespace emu
