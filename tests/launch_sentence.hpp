// SPDX-License-Identifier: MIT
// What a launch is refused for.
#pragma once

#include <tilewright/launch/launch.hpp>

#include <string>

namespace tilewright {

/// The sentence of the launch_error that `launch` throws.
template <class Launch>
std::string sentence_of(Launch launch) {
  try {
    launch();
  } catch (const launch_error& error) {
    return error.what();
  }
  return "launched";
}

}  // namespace tilewright
