// SPDX-License-Identifier: MIT
// The command line of the attention program.
#include "options.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>

#include "../program/command_line.hpp"

namespace attention_program {
namespace {

using program::command_line;

constexpr const char* tensors =
    R"(Files are NumPy .npy of three dimensions, (batch * heads, rows, head dimension), or of two for one
head; float16, bfloat16 ('<V2' or its bits as '<u2'), or float32, which is rounded to --dtype.
Without a file a tensor is random: uniform in [-1, 1]. Files fix sizes and type; options must not
contradict them. Neighbouring query heads share a key head. A query that sees no key gets zeros.)";
constexpr const char* exit_codes =
    R"(0 success; 1 the result is wrong or the kernel failed; 2 the request cannot be carried out.
Output files are written whole, or not at all: they are not written when the exit code is 1 or 2.
With --json an error is an object with the members program, error and exit_code.)";

void add_sizes(command_line& line, options& o) {
  const auto add_size = [&](const char* name, std::optional<std::int64_t>& size, const char* help) {
    line.number<std::int64_t>(
        name, "SIZE", help, "a whole number from 1 to 1073741824", [](std::int64_t v) { return v > 0 && v <= 1 << 30; },
        [&size](std::int64_t v) { size = v; });
  };
  add_size("--batch", o.batch, "Sequences (default 1)");
  add_size("--heads", o.heads, "Heads of Q and O (default 2)");
  add_size("--kv-heads", o.kv_heads, "Heads of K and V (default: as many)");
  add_size("--queries", o.queries, "Rows of Q and O (default 128)");
  add_size("--keys", o.keys, "Rows of K and V (default 128)");
  add_size("--dim", o.dim, "Columns of Q and K, at most 256 (default 64)");
  add_size("--value-dim", o.value_dim, "Columns of V and O, at most 256 (default: as many)");
}

void add_problem(command_line& line, options& o) {
  add_sizes(line, o);
  line.choice("--dtype", "Elements of all tensors (default f16); with fp8 (e4m3) those of Q, K and V, and O is bf16",
              {"f16", "bf16", "fp8"},
              [&o](std::size_t i) { o.type = std::array{element::f16, element::bf16, element::e4m3}[i]; });
  line.number<float>(
      "--scale", "NUMBER", "Factor of the scores (default 1 / sqrt(dim))",
      "a positive number within the range of float32", [](float v) { return std::isfinite(v) && v > 0; },
      [&o](float v) { o.scale = v; });
  line.flag("--causal", "A query sees no later keys; the last ones of both are aligned", [&o] { o.window.right = 0; });
  const auto add_side = [&](const char* name, tw::index_t& side, const char* help) {
    line.number<tw::index_t>(
        name, "KEYS", help, "a whole number from 0 to 2147483647", [](tw::index_t v) { return v >= 0; },
        [&side](tw::index_t v) { side = v; });
  };
  add_side("--left", o.window.left, "Earlier keys that a query sees (default: all)");
  add_side("--right", o.window.right, "Later keys that a query sees (default: all)");
  line.number<std::uint64_t>(
      "--seed", "NUMBER", "Seed of the random tensors (default 1)", "a whole number of at most 64 bits",
      [](std::uint64_t) { return true; }, [&o](std::uint64_t v) { o.seed = v; });
}

void add_files(command_line& line, options& o) {
  line.file("--q", "Q.npy", "Read Q from this file", o.q_file);
  line.file("--k", "K.npy", "Read K from this file", o.k_file);
  line.file("--v", "V.npy", "Read V from this file", o.v_file);
  line.file("--out", "O.npy", "Write O to this file", o.out_file);
  line.file("--lse-out", "LSE.npy", "Write the log-sum-exp of each row, float32, to this file", o.lse_file);
  line.flag("--backward", "Compute the gradients of Q, K and V, too", o.backward);
  line.file("--d-o", "DO.npy", "Read the gradient of O from this file; implies --backward", o.d_o_file);
  line.file("--d-q-out", "DQ.npy", "Write the gradient of Q to this file; implies --backward", o.d_q_file);
  line.file("--d-k-out", "DK.npy", "Write the gradient of K to this file; implies --backward", o.d_k_file);
  line.file("--d-v-out", "DV.npy", "Write the gradient of V to this file; implies --backward", o.d_v_file);
}

