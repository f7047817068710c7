// SPDX-License-Identifier: MIT
// The command line of the attention program.
#include "options.hpp"

#include <charconv>
#include <cmath>
#include <functional>

#include <CLI/CLI.hpp>

namespace attention_program {
namespace {

constexpr const char* description =
    "O = softmax(scale Q K^T + mask) V for each head of each sequence, in one kernel; and the gradients of Q, K and V.";
constexpr const char* footer = R"(
Files are NumPy .npy of three dimensions, (batch * heads, rows, head dimension), or of two for one head; float16, bfloat16 ('<V2' or its
bits as '<u2'), or float32, which is rounded to --dtype. Without a file a tensor is random: uniform in [-1, 1]. Files fix sizes
and type; options must not contradict them. Neighbouring query heads share a key head. A query that sees no key gets zeros.

Exit code: 0 success; 1 the result is wrong or the kernel failed; 2 the request cannot be carried out.
Output files are written whole, or not at all: they are not written when the exit code is 1 or 2.)";

/// A number that CLI11 must not convert itself: it takes 0x10, 1e3 and overflow in its own way.
template <class Number>
void add_number(CLI::App& app, const std::string& name, const std::string& help, const std::string& wanted,
                bool (*is_fit)(Number), const std::function<void(Number)>& set) {
  app.add_option_function<std::string>(
         name,
         [=](const std::string& text) {
           Number value{};
           const auto end = text.data() + text.size();
           const auto result = std::from_chars(text.data(), end, value);
           if (result.ec != std::errc() || result.ptr != end || !is_fit(value))
             throw refusal(name + " must be " + wanted + ", not '" + text + "'");
           set(value);
         },
         help)
      ->type_name("NUMBER");
}

void add_choice(CLI::App& app, const std::string& name, const std::string& help, const std::vector<std::string>& names,
                const std::function<void(std::size_t)>& set) {
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : "|") + one;
  app.add_option_function<std::string>(
         name,
         [=](const std::string& text) {
           for (std::size_t i = 0; i < names.size(); ++i) {
             if (names[i] == text) return set(i);
           }
           throw refusal(name + " must be one of " + all + ", not '" + text + "'");
         },
         help)
      ->type_name(all);
}

void add_problem(CLI::App& app, options& o) {
  const auto add_size = [&](const std::string& name, std::optional<std::int64_t>& size, const std::string& help) {
    add_number<std::int64_t>(
        app, name, help, "a whole number from 1 to 1073741824", [](std::int64_t v) { return v > 0 && v <= 1 << 30; },
        [&size](std::int64_t v) { size = v; });
  };
  add_size("--batch", o.batch, "Sequences (default 1)");
  add_size("--heads", o.heads, "Heads of Q and O (default 2)");
  add_size("--kv-heads", o.kv_heads, "Heads of K and V (default: as many)");
  add_size("--queries", o.queries, "Rows of Q and O (default 128)");
  add_size("--keys", o.keys, "Rows of K and V (default 128)");
  add_size("--dim", o.dim, "Columns of Q and K, at most 128 (default 64)");
  add_size("--value-dim", o.value_dim, "Columns of V and O, at most 128 (default: as many)");
  add_choice(app, "--dtype", "Elements of all tensors (default f16)", {"f16", "bf16"},
             [&o](std::size_t i) { o.type = i == 0 ? element::f16 : element::bf16; });
  add_number<float>(
      app, "--scale", "Factor of the scores (default 1 / sqrt(dim))", "a positive number within the range of float32",
      [](float v) { return std::isfinite(v) && v > 0; }, [&o](float v) { o.scale = v; });
  app.add_flag_callback(
      "--causal", [&o] { o.window.right = 0; }, "A query sees no later keys; the last ones of both are aligned");
  const auto add_side = [&](const std::string& name, tw::index_t& side, const std::string& help) {
    add_number<tw::index_t>(
        app, name, help, "a whole number from 0 to 2147483647", [](tw::index_t v) { return v >= 0; },
        [&side](tw::index_t v) { side = v; });
  };
  add_side("--left", o.window.left, "Earlier keys that a query sees (default: all)");
  add_side("--right", o.window.right, "Later keys that a query sees (default: all)");
}

