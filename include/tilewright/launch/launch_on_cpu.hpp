// SPDX-License-Identifier: MIT
// launch() on the CPU emulator.
#pragma once

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/launch/launch_error.hpp>
#include <tilewright/launch/ready_kernel.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/host/make_tensor_map.hpp>

namespace tilewright {

namespace detail {

/// A target to emulate. Refers to a value such as arch::gfx942::value; unset by default.
struct emulated_target {
  const arch::target* value = nullptr;

  constexpr emulated_target() = default;
  constexpr emulated_target(const arch::target& target) : value(&target) {}
};

}  // namespace detail

/// How the CPU emulator runs a kernel.
struct launch_options {
  detail::emulated_target emulate = {};  ///< such as arch::gfx942::value; required if the kernel names no arch
  int workers = 0;                       ///< clusters that the CPU runs at a time; 0: one for each of its threads
  index_t resident_clusters = 2;         ///< launch_facts::resident_clusters; >= 1
  /// Whether LDS accesses are checked for races and uninitialised reads: lds_checks::on, off, or by default on unless
  /// the environment variable TILEWRIGHT_CHECK_LDS is 0.
  emulator::lds_checks check_lds = emulator::lds_checks::from_environment;
  std::vector<emulator::memory_range> memory = {};  ///< allocations that the kernel may access; {}: any
  /// Called after each block, by one thread at a time; not for followed_by.
  std::function<void(long_index_t done, long_index_t total)> progress = {};
};

namespace detail {

inline bool is_same_target(const arch::target& a, const arch::target& b) { return arch::is_same_name(a.name, b.name); }

/// The target that a launch emulates.
template <class Kernel>
const arch::target& emulated_by(const launch_options& options) {
  const arch::target* wanted = options.emulate.value;
  if constexpr (HasArch<Kernel>) {
    const arch::target& own = Kernel::arch::value;
    if (wanted && !is_same_target(*wanted, own))
      throw launch_error(std::string("launch: the kernel is for ") + own.name + ", but .emulate asks for " +
                         wanted->name);
    return own;
  } else {
    if (!wanted)
      throw launch_error("launch: no target to emulate; give one, for instance {.emulate = arch::gfx942::value}");
    return *wanted;
  }
}

template <class Kernel>
launched_args_t<Kernel> prepare_on_cpu(const typename Kernel::args_type& args, const launch_options& options) {
  if constexpr (HasDeviceArgs<Kernel>) {
    if (options.resident_clusters < 1) throw launch_error("launch: launch_options::resident_clusters must be positive");
    return Kernel::prepare(args, launch_facts{options.resident_clusters,
                                              [](exec::tensor_map& map, const exec::tensor_map_request& request) {
                                                try {
                                                  exec::make_tensor_map(map, request);
                                                } catch (const emulator::fault& f) {
                                                  throw launch_error(f.what());
                                                }
                                              }});
  } else {
    return args;
  }
}

/// Adds the counts of a launch to those of the launch before it.
inline void add_report(emulator::launch_report& sum, const emulator::launch_report& more) {
  const auto add_to = [](auto& list, const auto& entry, auto is_same) {
    for (auto& known : list) {
      if (is_same(known)) return known.add(entry);
    }
    list.push_back(entry);
  };
  for (const emulator::lds_op_counts& c : more.by_op)
    add_to(sum.by_op, c, [&](const auto& known) { return known.op == c.op; });
  for (const emulator::lds_line_counts& c : more.by_line)
    add_to(sum.by_line, c,
           [&](const auto& known) { return known.op == c.op && known.file == c.file && known.line == c.line; });
  sum.totals.add(more.totals);
  sum.matrix_instructions += more.matrix_instructions;
  sum.blocks += more.blocks;
}

/// The launch of a kernel whose arguments have been prepared. `ranks`: of several, this one runs with the others.
template <class Kernel>
emulator::launch_report launch_prepared(const launched_args_t<Kernel>& prepared, const launch_options& options,
                                        emulator::rank_group* ranks = nullptr) {
  const auto grid = Kernel::grid(prepared);
  if (grid.x <= 0) return {};
  require_threads(is_amd(emulated_by<Kernel>(options)), long_index_t(grid.x) * Kernel::block_size);
  return emulator::launch({.target = &emulated_by<Kernel>(options),
                           .grid = {grid.x, grid.y, grid.z},
                           .cluster = cluster_of<Kernel>(),
                           .block_size = Kernel::block_size,
                           .lds_bytes = Kernel::lds_bytes,
                           .workers = options.workers,
                           .progress = options.progress,
                           .check_lds = options.check_lds,
                           .memory = options.memory,
                           .overlaps_previous = overlaps_previous_of<Kernel>(),
                           .ranks = ranks},
                          [&] { Kernel{}(prepared); });
}

/// The launch of a kernel whose arguments have been checked, and of those that follow it.
template <class Kernel>
emulator::launch_report launch_checked(const typename Kernel::args_type& args, const launch_options& options) {
  emulator::launch_report report = launch_prepared<Kernel>(prepare_on_cpu<Kernel>(args, options), options);
  if constexpr (HasFollower<Kernel>) {
    launch_options then = options;
    then.progress = {};
    add_report(report, launch_checked<typename Kernel::followed_by>(args, then));
  }
  return report;
}

}  // namespace detail

/// Runs a kernel, and those that follow it, on the CPU emulator, and waits for its end. Throws launch_error, before
/// anything runs, with the error message of Kernel::check(args) or where there is no target to emulate; emulator::fault
/// where the kernel breaks a rule of the target. Returns counts of LDS and matrix instructions.
template <class Kernel>
emulator::launch_report launch(const typename Kernel::args_type& args, const launch_options& options = {}) {
  static_assert(require_ready_kernel<Kernel>());
  if constexpr (ReadyKernel<Kernel>) {
    if (const char* why = Kernel::check(args)) throw launch_error(why);
    return detail::launch_checked<Kernel>(args, options);
  }
  return {};
}

/// Runs Kernel<Arch> for the one of Archs that options.emulate names. Without Archs it is compiled for every target
/// that the library knows, which takes long: name those that you need.
template <template <class> class Kernel, class... Archs,
          class Args = typename detail::args_of_first<Kernel, Archs..., arch::gfx942>::type>
emulator::launch_report launch(const Args& args, const launch_options& options) {
  if constexpr (sizeof...(Archs) == 0) {
    return [&]<class... Known>(arch::target_list<Known...>) {
      return launch<Kernel, Known...>(args, options);
    }(arch::known_targets{});
  } else {
    emulator::launch_report report;
    const arch::target* wanted = options.emulate.value;
    const bool found =
        wanted &&
        ((detail::is_same_target(*wanted, Archs::value) && (report = launch<Kernel<Archs>>(args, options), true)) ||
         ...);
    if (found) return report;
    std::string names;
    ((names += (names.empty() ? "" : ", ") + std::string(Archs::value.name)), ...);
    throw launch_error("launch: " +
                       (wanted ? std::string(wanted->name) + " is not one of the targets"
                               : std::string("no target to emulate; give one")) +
                       " that the kernel is compiled for: " + names);
  }
}

}  // namespace tilewright
