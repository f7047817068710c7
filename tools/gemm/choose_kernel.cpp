// SPDX-License-Identifier: MIT
// Which kernel computes a problem.
#include <algorithm>

#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>

#include "kernel_entry.hpp"

namespace gemm_program {
namespace {

const char* curve_name(tw::grid_curve curve) {
  switch (curve) {
    case tw::grid_curve::rows: return "rows";
    case tw::grid_curve::hilbert: return "hilbert";
    case tw::grid_curve::row_groups: break;
  }
  return "row-groups";
}

using candidates = std::vector<const kernel_entry*>;

/// "a, b and c", each once, in the order of their first appearance.
template <class NameOf>
std::string names_in(const candidates& list, NameOf name_of) {
  std::vector<std::string> names;
  for (const kernel_entry* e : list) {
    const std::string name = name_of(*e);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

template <class Predicate>
candidates filtered(const candidates& list, Predicate is_fit) {
  candidates result;
  std::copy_if(list.begin(), list.end(), std::back_inserter(result), [&](const kernel_entry* e) { return is_fit(*e); });
  return result;
}

/// Keeps those that fit; throws refusal if there are none.
template <class Predicate>
void require(candidates& list, Predicate is_fit, const std::string& otherwise) {
  candidates fit = filtered(list, is_fit);
  if (fit.empty()) throw refusal(otherwise);
  list = std::move(fit);
}

/// Keeps those that are preferred, if any is.
template <class Predicate>
void prefer(candidates& list, Predicate is_preferred) {
  candidates preferred = filtered(list, is_preferred);
  if (!preferred.empty()) list = std::move(preferred);
}

/// As options: that of a row-major C, and of a column-major one, which is the product of the transposed operands.
std::string layouts_of(const kernel_entry& e) {
  const bool a_along_k = e.a_major == tw::operand_major::k, b_along_k = e.b_major == tw::operand_major::k;
  const std::string rows{a_along_k ? 'r' : 'c', b_along_k ? 'c' : 'r', 'r'};
  const std::string columns{b_along_k ? 'r' : 'c', a_along_k ? 'c' : 'r', 'c'};
  return "--layout " + rows + " or " + columns;
}

/// The one with the shortest predicted time; the default one if nothing is known of the GPU.
const kernel_entry* best_of(const candidates& list, const tw::gemm_args& args) {
  const tw::arch::gpu_facts* gpu = nullptr;
  for (const tw::arch::gpu_facts& known : tw::arch::known_gpus)
    if (std::string(known.target) == list.front()->target->name) gpu = &known;
  const kernel_entry* best = nullptr;
  double best_seconds = 0;
  for (const kernel_entry* e : list) {
    if (!gpu || !e->report) {
      if (e->is_default) return e;
      continue;
    }
    const double seconds =
        tw::estimate_gemm(*e->report, *gpu, {args.m, args.n, args.k, args.batch}, args.split_k).seconds;
    if (best && seconds >= best_seconds) continue;
    best = e;
    best_seconds = seconds;
  }
  return best ? best : list.front();
}

}  // namespace

std::string kernel_entry::name() const {
  std::string s = policy + "_" + gemm_program::name_of(type) + (a_major == tw::operand_major::k ? "_ak" : "_am") +
                  (b_major == tw::operand_major::k ? "_bk" : "_bn") + "_v" + std::to_string(vector) + "_to_" +
                  gemm_program::name_of(result);
  if (splits_k()) s += split_k == tw::split_k_kind::fix_up ? "_split_k_fix_up" : "_split_k";
  if (has_epilogue) s += "_epilogue";
  if (curve != tw::grid_curve::row_groups) s += std::string("_by_") + curve_name(curve);
  return s;
}

chosen_kernel choose_kernel(const kernel_list& list, kernel_problem& problem, const kernel_request& request) {
  candidates all;
  for (const kernel_entry& e : list) all.push_back(&e);
  if (all.empty()) throw refusal("the program has no kernels for this target");
  const std::string target = all.front()->target->name, type = gemm_program::name_of(problem.type);
  const auto type_of = [](const kernel_entry& e) { return gemm_program::name_of(e.type); };
  const auto result_of = [](const kernel_entry& e) { return gemm_program::name_of(e.result); };
  const auto policy_of = [](const kernel_entry& e) { return e.policy; };

  require(
      all, [&](const kernel_entry& e) { return e.type == problem.type; },
      "there are no kernels for " + type + " on " + target + "; there are some for " + names_in(all, type_of));
  if (request.policy)
    require(
        all, [&](const kernel_entry& e) { return e.policy == *request.policy; },
        "there is no policy '" + *request.policy + "' for " + type + " on " + target + "; there are " +
            names_in(all, policy_of));
  const std::string here = "the kernels for " + type + " on " + target +
                           (request.policy ? " with policy " + *request.policy : std::string());
  require(
      all, [&](const kernel_entry& e) { return e.result == problem.result; },
      here + " do not write " + gemm_program::name_of(problem.result) + " but " + names_in(all, result_of));
  const std::string writing = here + " that write " + gemm_program::name_of(problem.result);
  if (problem.wants_epilogue)
    require(
        all, [](const kernel_entry& e) { return e.has_epilogue; },
        writing + " have no epilogue (scales, bias, activation, residual)");
  if (request.split_k > 1)
    require(all, [](const kernel_entry& e) { return e.splits_k(); }, writing + " do not split k");
  else
    require(
        all, [](const kernel_entry& e) { return !e.splits_k(); }, writing + " all split k; ask for it with --split-k");
  const tw::grid_curve curve = request.grid_order.value_or(tw::grid_curve::row_groups);
  require(
      all, [&](const kernel_entry& e) { return e.curve == curve; },
      writing + (problem.wants_epilogue || request.split_k > 1 ? " and have an epilogue or split k" : "") +
          " do not traverse C by " + curve_name(curve));
  require(
      all, [&](const kernel_entry& e) { return e.a_major == problem.a_major && e.b_major == problem.b_major; },
      writing + " with these options take " + names_in(all, layouts_of));
  if (!problem.wants_epilogue && request.split_k == 1)
    prefer(all, [](const kernel_entry& e) { return !e.has_epilogue; });

  problem.args.split_k = tw::index_t(request.split_k);
  alignas(16) char no_memory_yet = 0;  // check() asks whether there is a workspace
  tw::gemm_args probe = problem.args;
  probe.workspace = &no_memory_yet;
  std::string why;
  candidates fit;
  for (const kernel_entry* e : all) {
    if (const char* sentence = e->check(probe))
      why = sentence;
    else
      fit.push_back(e);
  }
  if (fit.empty())
    throw refusal(
        why.find("whole vectors") != std::string::npos
            ? writing + " with these options move whole vectors: k, and n for a row-major C, must be multiples of " +
                  std::to_string(all.front()->vector)
            : why);
  const bool moves_vectors = fit.size() == all.size() || fit.front()->vector > 1;
  const tw::index_t widest =
      (*std::max_element(fit.begin(), fit.end(), [](auto* x, auto* y) { return x->vector < y->vector; }))->vector;
  prefer(fit, [&](const kernel_entry& e) { return e.vector == widest; });
  // check() has refused those that lack counters for the tiles of C.
  if (request.split_k > 1)
    prefer(fit, [](const kernel_entry& e) { return e.split_k == tw::split_k_kind_for(*e.target, 1); });
  if (request.policy) return {fit.front(), "as --policy asks"};
  if (fit.size() > 1) {
    return {best_of(fit, probe), "the shortest predicted time of " + names_in(fit, policy_of)};
  }
  return {fit.front(), moves_vectors ? "the only one for these types, layouts and options"
                                     : "the only one for lengths that are not whole vectors"};
}

kernel_problem kernel_problem_of(const problem& p, const operands& data) {
  const auto fits = [](std::int64_t n) { return n > 0 && n <= 0x7fffffff; };
  if (!fits(p.m) || !fits(p.n) || !fits(p.k)) throw refusal("m, n and k must lie between 1 and 2147483647");
  if (!fits(p.batch)) throw refusal("the number of matrices must lie between 1 and 2147483647");
  using tw::operand_major;
  const bool a_row = p.a_order == order::row_major, b_row = p.b_order == order::row_major;
  const auto m = tw::index_t(p.m), n = tw::index_t(p.n), k = tw::index_t(p.k);
  const std::int64_t a_line = (a_row ? p.k : p.m) + p.gap, b_line = (b_row ? p.n : p.k) + p.gap,
                     c_line = (p.c_order == order::row_major ? p.n : p.m) + p.gap;
  if (!fits(a_line) || !fits(b_line) || !fits(c_line))
    throw refusal("a row or column with its gap must have less than 2147483648 elements");
  const auto lda = tw::index_t(a_line), ldb = tw::index_t(b_line), ldc = tw::index_t(c_line);
  const operand_major a_major = a_row ? operand_major::k : operand_major::mn;
  const operand_major b_major = b_row ? operand_major::mn : operand_major::k;
  const tw::long_index_t a_size = a_line * (a_row ? p.m : p.k), b_size = b_line * (b_row ? p.k : p.n),
                         c_size = c_line * (p.c_order == order::row_major ? p.m : p.n);
  kernel_problem r{{}, p.type, p.result, a_major, b_major, p.epilogue != epilogue_request{}};
  tw::gemm_args& g = r.args;
  if (p.c_order == order::row_major) {
    g = {.a = data.a, .b = data.b, .c = data.c, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc};
    g.batch_stride_a = a_size;
    g.batch_stride_b = b_size;
    g.row_scale = data.row_scale;
    g.column_scale = data.column_scale;
  } else {
    if (p.epilogue.bias)
      throw refusal("a bias belongs to the columns of a row-major C; with a column-major C there is none");
    g = {.a = data.b, .b = data.a, .c = data.c, .m = n, .n = m, .k = k, .lda = ldb, .ldb = lda, .ldc = ldc};
    g.batch_stride_a = b_size;
    g.batch_stride_b = a_size;
    g.row_scale = data.column_scale;
    g.column_scale = data.row_scale;
    r.a_major = b_major;
    r.b_major = a_major;
  }
  g.ld_residual = ldc;
  g.alpha = p.alpha;
  g.beta = p.beta;
  g.batch = tw::index_t(p.batch);
  g.batch_stride_c = g.batch_stride_residual = c_size;
  g.scale = data.scale;
  g.bias = data.bias;
  g.residual = data.residual;
  g.activation = p.epilogue.activation;
  return r;
}

kernel_problem kernel_problem_of(const problem& p) {
  alignas(16) static float somewhere[4];
  const epilogue_request& e = p.epilogue;
  return kernel_problem_of(p, {.scale = e.scale ? somewhere : nullptr,
                               .row_scale = e.row_scale ? somewhere : nullptr,
                               .column_scale = e.column_scale ? somewhere : nullptr,
                               .bias = e.bias ? somewhere : nullptr,
                               .residual = e.residual ? somewhere : nullptr});
}

std::vector<lds_conflicts> predicted_lds(const kernel_entry& kernel, const tw::gemm_args& args) {
  std::vector<lds_conflicts> result;
  if (!kernel.prediction) return result;
  std::vector<tw::arch::lds_op> ops;
  kernel.prediction->for_each(kernel.rounds(args), [&](const tw::lds_access_analysis& access, tw::long_index_t times) {
    const auto found = std::find(ops.begin(), ops.end(), access.op);
    const auto i = static_cast<std::size_t>(found - ops.begin());
    if (found == ops.end()) {
      ops.push_back(access.op);
      result.push_back({.instruction = tw::arch::instruction_name(*kernel.target, access.op)});
    }
    result[i].executions += times * access.executions;
    result[i].predicted_cycles += times * access.cycles;
    result[i].predicted_conflicts += times * access.conflicts;
  });
  return result;
}

}  // namespace gemm_program
