// SPDX-License-Identifier: MIT
// Runs launches in many orders of waves and arrivals of copies, systematically.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>
#include <tilewright/machine/emulator/threads/schedule_choices.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::emulator {

struct exploration_options {
  index_t deviations = 1;        ///< from a base schedule in one run: 0 or more
  index_t max_schedules = 1000;  ///< 1 or more; if there are more, those that run are spread evenly over them
};

struct exploration {
  index_t schedules = 0;     ///< that have been run
  index_t orders = 0;        ///< different ones among them, of waves and arrivals of copies
  bool is_complete = false;  ///< they are all that have so many deviations
};

namespace detail {

/// The default schedule comes first.
inline constexpr schedule_base schedule_bases[] = {{}, {true, true}, {true, false}, {false, true}};

inline std::string name_of(const schedule_choices& choices) {
  std::string name = choices.base().has_early_copies ? "early copies" : "late copies";
  name += choices.base().is_backward ? ", waves backward" : ", waves forward";
  if (choices.base().reverses_blocks) name += ", blocks backward";
  for (const schedule_deviation& d : choices.deviations())
    name += ", alternative " + std::to_string(d.alternative) + " at point " + std::to_string(d.point);
  return name;
}

/// Runs with these decisions; the fault's sentence names them.
template <class Run>
schedule_choices run_schedule(schedule_choices choices, Run& run) {
  struct scope {
    schedule_choices* before;
    ~scope() { explored_run = before; }
  } const restore{std::exchange(explored_run, &choices)};
  try {
    run();
  } catch (const fault& f) {
    throw fault(f.what() + (" [schedule: " + name_of(choices) + ']'));
  }
  return choices;
}

/// Each schedule that has one deviation more than those runs, after their last one: call(run, deviation). Alternative
/// 1 or all others: the former, mostly a late wave, changes most.
template <class Call>
void for_each_successor(const std::vector<schedule_choices>& runs, bool is_first, Call call) {
  for (const schedule_choices& run : runs) {
    const index_t first = run.deviations().empty() ? 0 : run.deviations().back().point + 1;
    for (index_t point = first; point < index_t(run.alternatives().size()); ++point)
      for (index_t a = 1; a < run.alternatives()[std::size_t(point)]; ++a)
        if ((a == 1) == is_first) call(run, schedule_deviation{point, a});
  }
}

}  // namespace detail

/// Calls run() again and again, each time with another schedule of the launches that it makes on this thread of the
/// CPU. Where a wave has to wait, a schedule says which wave runs next, or which TMA load arrives before it does; a
/// wave runs until it has to wait, and clusters of blocks run one after another, in descending order where waves do so
/// and no block waits for another one. In the first schedule, as in launches
/// which are not explored, TMA loads arrive late and waves run in ascending order; in three others loads arrive early,
/// waves run in descending order, or both. Then, for each number of deviations, come schedules that deviate from these
/// four: another wave runs first, a copy or all of them arrive first, or the wave that would be next is postponed until
/// nothing else can happen. run() must do the same each time, its inputs included. Throws what run() throws; a fault's
/// sentence then names the schedule.
template <class Run>
exploration explore(const exploration_options& options, Run run) {
  std::vector<schedule_choices> runs;
  std::set<std::uint64_t> orders;
  exploration result{0, 0, true};
  const auto add = [&](std::vector<schedule_choices>& to, schedule_choices choices) {
    to.push_back(detail::run_schedule(std::move(choices), run));
    orders.insert(to.back().order());
    ++result.schedules;
  };
  for (schedule_base base : detail::schedule_bases) {
    if (result.schedules >= options.max_schedules) break;
    base.reverses_blocks = base.is_backward && runs.front().may_reverse_blocks();
    add(runs, schedule_choices(base));
  }
  result.is_complete = runs.size() == std::size(detail::schedule_bases);
  for (index_t depth = 0; depth < options.deviations; ++depth) {
    std::vector<schedule_choices> next;
    for (const bool is_first : {true, false}) {
      long_index_t count = 0, number = 0;
      detail::for_each_successor(runs, is_first, [&](const auto&, const schedule_deviation&) { ++count; });
      // Each number of deviations and each kind gets its share, spread evenly.
      const index_t shares = 2 * (options.deviations - depth) - index_t(!is_first);
      const index_t budget = (options.max_schedules - result.schedules) / shares;
      if (count > budget) result.is_complete = false;
      detail::for_each_successor(runs, is_first, [&](const schedule_choices& from, const schedule_deviation& more) {
        const long_index_t before = number++ * budget / count;
        if (count > budget && number * budget / count == before) return;
        std::vector<schedule_deviation> deviations = from.deviations();
        deviations.push_back(more);
        add(next, schedule_choices(from.base(), std::move(deviations)));
      });
    }
    runs = std::move(next);
  }
  result.orders = index_t(orders.size());
  return result;
}

}  // namespace tilewright::emulator