void add_run(command_line& line, options& o, const std::vector<std::string>& targets) {
  line.choice("--device", "Run on the CPU, or on the GPU of this machine (default: the GPU, if the program has one)",
              {"host", "gpu"}, [&o](std::size_t i) { o.on_gpu = i == 1; });
  line.choice("--arch", "GPU that the CPU emulates (default " + o.target + ")", targets,
              [&o, targets](std::size_t i) { o.target = targets[i]; });
  line.choice(
      "--kernel", "The portable kernel, or the one for Hopper (default: on an H100 the latter, else the former)",
      {"portable", "hopper"}, [&o](std::size_t i) { o.kernel = i == 0 ? kernel_kind::portable : kernel_kind::hopper; });
  line.flag("--verify", "Compare with double precision (the default)", [&o] { o.verify = true; });
  line.flag("--no-verify", "Do not compare", [&o] { o.verify = false; });
  line.number<int>(
      "--repeat", "TIMES", "Run this many times; the best time counts (default 1)", "a whole number from 1 to 1000000",
      [](int v) { return v >= 1 && v <= 1000000; }, [&o](int v) { o.repeat = v; });
  line.flag("--json", "Report as one JSON object", o.json);
}

void describe(command_line& line) {
  line.section_of_help("Tensors and files", tensors);
  line.section_of_help("Exit code", exit_codes);
  line.example("attention --heads 8 --kv-heads 2 --queries 200 --keys 300 --causal",
               "Random tensors; four query heads share a key head");
  line.example("attention --q q.npy --k k.npy --v v.npy --d-o do.npy --d-q-out dq.npy", "The gradient of Q from files");
}

/// Two outputs to one file, however it is spelled, would leave the one that is written last.
void refuse_same_outputs(const options& o) {
  const std::optional<std::string>* const files[] = {&o.out_file, &o.lse_file, &o.d_q_file, &o.d_k_file, &o.d_v_file};
  const auto place = [](const std::string& name) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::weakly_canonical(std::filesystem::absolute(name), error);
    return error ? std::filesystem::path(name) : path;
  };
  for (const auto* one : files)
    for (const auto* other : files)
      if (one < other && *one && *other && place(**one) == place(**other))
        throw refusal("two results cannot both be written to " + **one);
}

}  // namespace

options parse_options(int argc, const char* const* argv, const std::vector<std::string>& targets) {
  options result;
  command_line line(
      "attention",
      "O = softmax(scale Q K^T + mask) V for each head of each sequence, in one kernel; and the gradients "
      "of Q, K and V");
  line.heading("The problem");
  add_problem(line, result);
  line.heading("Files");
  add_files(line, result);
  line.heading("The run");
  add_run(line, result, targets);
  describe(line);
  if (const std::optional<std::string> text = line.parse(argc, argv)) {
    result.help = *text;
    return result;
  }
  line.refuse_both("--verify", "--no-verify");
  line.refuse_both("--causal", "--right");
  refuse_same_outputs(result);
  if (result.d_o_file || result.d_q_file || result.d_k_file || result.d_v_file) result.backward = true;
  if (result.backward && result.type == element::e4m3)
    throw refusal("there are no kernels for the gradients with 8-bit elements; use --dtype f16 or bf16");
  if (result.kernel == kernel_kind::hopper) {
    if (line.has("--arch") && result.target != "sm_90")
      throw refusal("--kernel hopper is for sm_90; it cannot be combined with --arch " + result.target);
    result.target = "sm_90";
  }
  if (line.has("--arch")) {
    if (result.on_gpu == true)
      throw refusal("--arch chooses what the CPU emulates; it cannot be combined with --device gpu");
    result.on_gpu = false;
  }
  return result;
}

}  // namespace attention_program
