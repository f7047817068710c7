// SPDX-License-Identifier: MIT
// Random layouts against an independent evaluation: offsets, validity, runs, linearity.
#include "random_layout.hpp"

#include <tilewright/core/distribution/access_plan.hpp>
#include "../core/descriptor/graph_walk.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace tilewright::property {
namespace {

/// Offset and validity as the graph says.
struct evaluation {
  index_t offset;
  bool valid;
};

evaluation evaluate(const random_layout& layout, const indices& index) {
  array<index_t, tensor_graph::max_hidden> hidden{};
  detail::lower_all(layout.graph, layout.values.data(), index.data(), hidden.data());
  const bool valid = tilewright::detail::is_valid_everywhere(layout.graph, layout.values.data(), hidden.data());
  return {hidden[0], valid};
}

std::string about(const random_layout& layout, const indices& index, const std::string& what) {
  return what + " at " + text(index) + " of" + layout.description;
}

TEST(RandomLayouts, AreAccepted) {
  check_property([](tape& choices) {
    const random_layout layout = make_random_layout(choices);
    if (!lengths_fit(layout.graph, layout.values.data())) return "too long for 32 bits:" + layout.description;
    return layout.description.find("NOT ACCEPTED") == std::string::npos ? "" : layout.description;
  });
}

// Properties of every transform are only as good as what the generator makes: every kind, above every other.
TEST(RandomLayouts, PutEveryTransformOnTopOfEveryOther) {
  std::set<std::pair<transform_kind, transform_kind>> pairs;
  check_property([&](tape& choices) {
    const random_layout layout = make_random_layout(choices);
    for (const tensor_graph::node& above : layout.graph.nodes) {
      for (const signed char id : above.lower) {
        const tilewright::detail::dimension_source below = tilewright::detail::find_source(layout.graph, id);
        if (below.node >= 0) pairs.insert({above.spec.kind, layout.graph.nodes[below.node].spec.kind});
      }
    }
    return "";
  });
  constexpr int num_kinds = int(transform_kind::functor) + 1;
  for (int above = 0; above < num_kinds; ++above) {
    for (int below = 0; below < num_kinds; ++below) {
      const auto upper = transform_kind(above), lower = transform_kind(below);
      // Passing through makes no node above another; freezing leaves no dimension.
      const bool cannot = upper == transform_kind::pass_through || lower == transform_kind::pass_through ||
                          lower == transform_kind::freeze || upper == transform_kind::replicate;
      EXPECT_TRUE(cannot || pairs.contains({upper, lower})) << above << " above " << below;
    }
  }
}

TEST(RandomLayouts, OffsetsAndPadsFollowTheDefinition) {
  check_property([](tape& choices) {
    const random_layout layout = make_random_layout(choices);
    return for_each_index(layout.model.lengths(), [&](const indices& index) -> std::string {
      const evaluation ours = evaluate(layout, index);
      const std::optional<index_t> expected = layout.model.offset(index);
      if (ours.valid != expected.has_value()) return about(layout, index, "validity");
      if (expected && ours.offset != *expected) return about(layout, index, "offset " + std::to_string(ours.offset));
      return "";
    });
  });
}

TEST(RandomLayouts, LengthsAreKnownWhereNoRunTimeValueDecides) {
  check_property([](tape& choices) -> std::string {
    const random_layout layout = make_random_layout(choices);
    for (index_t d = 0; d < layout.graph.ndim(); ++d) {
      const index_t length = detail::hidden_length(layout.graph, layout.graph.top[d]);
      if (length != layout.model.lengths()[std::size_t(d)] && (length != dynamic || layout.values.empty())) {
        return about(layout, {d}, "length " + std::to_string(length));
      }
    }
    return "";
  });
}

// A block of `run` indices from a multiple of it exists wholly or not at all, is contiguous,
// and begins at a multiple of `run`.
TEST(RandomLayouts, RunsAreContiguousAlignedAndWhole) {
  check_property([](tape& choices) {
    const random_layout layout = make_random_layout(choices);
    const auto runs = detail::contiguous_runs(layout.graph, 1 << 10);
    return for_each_index(layout.model.lengths(), [&](const indices& index) -> std::string {
      const std::optional<index_t> here = layout.model.offset(index);
      for (std::size_t d = 0; d < index.size(); ++d) {
        const index_t run = runs[layout.graph.top[index_t(d)]];
        if (run < 1) return about(layout, index, "no run");
        indices first = index;
        first[d] -= index[d] % run;
        const std::optional<index_t> begin = layout.model.offset(first);
        const auto fault = [&](const char* what) {
          return about(layout, index, what + (", run " + std::to_string(run)) + " along " + std::to_string(d));
        };
        if (begin.has_value() != here.has_value()) return fault("half a vector exists");
        if (!here) continue;
        indices last = first;
        last[d] += run - 1;
        if (!layout.model.offset(last)) return fault("leaves the tensor");
        if (*begin % run != 0) return fault("not aligned");
        if (*here - *begin != index[d] % run) return fault("not contiguous");
      }
      return "";
    });
  });
}

TEST(RandomLayouts, LinearOnesAre) {
  check_property([](tape& choices) {
    const random_layout layout = make_random_layout(choices);
    if (!detail::is_linear(layout.graph)) return std::string();
    const indices zero(layout.model.lengths().size());
    const index_t origin = evaluate(layout, zero).offset;
    return for_each_index(layout.model.lengths(), [&](const indices& index) -> std::string {
      index_t sum = origin;
      for (std::size_t d = 0; d < index.size(); ++d) {
        indices unit = zero;
        unit[d] = 1;
        sum += index[d] * (evaluate(layout, unit).offset - origin);
      }
      return evaluate(layout, index).offset == sum ? "" : about(layout, index, "not linear");
    });
  });
}

// What step_along says of a dimension is so everywhere; of linear layouts it knows all.
TEST(RandomLayouts, StepsAlongADimensionAreTheSameEverywhere) {
  check_property([](tape& choices) -> std::string {
    const random_layout layout = make_random_layout(choices);
    const tensor_graph known = all_static(layout);
    const indices& lengths = layout.model.lengths();
    for (index_t d = 0; d < index_t(lengths.size()); ++d) {
      const tilewright::detail::linear_step step = tilewright::detail::step_along(layout.graph, d),
                                            of_known = tilewright::detail::step_along(known, d);
      const long_index_t distance = step.with_values(layout.values.data());
      const std::string about = ", step along " + std::to_string(d) + " of" + layout.description;
      if (of_known.is_linear && !of_known.is_static()) return "a run-time value of a static layout" + about;
      if (step.is_linear != of_known.is_linear || of_known.factor != distance)
        return "static and run-time forms differ" + about;
      std::string wrong = for_each_index(lengths, [&](const indices& index) -> std::string {
        indices next = index;
        if (++next[std::size_t(d)] == lengths[std::size_t(d)]) return "";
        const std::optional<index_t> from = layout.model.offset(index), to = layout.model.offset(next);
        if (!from || !to || !of_known.is_linear) return detail::is_linear(known) && from && to ? "not known" : "";
        return *to - *from == of_known.factor ? "" : "not " + std::to_string(of_known.factor) + " at " + text(index);
      });
      if (!wrong.empty()) return wrong + about;
    }
    return "";
  });
}

TEST(RandomLayouts, F2LinearOnesAre) {
  check_property([](tape& choices) {
    const random_layout layout = make_random_layout(choices, true);
    if (!detail::is_f2_linear(layout.graph)) return std::string();
    return for_each_index(layout.model.lengths(), [&](const indices& index) -> std::string {
      if (!layout.model.offset(index)) return "";
      index_t sum = 0;
      for (std::size_t d = 0; d < index.size(); ++d) {
        for (index_t bit = 1; bit <= index[d]; bit *= 2) {
          indices unit(index.size());
          unit[d] = index[d] & bit;
          sum ^= evaluate(layout, unit).offset;
        }
      }
      return evaluate(layout, index).offset == sum ? "" : about(layout, index, "not linear in bits");
    });
  });
}

}  // namespace
}  // namespace tilewright::property
