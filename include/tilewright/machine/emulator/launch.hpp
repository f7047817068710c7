// SPDX-License-Identifier: MIT
// Runs a kernel over a grid on the CPU, as the target that the caller names.
#pragma once

#include <tilewright/core/base/config.hpp>
#if !TILEWRIGHT_CPU_PASS
#error "the emulator runs kernels on the CPU: include it in files that are compiled as C++, not as HIP or CUDA"
#else

#include <tilewright/machine/emulator/block_machine.hpp>
#include <tilewright/machine/emulator/rank_group.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace tilewright::emulator {

/// Whether a launch looks for races in LDS and for reads of what was never written,
/// and reports conflicts by source line.
enum class lds_checks : signed char {
  from_environment,  // on unless TILEWRIGHT_CHECK_LDS is 0
  off,
  on,
};

/// What launch() runs a kernel with. `target`, `grid` and `block_size` must be given.
struct launch_config {
  const arch::target* target = nullptr;  ///< whose hardware is emulated; required
  block_index grid = {};                 ///< in blocks
  index_t cluster = 1;                   ///< blocks along x that run together, on targets that have clusters
  index_t block_size = 0;                ///< threads; a multiple of the target's wave
  index_t lds_bytes = 0;                 ///< what a kernel's lds_allocate can have
  int workers = 0;                       ///< clusters that run at a time; 0: one per hardware thread
  /// Called after each block, by one thread at a time; {}: not at all.
  std::function<void(long_index_t done, long_index_t total)> progress = {};
  std::size_t stack_bytes = 256 * 1024;  ///< of each emulated thread
  /// Whether LDS accesses are checked; by default the environment decides.
  lds_checks check_lds = lds_checks::from_environment;
  /// The allocations that the kernel may access. If there are any, all others are refused, and with LDS checks also
  /// races in them; {} checks nothing.
  std::vector<memory_range> memory = {};
  /// A launch in which no thread has met another one for this time ends the program with the places where they run;
  /// 0: never.
  int watchdog_seconds = 120;
  /// Threads run in a random order that the seed fixes; 0: in the order of their numbers, or by the environment's
  /// TILEWRIGHT_SCHEDULE_SEED. A fault names the seed.
  std::uint64_t schedule_seed = 0;
  /// The kernel may start before the previous launch of this thread of the CPU has ended, and waits for it by
  /// exec::grid_dependency_wait(): with LDS checks, what a thread does before that must not conflict with what that
  /// launch has done.
  bool overlaps_previous = false;
  rank_group* ranks = nullptr;  ///< whose other launches this one may wait for
};

namespace detail {

/// Every emulated thread takes two memory mappings, of which Linux by default allows a process 65530.
inline constexpr int max_fibers = 16 * 1024;

inline bool checks_lds(const launch_config& config) {
  if (config.check_lds != lds_checks::from_environment) return config.check_lds == lds_checks::on;
  const char* wanted = std::getenv("TILEWRIGHT_CHECK_LDS");
  return wanted == nullptr || std::string_view(wanted) != "0";
}

inline std::uint64_t schedule_seed(const launch_config& config) {
  const char* const wanted = std::getenv("TILEWRIGHT_SCHEDULE_SEED");
  if (config.schedule_seed != 0 || wanted == nullptr) return config.schedule_seed;
  return std::strtoull(wanted, nullptr, 10);
}

inline void check(const launch_config& config) {
  if (config.target == nullptr) throw fault("launch: no target is named");
  const arch::target& target = *config.target;
  const std::string threads = "launch: a block of " + std::to_string(config.block_size) + " threads";
  if (config.block_size <= 0 || config.block_size % target.wave_size != 0)
    throw fault(threads + " is not a whole number of " + target.name + "'s waves of " +
                std::to_string(target.wave_size));
  if (config.block_size > target.max_threads_per_block) {
    throw fault(threads + " is more than the " + std::to_string(target.max_threads_per_block) + " that " + target.name +
                " allows");
  }
  if (config.grid.x <= 0 || config.grid.y <= 0 || config.grid.z <= 0)
    throw fault("launch: a grid of " + to_string(config.grid) + " blocks is empty");
  if (config.cluster < 1 || config.cluster > target.max_cluster || config.grid.x % config.cluster != 0) {
    throw fault("launch: clusters of " + std::to_string(config.cluster) + " blocks in a row of " +
                std::to_string(config.grid.x) + "; " + target.name + " allows clusters of up to " +
                std::to_string(target.max_cluster) + ", and a row must be a whole number of them");
  }
  if (config.lds_bytes < 0 || config.lds_bytes > target.lds_bytes)
    throw fault("launch: " + std::to_string(config.lds_bytes) + " bytes of LDS for a block, but " + target.name +
                " has " + std::to_string(target.lds_bytes));
}

/// The state that the workers of a launch share.
class block_queue {
 public:
  block_queue(const launch_config& config, int workers, kernel_reference kernel, global_memory& memory,
              std::uint32_t number)
      : config_(config),
        kernel_(kernel),
        total_(long_index_t{config.grid.x} * config.grid.y * config.grid.z),
        progress_(std::size_t(workers)),
        unfinished_(workers),
        memory_(memory),
        number_(number),
        running_(std::size_t(workers), 0) {
    report_.workers = workers;
    report_.blocks = total_;
  }

