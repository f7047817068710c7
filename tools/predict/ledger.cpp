// SPDX-License-Identifier: MIT
#include "ledger.hpp"

#include "own_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace predict {
namespace {

double sorted_quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const std::size_t at = std::min(values.size() - 1, std::size_t(share * double(values.size())));
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(at), values.end());
  return values[at];
}

/// Tiles that a library with many kernels has, for rows that do not name theirs.
std::vector<tw::cdna_gemm_kernel> usual_tiles(tw::index_t bits) {
  std::vector<tw::cdna_gemm_kernel> result;
  for (const auto& [m, n] : std::initializer_list<std::pair<int, int>>{
           {256, 256}, {256, 128}, {128, 128}, {64, 128}, {64, 64}, {32, 64}, {16, 64}})
    result.push_back({.m = m,
                      .n = n,
                      .k = 1024 / bits,
                      .waves_n = m < 64 ? 4 : 2,
                      .element_bits = bits,
                      .stages = 2,
                      .loop = tw::cdna_loop::scheduled});
  return result;
}

std::string type_of(const measured_gemm& g) {
  if (g.element_bits == 16) return "bf16";
  return g.element_bits == 4 ? "mxfp4" : g.block_scaled ? "8-bit, block scales" : "8-bit";
}

std::string time_of(double us) {
  return us < 15 ? "0 to 15" : us < 60 ? "15 to 60" : us < 300 ? "60 to 300" : "above 300";
}

using problem = std::tuple<const tw::arch::cdna_gpu*, std::string, std::int64_t, std::int64_t, std::int64_t>;

/// Pairs of rows of one problem with different kernels.
order_test test_order(const std::vector<const measured_gemm*>& rows) {
  std::map<problem, std::vector<const measured_gemm*>> same;
  for (const measured_gemm* g : rows) same[{g->gpu, type_of(*g), g->m, g->n, g->k}].push_back(g);
  order_test result;
  for (const auto& [_, list] : same) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const measured_gemm &x = *list[i], &y = *list[j];
        if (x.kernel_name == y.kernel_name || std::abs(x.us / y.us - 1) < 0.03) continue;
        ++result.pairs;
        result.right += (predict_row(x)->us < predict_row(y)->us) == (x.us < y.us);
      }
    }
  }
  return result;
}

/// The tiles that the tables name for a GPU, type and library.
using tile_key = std::tuple<const tw::arch::cdna_gpu*, std::string, library, bool>;
tile_key key_of(const measured_gemm& g) { return {g.gpu, type_of(g), g.kernel.family, g.kernel.tile->b_in_lds}; }

ratios test_winners(const std::vector<const measured_gemm*>& rows) {
  std::map<tile_key, std::map<std::string, tw::cdna_gemm_kernel>> tiles;
  for (const measured_gemm* g : rows)
    if (g->kernel.tile)
      tiles[key_of(*g)].emplace(g->kernel_name + std::to_string(g->kernel.tile->split_k), *g->kernel.tile);
  ratios result;
  for (const measured_gemm* g : rows) {
    if (!g->kernel.tile || g->splits_by_itself) continue;
    double best = predict_row(*g)->us;
    const double winner = best;
    for (const auto& [_, tile] : tiles[key_of(*g)])
      best = std::min(best, tw::predict_gemm(*g->gpu, tile, g->m, g->n, g->k).us);
    result.values.push_back(winner / best);
  }
  return result;
}

void add(std::vector<group>& groups, group key, double value) {
  const auto same = [&](const group& g) {
    return std::tie(g.gpu, g.type, g.library, g.time) == std::tie(key.gpu, key.type, key.library, key.time);
  };
  const auto found = std::find_if(groups.begin(), groups.end(), same);
  if (found != groups.end()) {
    found->rows.values.push_back(value);
  } else {
    key.rows.values.push_back(value);
    groups.push_back(std::move(key));
  }
}

void add_row(ledger& l, const measured_gemm& g, const tw::cdna_gemm_time& t) {
  const double ratio = t.us / g.us;
  ++l.bound_rows;
  l.bound_above += t.bound_us > 1.02 * g.us;
  add(l.groups, {g.gpu->name, type_of(g), name_of(g.kernel.family), time_of(g.us), {}}, ratio);
  if (!g.kernel.tile) return;
  l.all.values.push_back(ratio);
  add(l.gpus, {g.gpu->name, "all", "all", "all", {}}, ratio);
  if (g.us <= 60) return;
  l.above_60_us.values.push_back(ratio);
  add(l.gpus, {g.gpu->name, "all", "all", "above 60", {}}, ratio);
}

