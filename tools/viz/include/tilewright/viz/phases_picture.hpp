// SPDX-License-Identifier: MIT
// Draws which lanes of a wave each LDS instruction of a target serves together. As text, SVG and JSON.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/viz/svg.hpp>

#include <string>

namespace tilewright::viz {

std::string phases_text(const arch::target& target);

/// A strip of lanes for each instruction; lanes of one colour and number are one phase.
std::string phases_svg(const arch::target& target, svg_theme theme);

std::string phases_json(const arch::target& target);

}  // namespace tilewright::viz
