// SPDX-License-Identifier: MIT
// Matrix instructions of warpgroups in flight: they read LDS and change accumulators only when they are waited for.
#pragma once

#include <tilewright/machine/emulator/cluster.hpp>
#include <tilewright/machine/emulator/hopper/wgmma_emulation.hpp>
#include <tilewright/machine/emulator/lds/lds_checker.hpp>

#include <array>
#include <deque>
#include <list>
#include <memory>

namespace tilewright::emulator {

class warpgroups {
 public:
  static constexpr index_t size = warpgroup_size;  ///< threads

  /// Warpgroups of these threads.
  explicit warpgroups(cluster& threads) : threads_(threads) {}

  /// Nothing is in flight.
  void begin_cluster() {
    groups_.assign(std::size_t(index_t(threads_.threads().size()) / size), {});
    if (access_order* const order = threads_.order()) {
      for (warpgroup& group : groups_) group.agent = order->new_agent();
    }
    lanes_.assign(threads_.threads().size(), {});
  }

  /// wgmma.fence of one thread.
  void fence(const thread_context& self) { lane_of(self).has_fenced = true; }

  /// wgmma of one thread; the last one of its warpgroup starts the instruction. `c`: n / 2 accumulators of the thread.
  void start(thread_context& self, float* c, const void* a, const wgmma_operands& operands, call_site where) {
    warpgroup& group = group_of(self, where);
    lane& mine = lane_of(self);
    self.latest_wgmma = self.site_of(where);
    const std::size_t number = mine.started++ - group.completed;
    if (number == group.in_flight.size()) {
      check(self, operands, where);
      group.in_flight.push_back({operands, find_accumulators(group, self, c, operands.n), {}, {}});
    }
    instruction& i = group.in_flight[number];
    if (!(i.operands == operands))
      refuse(self, "passes wgmma", where, " other operands than the threads of its warpgroup before it");
    i.c->take(self, c, operands.accumulate, mine.has_fenced, where);
    if (operands.a_in_registers) {
      if (!i.a) i.a = std::make_shared<wgmma_a_registers>();
      i.a->take(self, a, mine.has_fenced, where);
    }
    if (access_order* const order = threads_.order(); order != nullptr && self.lane_id == 0)
      i.issued[std::size_t(self.wave_id % 4)] = order->tick();
    // A wave reads its own rows of a and all of b.
    if (lds_checker* const checker = threads_.checker(self.rank); checker != nullptr && self.lane_id == 0) {
      const lds_checker::bulk_reader reader = reader_of(group, self, number);
      const index_t first_row = self.wave_id % 4 * 16;
      const auto check_chunk = [&](index_t address) {
        checker->begin_bulk_read(self, reader, address, 16, "multiplies", self.site_of(where));
      };
      if (!operands.a_in_registers) a_of(operands).for_each_chunk(first_row, first_row + 16, check_chunk);
      b_of(operands).for_each_chunk(0, operands.n, check_chunk);
    }
  }

  /// setmaxnreg. Warps that have not asked for a number may give theirs away later; those that have keep it.
  void set_registers(const thread_context& self, index_t registers, call_site where) {
    const arch::target& target = *self.target;
    const index_t available = target.registers_per_simd * target.simds_per_cu * target.wave_size;
    lane_of(self).registers = registers;
    const index_t begin = self.number - self.thread_id;
    index_t sum = 0;
    for (index_t i = begin; i < begin + self.block_size; ++i) sum += lanes_[std::size_t(i)].registers;
    if (sum > available)
      refuse(self, "asks for " + std::to_string(registers) + " registers", where,
             ", with which the threads of its block have asked for " + std::to_string(sum) + " of the " +
                 std::to_string(available) + " that an SM has");
  }

  /// wgmma.commit_group of one thread.
  void commit(const thread_context& self) {
    lane& mine = lane_of(self);
    mine.group_ends.push_back(mine.started);
  }

  /// The last thread of the warpgroup to come completes all groups but `pending`.
  void wait(thread_context& self, index_t pending, call_site where) {
    warpgroup& group = group_of(self, where);
    lane& mine = lane_of(self);
    mine.pending = pending;
    if (++group.arrived < size) {
      threads_.wait(self, meeting::warpgroup, where);
      return;
    }
    group.arrived = 0;
    const index_t first = self.number / size * size;
    for (index_t i = first; i < first + size; ++i) {
      lane& other = lanes_[std::size_t(i)];
      if (other.group_ends != mine.group_ends || other.started != mine.started || other.pending != pending)
        refuse(self, "comes to wgmma_wait", where,
               " with other matrix instructions than thread " +
                   std::to_string(threads_.threads()[std::size_t(i)].thread_id) + " of its warpgroup");
    }
    const std::size_t groups = mine.group_ends.size(), left = std::size_t(pending);
    if (groups > left) {
      const std::size_t end = mine.group_ends[groups - left - 1];
      std::array<std::uint32_t, 4> issued{};
      while (group.completed < end) issued = complete(group, self, where);
      for (index_t i = first; i < first + size; ++i) {
        if (access_order* const order = threads_.order()) {
          order->acquire_agent(i, group.agent);
          // All four waves have issued what is complete, and so waited for its operands.
          for (index_t wave = 0; wave < 4; ++wave)
            order->acquire_agent(i, order->agent_of_wave(first + 32 * wave), issued[std::size_t(wave)]);
        }
        auto& ends = lanes_[std::size_t(i)].group_ends;
        ends.erase(ends.begin(), ends.end() - std::ptrdiff_t(left));
      }
    }
    for (index_t i = first; i < first + size; ++i) {
      if (i != self.number) threads_.wake(i);
    }
  }

