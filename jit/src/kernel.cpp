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
  launch_shape shape, followers[2];  // grid[0] = 0: none
};

kernel::state::state(std::shared_ptr<gpu> on, const kernel_source& source, const std::string& code_object)
    : device(std::move(on)), name(source.name), facts(read_facts(code_object, source.name)), host(source.host) {
  if (facts.refusal[0] != 0) throw error(name + ": " + facts.refusal);
  if (facts.prepared && !host.prepare)
    throw error(name + " has device_args, so kernel_source::host must say how they are made");
  module = device->load(code_object);
  function = device->function(module, name, facts.lds_bytes);
  for (int i = 0; i < 2; ++i)
    if (const kernel_facts::follower& next = facts.followers[i]; next.block_size > 0)
      followers[i] = device->function(module, follower_name(name, i), next.lds_bytes);
}

launch_shape kernel::state::shape() const {
  return {.block_size = facts.block_size,
          .lds_bytes = facts.lds_bytes,
          .cluster = facts.cluster,
          .overlaps_previous = facts.overlaps_previous != 0};
}

const std::string& kernel::name() const { return state_->name; }
const kernel_facts& kernel::facts() const { return state_->facts; }

index_t kernel::resident_clusters() const {
  return state_->device->facts(state_->function, state_->shape()).resident_clusters;
}

void bound_kernel::operator()(void* stream) const {
  const state& s = *state_;
  s.of->device->launch(s.of->function, s.shape, s.args.data(), s.args.size(), stream);
  for (int i = 0; i < 2 && s.followers[i].grid[0] > 0; ++i)
    s.of->device->launch(s.of->followers[i], s.followers[i], s.follower_args[i].data(), s.follower_args[i].size(),
                         stream);
}

void kernel::launch(const void* args, std::size_t bytes, void* stream, const block_grid& grid) const {
  bind(args, bytes, grid)(stream);
}

bound_kernel kernel::bind(const void* args, std::size_t bytes, const block_grid& grid) const {
  const kernel_facts& f = state_->facts;
  const auto* const begin = static_cast<const char*>(args);
  auto bound = std::make_shared<bound_kernel::state>();
  bound->of = state_;
  bound->shape = state_->shape();
  bound->args.assign(begin, begin + bytes);
  if (state_->host.check) {
    if (const char* why = state_->host.check(args)) throw error(state_->name + ": " + why);
  }
  block_grid blocks = grid, next_blocks;
  for (std::vector<char>& follower_args : bound->follower_args) follower_args.assign(begin, begin + bytes);
  if (f.prepared) {
    host_half::prepared made = state_->host.prepare(args, state_->device->facts(state_->function, bound->shape));
    bound->args = std::move(made.device_args);
    blocks = made.grid;
    next_blocks = made.follower_grid;
    if (!made.follower_args.empty()) bound->follower_args[0] = bound->follower_args[1] = std::move(made.follower_args);
  } else if (grid.x == 0 && state_->host.grid) {
    blocks = state_->host.grid(args);
  } else if (grid.x == 0) {
    if (!f.has_grid)
      throw error(state_->name + " was compiled for no problem in particular, so its launch needs a grid");
    blocks = {f.grid[0], f.grid[1], f.grid[2]};
  }
  std::memcpy(bound->shape.grid, &blocks, sizeof blocks);
  if (int(bound->args.size()) != f.args_bytes)
    throw error(state_->name + " takes arguments of " + std::to_string(f.args_bytes) + " bytes, not of " +
                std::to_string(bound->args.size()));
  const host_half* half = state_->host.next.get();
  for (int i = 0; i < 2; ++i, half = half ? half->next.get() : nullptr) {
    const kernel_facts::follower& next = f.followers[i];
    launch_shape& shape = bound->followers[i];
    if (half) {
      shape.block_size = next.block_size;
      shape.lds_bytes = next.lds_bytes;
      shape.overlaps_previous = next.overlaps_previous != 0;
      block_grid of_follower;
      if (half->prepare) {
        host_half::prepared made = half->prepare(args, state_->device->facts(state_->followers[i], shape));
        bound->follower_args[i] = std::move(made.device_args);
        of_follower = made.grid;
      } else {
        of_follower = half->grid(args);
      }
      std::memcpy(shape.grid, &of_follower, sizeof of_follower);
      continue;
    }
    if (f.prepared && i == 0)
      std::memcpy(shape.grid, &next_blocks, sizeof next_blocks);
    else
      std::memcpy(shape.grid, next.grid, sizeof next.grid);
    if (next.block_size == 0) continue;
    if (!f.has_grid && !f.prepared)
      throw error(state_->name +
                  " has followed_by, whose grid nobody gives: compile it for a problem (kernel_source::problem)");
    shape.block_size = next.block_size;
    shape.lds_bytes = next.lds_bytes;
    shape.overlaps_previous = next.overlaps_previous != 0;
  }
  bound_kernel result;
  result.state_ = std::move(bound);
  return result;
}

}  // namespace tilewright::jit
