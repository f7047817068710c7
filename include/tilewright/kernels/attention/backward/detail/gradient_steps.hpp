// SPDX-License-Identifier: MIT
// The steps of queries of a unit of attention's gradients on Hopper, with a block mask those that see any of its keys.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/kernels/attention/detail/attention_steps.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::detail {

/// The queries of a head that the window shows any of a unit's keys. If blocks add to dQ in order, all begin with the
/// last ones, which most keys see.
template <class Policy>
struct queries_in_steps {
  static constexpr index_t queries = Policy::tile.queries;
  index_t first, count;  // query of the first step, steps

  TILEWRIGHT_HD explicit queries_in_steps(index_range rows)
      : first(rows.first - modulo(rows.first, queries)), count(ceil_div(max(rows.last - first, 0), queries)) {}
  TILEWRIGHT_HD index_t query_of(index_t step) const {
    return first + (Policy::tile.is_deterministic ? count - 1 - step : step) * queries;
  }
};

/// The steps of a unit: of each head that shares its keys, from problem.head to last_head.
template <class Policy>
struct gradient_steps : queries_in_steps<Policy> {
  using args_type = typename Policy::args_type;
  index_t done = 0;  // of this head

  TILEWRIGHT_HD gradient_steps(index_range rows, index_range) : queries_in_steps<Policy>(rows) {}
  /// Whether there is a step. The first one may be of a later head.
  TILEWRIGHT_HD bool begin(const args_type&, attention_problem&, index_t) const { return this->count > 0; }
  TILEWRIGHT_HD index_t query() const { return this->query_of(done); }
  /// Whether the block mask shows all keys of the unit to all queries of the step.
  TILEWRIGHT_HD bool is_whole() const { return true; }
  /// Whether there is one more: advance() goes there, or past last_head.
  TILEWRIGHT_HD bool find_next(const args_type&, const attention_problem& problem, index_t last_head) const {
    return problem.head < last_head || done + 1 < this->count;
  }
  TILEWRIGHT_HD void advance(attention_problem& problem) {
    if (++done < this->count) return;
    done = 0;
    ++problem.head;
  }
};

/// With a block mask. A wave's lanes look at 32 steps at once, so all must be there.
template <class Policy>
  requires(Policy::has_block_mask)
struct gradient_steps<Policy> : queries_in_steps<Policy> {
  using args_type = typename Policy::args_type;
  index_range keys;
  index_t group = 0;              // number of the first of the 32 steps
  unsigned ahead = 0, whole = 0;  // bits of those that see any key, from the next one on; of those that see all keys
  index_t next_head = 0, current = 0;

  TILEWRIGHT_HD gradient_steps(index_range rows, index_range of_unit) : queries_in_steps<Policy>(rows), keys(of_unit) {}
  TILEWRIGHT_HD bool begin(const args_type& args, attention_problem& problem, index_t last_head) {
    if (this->count == 0) return false;
    look(args, problem);
    if (!find(args, problem, last_head)) return false;
    advance(problem);
    return true;
  }
  TILEWRIGHT_HD index_t query() const { return this->query_of(current); }
  TILEWRIGHT_HD bool is_whole() const { return (whole >> modulo(current, 32) & 1) != 0; }
  TILEWRIGHT_HD bool find_next(const args_type& args, const attention_problem& problem, index_t last_head) {
    ahead &= ahead - 1;
    return find(args, problem, last_head);
  }
  TILEWRIGHT_HD void advance(attention_problem& problem) {
    problem.head = next_head;
    current = group + lowest_set_bit(ahead);
  }

 private:
  TILEWRIGHT_HD bool find(const args_type& args, attention_problem problem, index_t last_head) {
    while (ahead == 0) {
      group += 32;
      if (group >= this->count) {
        group = 0;
        if (++problem.head > last_head) break;
      }
      look(args, problem);
    }
    next_head = problem.head;
    return next_head <= last_head;
  }
  TILEWRIGHT_HD void look(const args_type& args, const attention_problem& problem) {
    const index_t step = group + exec::lane_id(), query = this->query_of(step);
    index_range rows{0, 0};
    if (step < this->count) rows = {query, min(query + this->queries, problem.queries)};
    const auto of_step = head_block_mask(args, problem).view_of(rows, keys);
    ahead = unsigned(exec::ballot(of_step.of_any));
    whole = unsigned(exec::ballot(of_step.of_all));
  }
};

}  // namespace tilewright::detail