  /// A thread leaves the kernel.
  void leave(const thread_context& self) const {
    const std::size_t group = std::size_t(self.number / size);
    if (group < groups_.size() && lanes_[std::size_t(self.number)].started > groups_[group].completed)
      refuse(self, "leaves the kernel before it has waited for its matrix instructions");
  }

  /// Instructions so far, counted as four waves each.
  long_index_t instructions_of_waves() const { return instructions_of_waves_; }

 private:
  struct instruction {
    wgmma_operands operands;
    wgmma_accumulators* c;
    std::shared_ptr<wgmma_a_registers> a;
    std::array<std::uint32_t, 4> issued{};  // by each wave: when
  };
  struct warpgroup {
    std::deque<instruction> in_flight{};
    std::size_t completed = 0;
    std::list<wgmma_accumulators> used{};
    index_t arrived = 0;  // at wgmma_wait
    index_t agent = -1;
  };
  struct lane {
    std::size_t started = 0;
    std::vector<std::size_t> group_ends{};
    index_t pending = 0;
    index_t registers = 0;  // 0: as the kernel starts
    bool has_fenced = false;
  };

  lane& lane_of(const thread_context& self) { return lanes_[std::size_t(self.number)]; }
  warpgroup& group_of(const thread_context& self, call_site where) {
    if (index_t(threads_.block_size()) % size != 0)
      refuse(self, "asks for a matrix instruction of a warpgroup", where,
             ", but its block is not a whole number of 128 threads");
    return groups_[std::size_t(self.number / size)];
  }

  static void check(const thread_context& self, const wgmma_operands& o, call_site where) {
    const auto check_operand = [&](unsigned long long bits, index_t rows, bool transposed, const char* name) {
      const wgmma_operand_in_lds operand{wgmma_descriptor_fields(bits), rows, transposed};
      if (operand.fields.swizzle == 0 || operand.fields.base_offset != 0)
        refuse(self, "passes wgmma", where,
               std::string(" a descriptor of ") + name +
                   " without a swizzle or with a base offset, which the CPU emulator does not know");
      operand.for_each_chunk(0, rows, [&](index_t address) {
        if (address + 16 <= self.lds_bytes) return;
        refuse(self, "multiplies", where,
               std::string(" an operand ") + name + " that reaches LDS byte " + std::to_string(address + 15) +
                   ", outside of the " + std::to_string(self.lds_bytes) + " bytes that it has allocated");
      });
    };
    if (!o.a_in_registers) check_operand(o.a, 64, o.transpose_a, "a");
    check_operand(o.b, o.n, o.transpose_b, "b");
  }

  /// The instruction `number` places after the completed ones.
  static lds_checker::bulk_reader reader_of(const warpgroup& group, const thread_context& self, std::size_t number) {
    return {self.thread_id / size, std::uint16_t(group.completed + number)};
  }

  static wgmma_accumulators* find_accumulators(warpgroup& group, const thread_context& self, const float* c,
                                               index_t n) {
    for (wgmma_accumulators& a : group.used) {
      if (!a.are_of(self, c, n)) continue;
      ++a.in_flight;
      return &a;
    }
    return &group.used.emplace_back(n, 1);
  }

  void multiply(const instruction& i, const char* lds) const {
    float* const c = i.c->sums.data();
    if (!i.operands.accumulate) std::fill(i.c->sums.begin(), i.c->sums.end(), 0.0f);
    if (i.operands.a_in_registers) {
      multiply_in_lds(wgmma_a_in_registers{i.a->bytes[0].data()}, b_of(i.operands), i.operands.element, lds, c);
    } else {
      const wgmma_operand_in_lds a = a_of(i.operands);
      multiply_in_lds([&](index_t row, index_t k_byte) { return lds + a.address(row, k_byte); }, b_of(i.operands),
                      i.operands.element, lds, c);
    }
  }

  /// Returns when its waves had issued the instruction.
  std::array<std::uint32_t, 4> complete(warpgroup& group, const thread_context& self, call_site where) {
    const instruction i = std::move(group.in_flight.front());
    const index_t first = self.number / size * size;
    const thread_context* const threads = &threads_.threads()[std::size_t(first)];
    if (i.operands.a_in_registers) i.a->check(threads, self, where);
    multiply(i, self.lds);
    if (lds_checker* const checker = threads_.checker(self.rank)) {
      const lds_checker::bulk_reader reader = reader_of(group, self, 0);
      const auto end_chunk = [&](index_t address) { checker->end_bulk_read(reader, group.agent, address, 16); };
      if (!i.operands.a_in_registers) a_of(i.operands).for_each_chunk(0, 64, end_chunk);
      b_of(i.operands).for_each_chunk(0, i.operands.n, end_chunk);
    }
    if (--i.c->in_flight == 0) {
      i.c->give_back(threads, self, where);
      for (index_t thread = first; thread < first + size; ++thread) lanes_[std::size_t(thread)].has_fenced = false;
      group.used.remove_if([&](const wgmma_accumulators& a) { return &a == i.c; });
    }
    group.in_flight.pop_front();
    ++group.completed;
    instructions_of_waves_ += 4;
    return i.issued;
  }

  cluster& threads_;
  std::vector<warpgroup> groups_;
  std::vector<lane> lanes_;
  long_index_t instructions_of_waves_ = 0;
};

}  // namespace tilewright::emulator
