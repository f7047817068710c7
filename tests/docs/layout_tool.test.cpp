// SPDX-License-Identifier: MIT
// What docs/layout_tool.md shows.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/viz/lds_picture.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
namespace arch = tilewright::arch;
namespace viz = tilewright::viz;

namespace {

// What one lane after the other must wait for, in a test's output or in a log.
std::string picture_of_first_phase(const arch::target& target, const tw::tensor_graph& layout,
                                   const tw::distribution_encoding& lanes) {
  const tw::lds_access_pattern pattern(layout, lanes, 2);
  const viz::lds_step step = viz::step_of(pattern, tw::lds_access_kind::read, 0, 0);  // wave 0, access 0
  const arch::lds_service& service = viz::deciding_reading(target, step);
  const viz::lds_phase_trace phase = viz::phases_of(service, step)[0];
  const viz::lds_map map(layout, 2);
  return viz::lds_text(viz::picture_of(map, step, service, phase, viz::lds_view::tile), viz::lds_view::tile);
}

TEST(DocsLayoutTool, AProgramOfYourOwn) {
  const auto operand = tw::encoding_of(arch::describe(arch::matrix_op::mfma_32x32x8_x2).a);
  const std::string text = picture_of_first_phase(arch::gfx942::value, tw::strided_graph(32, 64, 64, 1), operand);
  EXPECT_NE(text.find("cycle 8   23"), std::string::npos) << text;
}

}  // namespace
