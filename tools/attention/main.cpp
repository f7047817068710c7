// SPDX-License-Identifier: MIT
// The attention program: reads or draws the tensors, computes on a machine, checks and reports.
#include <list>
#include <string>
#include <utility>

#include <tilewright/launch/launch_error.hpp>

#include "../program/output_file.hpp"
#include "../program/run.hpp"
#include "npy.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace {

using namespace attention_program;
using gemm_program::progress_line;

outcome run(const options& o, inputs& data) try {
  if (o.on_gpu != false) {
    if (std::optional<outcome> result = attend_on_gpu(data, o)) return *result;
    if (o.on_gpu == true)
      throw refusal(
          "this program has no kernels for GPUs; attention-hip and attention-cuda do, and --device host emulates one");
  }
  progress_line line("computing");
  return attend_on_cpu(data, o, [&line](double fraction) { line(fraction); });
} catch (const tilewright::launch_error& error) {
  throw refusal(error.what());
}

int attend(const options& o) {
  for (const auto* file : {&o.out_file, &o.lse_file, &o.d_q_file, &o.d_k_file, &o.d_v_file})
    if (*file) program::require_writable(**file);
  inputs data = prepare_inputs(o);
  report r{
      .data = data, .seed = o.seed, .result = program::run_kernel([&] { return run(o, data); }), .verification = {}};
  if (o.verify) {
    progress_line line("verifying");
    r.verification = compare_with_reference(data, [&line](double fraction) { line(fraction); });
  }
  const bool wrong = o.verify && !is_correct(*r.verification, data.q.type);
  // All files are on the disk before the report says that all is well, and get their names when it is printed.
  std::list<program::output_file> files;
  for (const auto& [file, tensor] : {std::pair{&o.out_file, &data.o},
                                     {&o.lse_file, &data.lse},
                                     {&o.d_q_file, &data.d_q},
                                     {&o.d_k_file, &data.d_k},
                                     {&o.d_v_file, &data.d_v}})
    if (*file && !wrong) gemm_program::write_npy(files.emplace_back(**file), *tensor);
  program::print(o.json ? to_json(r) : to_text(r));
  for (program::output_file& file : files) file.commit();
  return wrong ? program::fail(program::wrong_result, failure_sentence(r)) : program::success;
}

}  // namespace

int main(int argc, char** argv) {
  return program::run("attention", argc, argv, [&]() -> int {
    const options o = parse_options(argc, argv, emulated_targets());
    if (o.help.empty()) return attend(o);
    program::print(o.help);
    return program::success;
  });
}
