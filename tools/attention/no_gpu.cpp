// SPDX-License-Identifier: MIT
// The program without a GPU.
#include "machine.hpp"

namespace attention_program {

std::optional<outcome> attend_on_gpu(inputs&, const options&) { return {}; }

}  // namespace attention_program
