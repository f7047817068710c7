// SPDX-License-Identifier: MIT
// Runs launches in many orders of waves and arrivals of copies, systematically.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>
#include <tilewright/machine/emulator/threads/schedule_choices.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::emulator {

struct exploration_options {
  index_t deviations = 1;        ///< from the default schedule in one run: 0 or more
  index_t max_schedules = 1000;  ///< 1 or more; if there are more, those that run are spread evenly over them
};

struct exploration {
  index_t schedules = 0;     ///< that have been run
  bool is_complete = false;  ///< they are all that have so many deviations
};

namespace detail {

/// Runs with the given deviations; the fault's sentence names them.
template <class Run>
schedule_choices run_schedule(std::vector<schedule_deviation> deviations, Run& run) {
  schedule_choices choices(std::move(deviations));
  struct scope {
    schedule_choices* before;
    ~scope() { explored_run = before; }
  } const restore{std::exchange(explored_run, &choices)};
  try {
    run();
  } catch (const fault& f) {
    std::string where = " [schedule:";
    for (const schedule_deviation& d : choices.deviations())
      where += " alternative " + std::to_string(d.alternative) + " at point " + std::to_string(d.point);
    throw fault(f.what() + where + (choices.deviations().empty() ? " the default]" : "]"));
  }
  return choices;
}

/// Each schedule that has one deviation more than those runs, after their last one: call(deviations).
template <class Call>
void for_each_successor(const std::vector<schedule_choices>& runs, Call call) {
  for (const schedule_choices& run : runs) {
    const index_t first = run.deviations().empty() ? 0 : run.deviations().back().point + 1;
    for (index_t point = first; point < index_t(run.alternatives().size()); ++point)
      for (index_t a = 1; a < run.alternatives()[std::size_t(point)]; ++a)
        call(run.deviations(), schedule_deviation{point, a});
  }
}

}  // namespace detail

/// Calls run() again and again, each time with another schedule of the launches that it makes on this thread of the
/// CPU: first the default one, then those that deviate from it once, then twice, and so on. Where a wave has to wait, a
/// schedule says which wave runs next, or which TMA load arrives before it does; a wave runs until it has to wait, and
/// clusters of blocks run one after another. run() must do the same each time, its inputs included. Throws what run()
/// throws; a fault's sentence then names the schedule.
template <class Run>
exploration explore(const exploration_options& options, Run run) {
  std::vector<schedule_choices> runs{detail::run_schedule({}, run)};
  exploration result{1, true};
  for (index_t depth = 0; depth < options.deviations && !runs.empty(); ++depth) {
    long_index_t count = 0;
    detail::for_each_successor(runs, [&](const auto&, const schedule_deviation&) { ++count; });
    const index_t budget = options.max_schedules - result.schedules;
    if (count > budget) result.is_complete = false;
    if (budget <= 0) break;
    const long_index_t step = (count + budget - 1) / budget;
    long_index_t number = 0;
    std::vector<schedule_choices> next;
    detail::for_each_successor(runs, [&](std::vector<schedule_deviation> deviations, const schedule_deviation& more) {
      if (number++ % step != 0) return;
      deviations.push_back(more);
      next.push_back(detail::run_schedule(std::move(deviations), run));
      ++result.schedules;
    });
    runs = std::move(next);
  }
  return result;
}

}  // namespace tilewright::emulator