void add_files(CLI::App& app, options& o) {
  app.add_option("--q", o.q_file, "Read Q from this file")->type_name("Q.npy");
  app.add_option("--k", o.k_file, "Read K from this file")->type_name("K.npy");
  app.add_option("--v", o.v_file, "Read V from this file")->type_name("V.npy");
  app.add_option("--out", o.out_file, "Write O to this file")->type_name("O.npy");
  app.add_option("--lse-out", o.lse_file, "Write the log-sum-exp of each row, float32, to this file")
      ->type_name("LSE.npy");
  app.add_flag("--backward", o.backward, "Compute the gradients of Q, K and V, too");
  app.add_option("--d-o", o.d_o_file, "Read the gradient of O from this file; implies --backward")->type_name("DO.npy");
  for (const auto& [name, file] : {std::pair{"Q", &o.d_q_file}, {"K", &o.d_k_file}, {"V", &o.d_v_file}}) {
    const char lower = char(name[0] - 'A' + 'a');
    app.add_option(std::string("--d-") + lower + "-out", *file,
                   std::string("Write the gradient of ") + name + " to this file; implies --backward")
        ->type_name(std::string("D") + name + ".npy");
  }
  add_number<std::uint64_t>(
      app, "--seed", "Seed of the random tensors (default 1)", "a whole number of at most 64 bits",
      [](std::uint64_t) { return true; }, [&o](std::uint64_t v) { o.seed = v; });
}

void add_run(CLI::App& app, options& o, const std::vector<std::string>& targets) {
  add_choice(app, "--device",
             "Run on the CPU, or on the GPU of this machine (default: the GPU, if the program has one)",
             {"host", "gpu"}, [&o](std::size_t i) { o.on_gpu = i == 1; });
  add_choice(app, "--arch", "GPU that the CPU emulates (default " + o.target + ")", targets,
             [&o, targets](std::size_t i) { o.target = targets[i]; });
  add_choice(app, "--kernel",
             "The portable kernel, or the one for Hopper (default: on an H100 the latter, else the former)",
             {"portable", "hopper"},
             [&o](std::size_t i) { o.kernel = i == 0 ? kernel_kind::portable : kernel_kind::specialized; });
  app.add_flag_callback("--verify", [&o] { o.verify = true; }, "Compare with double precision (the default)");
  app.add_flag_callback("--no-verify", [&o] { o.verify = false; }, "Do not compare");
  add_number<int>(
      app, "--repeat", "Run this many times; the best time counts (default 1)", "a whole number from 1 to 1000000",
      [](int v) { return v >= 1 && v <= 1000000; }, [&o](int v) { o.repeat = v; });
  app.add_flag("--json", o.json, "Report as one JSON object");
}

}  // namespace

options parse_options(int argc, const char* const* argv, const std::vector<std::string>& targets) {
  options result;
  CLI::App app(description, "attention");
  app.footer(footer);
  app.get_formatter()->column_width(26);
  add_problem(app, result);
  add_files(app, result);
  add_run(app, result, targets);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    result.help = app.help();
    return result;
  } catch (const CLI::ParseError& error) {
    throw refusal(std::string(error.what()) + "; attention --help lists the options");
  }
  for (const auto& [one, other] : {std::pair{"--verify", "--no-verify"}, {"--causal", "--right"}}) {
    if (app.count(one) > 0 && app.count(other) > 0)
      throw refusal(std::string(one) + " and " + other + " exclude each other");
  }
  if (result.d_o_file || result.d_q_file || result.d_k_file || result.d_v_file) result.backward = true;
  if (result.kernel == kernel_kind::specialized) {
    if (app.count("--arch") > 0 && result.target != "sm_90")
      throw refusal("--kernel hopper is for sm_90; it cannot be combined with --arch " + result.target);
    result.target = "sm_90";
  }
  if (app.count("--arch") > 0) {
    if (result.on_gpu == true)
      throw refusal("--arch chooses what the CPU emulates; it cannot be combined with --device gpu");
    result.on_gpu = false;
  }
  return result;
}

}  // namespace attention_program