/// The fastest row of each problem of a type. m of its key is 0 in `impossible`: that n and k have a time below the
/// roofline.
std::vector<const measured_gemm*> fastest_of(const std::vector<measured_gemm>& rows, const std::string& type,
                                             std::set<problem>& impossible) {
  std::map<problem, const measured_gemm*> best;
  for (const measured_gemm& g : rows) {
    const std::optional<tw::cdna_gemm_time> time = predict_row(g);
    if (!time || type_of(g) != type) continue;
    if (time->bound_us > 1.02 * g.us) impossible.insert({g.gpu, type, 0, g.n, g.k});
    const measured_gemm*& known = best[{g.gpu, type, g.m, g.n, g.k}];
    if (!known || g.us < known->us) known = &g;
  }
  std::vector<const measured_gemm*> result;
  for (const auto& [_, g] : best) result.push_back(g);
  return result;
}

program::json json_of(const ratios& r) {
  program::json j = program::json::object();
  const auto rounded = [](double x) { return std::round(x * 1000) / 1000; };
  j.add("rows", r.values.size());
  j.add("median_error", rounded(r.error_quantile(0.5)));
  j.add("error_of_90_percent", rounded(r.error_quantile(0.9)));
  program::json q = program::json::object();
  q.add("p10", rounded(r.quantile(0.1)));
  q.add("median", rounded(r.quantile(0.5)));
  q.add("p90", rounded(r.quantile(0.9)));
  j.add("predicted_over_measured", std::move(q));
  return j;
}

program::json json_of(const std::vector<group>& groups) {
  program::json list = program::json::list();
  for (const group& g : groups) {
    program::json j = program::json::object();
    j.add("gpu", g.gpu).add("type", g.type).add("library", g.library).add("us", g.time);
    j.add("errors", json_of(g.rows));
    list.add(std::move(j));
  }
  return list;
}

std::size_t above(const ratios& r, double limit) {
  return std::size_t(std::count_if(r.values.begin(), r.values.end(), [=](double x) { return x > limit; }));
}

program::json json_of(const std::vector<own_comparison>& comparisons) {
  program::json list = program::json::list();
  for (const own_comparison& c : comparisons) {
    const ratios measured = c.over_measured();
    const auto rounded = [](double x) { return std::round(x * 1000) / 1000; };
    program::json o = program::json::object();
    o.add("type", c.type).add("shapes", measured.values.size()).add("left_out", c.left_out);
    o.add("geometric_mean", rounded(geometric_mean(measured)));
    o.add("p10", rounded(measured.quantile(0.1))).add("median", rounded(measured.quantile(0.5)));
    o.add("p90", rounded(measured.quantile(0.9))).add("largest", rounded(measured.quantile(1)));
    o.add("above_1.3", above(measured, 1.3));
    o.add("above_1.3_of_predicted", above(c.over_predicted(), 1.3));
    list.add(std::move(o));
  }
  return list;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string line_of(const std::string& name, const ratios& r) {
  char text[160];
  std::snprintf(text, sizeof text, "%-52s %6zu  %5.1f %%  %5.1f %%   %4.2f   %4.2f   %4.2f\n", name.c_str(),
                r.values.size(), 100 * r.error_quantile(0.5), 100 * r.error_quantile(0.9), r.quantile(0.1),
                r.quantile(0.5), r.quantile(0.9));
  return text;
}

std::string line_of(const group& g) {
  return line_of(padded(g.gpu, 7) + padded(g.type, 20) + padded(g.library, 9) + g.time + (g.time == "all" ? "" : " us"),
                 g.rows);
}

std::string line_of_own(const std::string& name, const ratios& r) {
  char text[160];
  std::snprintf(text, sizeof text, "%-58s %6zu    %4.2f   %4.2f   %4.2f   %4.2f   %9zu      %4.2f\n", name.c_str(),
                r.values.size(), geometric_mean(r), r.quantile(0.1), r.quantile(0.5), r.quantile(0.9), above(r, 1.3),
                r.quantile(1));
  return text;
}

std::string percent(std::size_t part, std::size_t whole) {
  return std::to_string(part) + " of " + std::to_string(whole) + " (" +
         fixed(whole ? 100.0 * double(part) / double(whole) : 0, 1) + " %)";
}

}  // namespace

double ratios::quantile(double share) const { return sorted_quantile(values, share); }

double ratios::error_quantile(double share) const {
  std::vector<double> errors;
  for (const double x : values) errors.push_back(std::abs(x - 1));
  return sorted_quantile(std::move(errors), share);
}

