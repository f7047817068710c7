// SPDX-License-Identifier: MIT
// element: the type of a tensor's elements, where it is known at run time only.
#pragma once

namespace tilewright::jit {

/// fp8 and bf8 are e4m3 and e5m2 as the target's matrix instructions take them.
enum class element { f16, bf16, f32, fp8, bf8, i8, i32 };

}  // namespace tilewright::jit
