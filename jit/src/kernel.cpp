// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <tilewright/jit/error.hpp>

#include "elf_facts.hpp"
#include "kernel_state.hpp"
#include "source_text.hpp"

namespace tilewright::jit {

struct bound_kernel::state {
  std::shared_ptr<const kernel::state> of;
  std::vector<char> args, follower_args[2];
  launch_shape shape, followers[2];  // of those that the kernel has; grid[0] = 0: none

  /// Throws error if the kernel cannot take the arguments.
  void prepare(const kernel::state& kernel, const void* given, std::size_t bytes, const block_grid& grid);
  void prepare_followers(const kernel::state& kernel, const void* given, std::size_t bytes, host_half::prepared& first);
  void launch(const kernel::state& kernel, void* stream) const;
};

kernel::state::state(std::shared_ptr<gpu> on, const kernel_source& source, const std::string& code_object)
    : device(std::move(on)), name(source.name), facts(read_facts(code_object, source.name)), host(source.host) {
  if (facts.refusal[0] != 0) throw refused(name + ": " + facts.refusal);
  if (facts.prepared && !host.prepare)
    throw error(name + " has device_args, so kernel_source::host must say how they are made");
  module = device->load(code_object);
  function = device->function(module, name, facts.lds_bytes);
  for (int i = 0; i < 2; ++i)
    if (const kernel_facts::follower& next = facts.followers[i]; next.block_size > 0)
      followers[i] = device->function(module, follower_name(name, i), next.lds_bytes);
  if (facts.prepared) known = device->facts(function, shape());
  const host_half* half = host.next.get();
  for (int i = 0; i < 2 && half; ++i, half = half->next.get())
    if (half->prepare) known_of_followers[i] = device->facts(followers[i], shape_of_follower(i));
}

launch_shape kernel::state::shape() const {
  return {.block_size = facts.block_size,
          .lds_bytes = facts.lds_bytes,
          .cluster = facts.cluster,
          .overlaps_previous = facts.overlaps_previous != 0};
}

launch_shape kernel::state::shape_of_follower(int i) const {
  const kernel_facts::follower& next = facts.followers[i];
  return {.block_size = next.block_size, .lds_bytes = next.lds_bytes, .overlaps_previous = next.overlaps_previous != 0};
}

const std::string& kernel::name() const { return state_->name; }
const kernel_facts& kernel::facts() const { return state_->facts; }

index_t kernel::resident_clusters() const {
  return state_->device->facts(state_->function, state_->shape()).resident_clusters;
}

void bound_kernel::operator()(void* stream) const { state_->launch(*state_->of, stream); }

void bound_kernel::state::launch(const kernel::state& kernel, void* stream) const {
  kernel.device->launch(kernel.function, shape, args.data(), args.size(), stream);
  for (int i = 0; i < 2 && kernel.followers[i]; ++i)
    if (followers[i].grid[0] > 0)  // the last may run without the one between
      kernel.device->launch(kernel.followers[i], followers[i], follower_args[i].data(), follower_args[i].size(),
                            stream);
}

void kernel::check_bytes(const void* args) const {
  if (!state_->host.check) return;
  if (const char* why = state_->host.check(args)) throw refused(state_->name + ": " + why);
}

void kernel::launch_bytes(const void* args, std::size_t bytes, void* stream, const block_grid& grid) const {
  check_bytes(args);
  const gpu_in_use guard(*state_->device);
  bound_kernel::state bound;
  bound.prepare(*state_, args, bytes, grid);
  bound.launch(*state_, stream);
}

bound_kernel kernel::bind(const void* args, std::size_t bytes, const block_grid& grid) const {
  check_bytes(args);
  auto bound = std::make_shared<bound_kernel::state>();
  bound->of = state_;
  const gpu_in_use guard(*state_->device);
  bound->prepare(*state_, args, bytes, grid);
  bound_kernel result;
  result.state_ = std::move(bound);
  return result;
}

void bound_kernel::state::prepare(const kernel::state& kernel, const void* given, std::size_t bytes,
                                  const block_grid& grid) {
  const kernel_facts& f = kernel.facts;
  const auto* const begin = static_cast<const char*>(given);
  shape = kernel.shape();
  host_half::prepared made{{}, grid};
  if (f.prepared) {
    made = kernel.host.prepare(given, kernel.known);
    args = std::move(made.device_args);
  } else {
    args.assign(begin, begin + bytes);
    if (grid.x == 0 && kernel.host.grid) made.grid = kernel.host.grid(given);
  }
  if (made.grid.x == 0 && !f.prepared) {
    if (!f.has_grid)
      throw error(kernel.name + " was compiled for no problem in particular, so its launch needs a grid");
    made.grid = {f.grid[0], f.grid[1], f.grid[2]};
  }
  std::memcpy(shape.grid, &made.grid, sizeof made.grid);
  shape.overlaps_previous = shape.overlaps_previous && !made.starts_alone;
  if (int(args.size()) != f.args_bytes)
    throw error(kernel.name + " takes arguments of " + std::to_string(f.args_bytes) + " bytes, not of " +
                std::to_string(args.size()));
  prepare_followers(kernel, given, bytes, made);
}

void bound_kernel::state::prepare_followers(const kernel::state& kernel, const void* given, std::size_t bytes,
                                            host_half::prepared& first) {
  const kernel_facts& f = kernel.facts;
  const auto* const begin = static_cast<const char*>(given);
  const host_half* half = kernel.host.next.get();
  for (int i = 0; i < 2 && f.followers[i].block_size > 0; ++i, half = half ? half->next.get() : nullptr) {
    followers[i] = kernel.shape_of_follower(i);
    follower_args[i].assign(begin, begin + bytes);
    block_grid blocks;
    if (half && half->prepare) {
      host_half::prepared made = half->prepare(given, kernel.known_of_followers[i]);
      follower_args[i] = std::move(made.device_args);
      blocks = made.grid;
    } else if (half) {
      blocks = half->grid(given);
    } else {
      if (!f.has_grid && !f.prepared)
        throw error(kernel.name +
                    " has followed_by, whose grid is not given: compile it for a problem (kernel_source::problem)");
      if (!first.follower_args.empty()) follower_args[i] = first.follower_args;
      const int* const grid = f.followers[i].grid;
      blocks = f.prepared && i == 0 ? first.follower_grid : block_grid{grid[0], grid[1], grid[2]};
    }
    std::memcpy(followers[i].grid, &blocks, sizeof blocks);
  }
}

}  // namespace tilewright::jit
