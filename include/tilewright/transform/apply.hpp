// SPDX-License-Identifier: MIT
// Every coordinate transform, and the choice of the right rules when the kind is known only at run time.
#pragma once

#include <tilewright/transform/embed.hpp>
#include <tilewright/transform/freeze.hpp>
#include <tilewright/transform/merge.hpp>
#include <tilewright/transform/offset.hpp>
#include <tilewright/transform/pad.hpp>
#include <tilewright/transform/pass_through.hpp>
#include <tilewright/transform/swizzle.hpp>
#include <tilewright/transform/unmerge.hpp>
#include <tilewright/transform/xor.hpp>

namespace tilewright {

/// f(rules) with the rules of a kind.
template <class F>
TILEWRIGHT_HD constexpr auto with_rules(transform_kind kind, F&& f) {
  using enum transform_kind;
  switch (kind) {
    case pad: return f(transform_rules<pad>{});
    case embed: return f(transform_rules<embed>{});
    case merge: return f(transform_rules<merge>{});
    case unmerge: return f(transform_rules<unmerge>{});
    case xor_modulo: return f(transform_rules<xor_modulo>{});
    case swizzle: return f(transform_rules<swizzle>{});
    case offset: return f(transform_rules<offset>{});
    case freeze: return f(transform_rules<freeze>{});
    case pass_through: break;
  }
  return f(transform_rules<pass_through>{});
}

}  // namespace tilewright