std::optional<tw::cdna_gemm_time> predict_row(const measured_gemm& g) {
  if (!g.gpu || g.batched || g.gpu->tera_operations(g.element_bits) == 0) return {};
  if (g.kernel.tile && !g.splits_by_itself) return tw::predict_gemm(*g.gpu, *g.kernel.tile, g.m, g.n, g.k);
  const std::vector<tw::cdna_gemm_kernel> tiles =
      g.kernel.tile ? std::vector{*g.kernel.tile} : usual_tiles(g.element_bits);
  return tw::choose_gemm(*g.gpu, tiles.data(), tw::index_t(tiles.size()), g.m, g.n, g.k).time;
}

double geometric_mean(const ratios& r) {
  double sum = 0;
  for (const double x : r.values) sum += std::log(x);
  return r.values.empty() ? 0 : std::exp(sum / double(r.values.size()));
}

ratios own_comparison::over_measured() const {
  ratios result;
  for (const own_row& r : shapes) result.values.push_back(r.over_measured());
  return result;
}

ratios own_comparison::over_predicted() const {
  ratios result;
  for (const own_row& r : shapes)
    if (r.theirs_us > 0) result.values.push_back(r.own.time.us / r.theirs_us);
  return result;
}

std::vector<own_comparison> compare_own(const std::vector<measured_gemm>& rows, std::size_t count, std::uint64_t seed) {
  std::vector<own_comparison> result;
  for (const char* type : {"bf16", "8-bit, block scales"}) {
    own_comparison c{type, 0, {}};
    std::set<problem> impossible;
    std::vector<const measured_gemm*> drawn = fastest_of(rows, type, impossible);
    c.left_out = std::erase_if(
        drawn, [&](const measured_gemm* g) { return impossible.contains({g->gpu, type, 0, g->n, g->k}); });
    std::sort(drawn.begin(), drawn.end(), [seed](const measured_gemm* x, const measured_gemm* y) {
      return std::tuple(hash_of_shape(*x, seed), x->gpu->compute_units) <
             std::tuple(hash_of_shape(*y, seed), y->gpu->compute_units);
    });
    drawn.resize(std::min(count, drawn.size()));
    for (const measured_gemm* g : drawn) {
      const std::vector<tw::cdna_gemm_kernel>& own = own_kernels(*g->gpu, g->element_bits);
      const tw::cdna_gemm_choice choice =
          tw::choose_gemm(*g->gpu, own.data(), tw::index_t(own.size()), g->m, g->n, g->k, true, 1, true);
      const bool is_known = g->kernel.tile && !g->splits_by_itself;
      c.shapes.push_back({g, choice, own[std::size_t(choice.kernel)], is_known ? predict_row(*g)->us : 0});
    }
    result.push_back(std::move(c));
  }
  return result;
}

ledger make_ledger(const std::vector<measured_gemm>& rows, std::uint64_t seed) {
  ledger l;
  l.rows = rows.size();
  std::vector<const measured_gemm*> tested;
  for (const measured_gemm& g : rows) {
    const std::optional<tw::cdna_gemm_time> t = predict_row(g);
    if (!t) {
      ++(g.gpu && g.batched ? l.batched : l.without_facts);
    } else if (is_fitted(g)) {
      ++l.fitted;
      if (g.kernel.tile) l.fitted_rows.values.push_back(t->us / g.us);
    } else {
      tested.push_back(&g);
      add_row(l, g, *t);
    }
  }
  std::sort(l.groups.begin(), l.groups.end(), [](const group& x, const group& y) {
    return std::tie(x.gpu, x.type, x.library, x.time) < std::tie(y.gpu, y.type, y.library, y.time);
  });
  std::sort(l.gpus.begin(), l.gpus.end(),
            [](const group& x, const group& y) { return std::tie(y.time, x.gpu) < std::tie(x.time, y.gpu); });
  l.order = test_order(tested);
  l.winner = test_winners(tested);
  l.own = compare_own(rows, 400, seed);
  l.own_of_all = compare_own(rows, rows.size());
  return l;
}

