// SPDX-License-Identifier: MIT
// The gemm program: reads or draws matrices, multiplies them on a machine, checks the result and reports.
#include <memory>
#include <optional>
#include <string>

#include "../program/output_file.hpp"
#include "../program/run.hpp"
#include "comparison.hpp"
#include "explain.hpp"
#include "inputs.hpp"
#include "npy.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace {

using namespace gemm_program;

std::unique_ptr<backend> make_backend(const options& o) {
  if (o.jit) return make_jit_backend();
  if (o.where != device::host) {
    if (std::unique_ptr<backend> gpu = make_gpu_backend()) return gpu;
    if (o.where == device::gpu)
      throw refusal("this program has no kernels for GPUs; gemm-hip and gemm-cuda do, and --device host emulates one");
  }
  return make_cpu_emulator(o.target);
}

outcome run(backend& machine, const options& o, inputs& data) {
  progress_line line("multiplying");
  run_options how{.kernel = o.kernel, .repeat = o.repeat, .progress = [&line](double fraction) { line(fraction); }};
  return program::run_kernel([&] { return machine.run(data.what, data.pointers(), how); });
}

comparison verify(const inputs& data, const matrix& initial_c) {
  progress_line line("verifying");
  return compare_with_reference(data, initial_c, [&line](double fraction) { line(fraction); });
}

int multiply(const options& o) {
  if (o.out_file) program::require_writable(*o.out_file);
  const std::unique_ptr<backend> machine = make_backend(o);
  inputs data = prepare_inputs(o, machine->fp8(), machine->target(),
                               [&](const problem& what) { machine->require(what, o.kernel); });
  const bool verified = is_verified(o, data.what);
  const matrix initial_c = verified && data.what.beta != 0 ? data.c : matrix{};

  report r{.what = data.what,
           .a_source = data.a_source,
           .b_source = data.b_source,
           .c_source = data.c_source,
           .seed = o.seed,
           .result = run(*machine, o, data),
           .verification = {}};
  if (verified) r.verification = verify(data, initial_c);
  const bool wrong = verified && !is_correct(*r.verification, data.what.result);
  // The file is on the disk before the report says that all is well, and has its name when the report is printed.
  std::optional<program::output_file> file;
  if (o.out_file && !wrong) write_npy(file.emplace(*o.out_file), data.c);
  program::print(o.json ? to_json(r) : to_text(r));
  if (file) file->commit();
  return wrong ? program::fail(program::wrong_result, failure_sentence(r)) : program::success;
}

}  // namespace

int main(int argc, char** argv) {
  return program::run("gemm", argc, argv, [&]() -> int {
    const options o = parse_options(argc, argv, emulated_targets());
    if (!o.help.empty())
      program::print(o.help);
    else if (o.explain)
      program::print(
          explain(emulated_kernels(o.target), o.target, o.m.value_or(512), o.n.value_or(512), o.k.value_or(512)));
    else if (o.explain_shapes)
      program::print(explain_shapes(emulated_kernels(o.target), o.target));
    else
      return multiply(o);
    return program::success;
  });
}