  /// One worker: takes clusters until there are none left or one has failed.
  void work(int worker) noexcept {
    try {
      const stack_overflow_reports reports;
      block_machine machine(
          *config_.target,
          {config_.grid.x, config_.cluster, config_.block_size, config_.lds_bytes, checks_lds(config_),
           config_.stack_bytes, schedule_seed(config_), config_.ranks != nullptr, number_},
          progress_[std::size_t(worker)], memory_, kernel_);
      for (long_index_t i = take(worker); i < total_ && !stop_; i = take(worker)) {
        machine.run(block_at(i), waiting_worker{[&] { return lower_blocks_run(i); }, config_.ranks, &machine});
        if (config_.progress) {
          const std::lock_guard lock(mutex_);
          config_.progress(done_ += config_.cluster, total_);
        }
      }
      collect(machine);
    } catch (const fault& f) {
      const std::uint64_t seed = schedule_seed(config_);
      fail(std::make_exception_ptr(
          seed == 0 ? f : fault(f.what() + (" [threads in the order of schedule_seed " + std::to_string(seed) + ']'))));
    } catch (...) {
      fail(std::current_exception());
    }
    if (config_.ranks && --unfinished_ > 0) config_.ranks->remove();
  }

  const std::vector<worker_progress>& progress() const { return progress_; }

  launch_report finish() {
    if (error_) std::rethrow_exception(error_);
    array<lds_counts, arch::num_lds_ops> sums{};
    for (const auto& [key, counts] : counts_) {
      const auto& [file, line, op] = key;
      sums[index_t(op)].add(counts);
      report_.totals.add(counts);
      if (line != 0) report_.by_line.push_back({{counts, op}, file, line});
    }
    for (index_t op = 0; op < arch::num_lds_ops; ++op) {
      if (sums[op].executions > 0) report_.by_op.push_back({sums[op], static_cast<arch::lds_op>(op)});
    }
    return report_;
  }

 private:
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    stop_ = true;
  }

  /// The block that runs as number i. The order of an explored schedule is that of the first block of each cluster.
  block_index block_at(long_index_t i) const {
    if (explored_run != nullptr && explored_run->base().reverses_blocks) i = total_ - config_.cluster - i;
    return {index_t(i % config_.grid.x), index_t(i / config_.grid.x % config_.grid.y),
            index_t(i / config_.grid.x / config_.grid.y)};
  }
  /// The number of the first block of the next cluster; total_ or more if there is none.
  long_index_t take(int worker) {
    const std::lock_guard lock(mutex_);
    running_[std::size_t(worker)] = next_;
    next_ += config_.cluster;
    return running_[std::size_t(worker)];
  }
  bool lower_blocks_run(long_index_t block) {
    const std::lock_guard lock(mutex_);
    return !stop_ && *std::min_element(running_.begin(), running_.end()) < block;
  }

  void collect(const block_machine& machine) {
    const std::lock_guard lock(mutex_);
    const auto& by_site = machine.lds_counters();
    for (std::size_t site = 0; site < by_site.size(); ++site) {
      const call_site where = machine.site(site);
      for (index_t op = 0; op < arch::num_lds_ops; ++op) {
        const lds_counts& counts = by_site[site][op];
        if (counts.executions > 0) counts_[{where.file, where.line, static_cast<arch::lds_op>(op)}].add(counts);
      }
    }
    report_.matrix_instructions += machine.matrix_instructions();
  }

  const launch_config& config_;
  kernel_reference kernel_;
  long_index_t total_;
  long_index_t next_ = 0;
  std::vector<worker_progress> progress_;
  std::atomic<int> unfinished_;  // workers
  global_memory& memory_;
  std::uint32_t number_;               // of the launch, in memory_
  std::vector<long_index_t> running_;  // by worker: the first block of its cluster
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  long_index_t done_ = 0;
  std::exception_ptr error_;
  std::map<std::tuple<std::string, int, arch::lds_op>, lds_counts> counts_;  // by file, line and operation
  launch_report report_;
};

inline launch_report launch(const launch_config& config, kernel_reference kernel) {
  check(config);
  const long_index_t clusters = long_index_t{config.grid.x} * config.grid.y * config.grid.z / config.cluster;
  if (explored_run != nullptr && clusters > 1) explored_run->note_clusters();
  const int wanted = explored_run != nullptr ? 1
                     : config.workers > 0    ? config.workers
                                             : max(1, int(std::thread::hardware_concurrency()));
  const int workers =
      int(min(long_index_t(min(wanted, max_fibers / (config.block_size * config.cluster))), long_index_t(clusters)));
  static thread_local global_memory::earlier_kernels earlier;  // launches by this thread that the next one may overlap
  if (!config.overlaps_previous) earlier.clear();
  const bool is_shared = config.ranks && checks_lds(config);
  const auto memory =
      is_shared ? config.ranks->memory()
                : std::make_shared<global_memory>(config.memory, checks_lds(config), std::exchange(earlier, {}));
  const std::uint32_t number = is_shared ? memory->begin_launch() : 0;
  block_queue queue(config, workers, kernel, *memory, number);
  if (config.ranks) config.ranks->add(workers - 1);  // the last one to end is this thread again
  {
    const watchdog watching(queue.progress(), config.watchdog_seconds);
    std::vector<std::jthread> others;
    for (int i = 1; i < workers; ++i) others.emplace_back([&queue, i] { queue.work(i); });
    queue.work(0);
  }
  launch_report report = queue.finish();
  memory->check_resets(number);
  if (is_shared)
    memory->order().end_launch(number);
  else
    earlier = global_memory::before_next(memory);
  return report;
}

}  // namespace detail

/// Calls kernel() on every thread of every block: block_size fibers per block, and several blocks at a time. The kernel
/// object is shared by all of them. Throws emulator::fault for what the target does not allow, and whatever the kernel
/// throws; blocks that were not finished by then are not run.
template <class Kernel>
launch_report launch(const launch_config& config, Kernel kernel) {
  return detail::launch(config, {&kernel, [](void* object) { (*static_cast<Kernel*>(object))(); }});
}

}  // namespace tilewright::emulator

#endif