std::string as_text(const ledger& l, bool by_group) {
  std::string text = std::to_string(l.rows) + " measured GEMMs: " + std::to_string(l.fitted) + " may be fitted to, " +
                     std::to_string(l.without_facts) + " of GPUs without facts, " + std::to_string(l.batched) +
                     " batched; these are left out below\n\n";
  text += padded("", 52) + "          |error|           predicted / measured\n" + padded("", 52) +
          "   rows   median   90 %    10 %   50 %   90 %\n";
  text += line_of("kernels with a known tile", l.all) + line_of("the same, above 60 us", l.above_60_us);
  for (const group& g : l.gpus) text += line_of(g);
  text += line_of("for comparison: rows that may be fitted to", l.fitted_rows);
  if (by_group) {
    text += "\n";
    for (const group& g : l.groups) text += line_of(g);
  }
  const std::size_t near =
      std::size_t(std::count_if(l.winner.values.begin(), l.winner.values.end(), [](double x) { return x <= 1.1; }));
  text += "\nroofline bound above the measured time by more than 2 %: " + percent(l.bound_above, l.bound_rows);
  text += "\norder of two kernels for one shape as measured: " + percent(l.order.right, l.order.pairs);
  text +=
      "\nmeasured winner predicted within 10 % of its library's best tile: " + percent(near, l.winner.values.size());
  text += "\n\n" + padded("this library, predicted / shortest measured time of AMD", 58) +
          "shapes    mean   10 %   50 %   90 %   above 1.3   largest\n";
  const auto add_own = [&](const std::vector<own_comparison>& list, const char* which) {
    for (const own_comparison& c : list) text += line_of_own(c.type + which, c.over_measured());
  };
  add_own(l.own, ", drawn");
  add_own(l.own_of_all, ", all");
  text += "the same, predicted / what the model says of AMD's kernel\n";
  for (const own_comparison& c : l.own_of_all) text += line_of_own(c.type + ", all", c.over_predicted());
  for (const own_comparison& c : l.own_of_all)
    if (c.left_out > 0)
      text += std::to_string(c.left_out) + " shapes (" + c.type +
              ") are left out: times for their n and k are below the roofline of the GPU that the table names\n";
  return text;
}

std::string as_text_of_behind(const ledger& l, double factor) {
  std::vector<own_row> behind;
  for (const own_comparison& c : l.own_of_all)
    std::copy_if(c.shapes.begin(), c.shapes.end(), std::back_inserter(behind),
                 [&](const own_row& r) { return r.over_measured() > factor; });
  std::sort(behind.begin(), behind.end(),
            [](const own_row& x, const own_row& y) { return x.over_measured() > y.over_measured(); });
  std::string text;
  for (const own_row& r : behind) {
    const measured_gemm& g = *r.fastest;
    const tw::cdna_gemm_time& t = r.own.time;
    char line[320];
    std::snprintf(line, sizeof line,
                  "%4.2f %s %s %lld x %lld x %lld: measured %.1f us; own %d x %d x %d, k in %d: %.1f us "
                  "(compute %.1f, memory %.1f); ",
                  r.over_measured(), g.gpu->name, type_of(g).c_str(), static_cast<long long>(g.m),
                  static_cast<long long>(g.n), static_cast<long long>(g.k), g.us, r.kernel.m, r.kernel.n, r.kernel.k,
                  r.own.split_k, t.us, t.compute_us, t.memory_us);
    text += line;
    std::snprintf(line, sizeof line, "%.1f us predicted for ", r.theirs_us);
    text += (r.theirs_us > 0 ? line : "no tile in the name of ") + g.kernel_name.substr(0, 90);
    text += r.theirs_us == 0 ? "\n" : t.us > 1.15 * r.theirs_us ? ": the tile\n" : ": the model\n";
  }
  return text;
}

program::json as_json(const ledger& l) {
  program::json j = program::json::object();
  j.add("rows", l.rows).add("fitted", l.fitted).add("without_facts", l.without_facts).add("batched", l.batched);
  j.add("all", json_of(l.all)).add("above_60_us", json_of(l.above_60_us)).add("fitted_rows", json_of(l.fitted_rows));
  j.add("gpus", json_of(l.gpus)).add("groups", json_of(l.groups));
  j.add("bound_rows", l.bound_rows).add("bound_above_measured", l.bound_above);
  j.add("ordered_pairs", l.order.pairs).add("ordered_right", l.order.right);
  j.add("winner_over_best_tile", json_of(l.winner));
  j.add("own_predicted_over_measured", json_of(l.own)).add("own_of_all_shapes", json_of(l.own_of_all));
  return j;
}

program::json rows_as_json(const std::vector<measured_gemm>& rows) {
  program::json list = program::json::list();
  for (const measured_gemm& g : rows) {
    const std::optional<tw::cdna_gemm_time> t = predict_row(g);
    if (!t) continue;
    program::json row = program::json::object();
    row.add("gpu", g.gpu->name).add("type", type_of(g)).add("kernel", g.kernel_name);
    row.add("m", g.m).add("n", g.n).add("k", g.k).add("us", g.us);
    row.add("predicted_us", std::round(t->us * 100) / 100).add("bound_us", std::round(t->bound_us * 100) / 100);
    list.add(std::move(row));
  }
  return list;
}

}  // namespace predict
