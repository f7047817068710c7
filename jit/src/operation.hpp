// SPDX-License-Identifier: MIT
// What the makers of requests share: targets and types by name, pointers that are given later, host halves.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/jit/element.hpp>
#include <tilewright/jit/given_later.hpp>
#include <tilewright/jit/kernel_source.hpp>

#include "hopper_gemm.hpp"
#include "source_text.hpp"

namespace tilewright::jit {

/// What the library knows of a target. Throws error if it does not know it.
const arch::target& target_of(const std::string& name);

/// The same as type_name, in the formats of a target.
std::string type_name_on(element e, const std::string& target);

/// Bytes of an element.
int size_of(element e);
/// fp8, bf8 or i8.
bool is_8_bits(element e);

/// Throws error with the operation's name if the type is not f16, bf16 or f32.
void require_float(const char* operation, element type);
/// Throws error if `why`, the error message of a check(), is not null.
void require_fit(const std::string& operation, const char* why);

template <class T>
struct of_type {
  using type = T;
};
/// f(of_type<T>{}) with a T as long as f16, bf16 and f32: what the host does depends on the length alone.
template <class F>
auto with_float(element type, F f) {
  return type == element::f32 ? f(of_type<float>{}) : f(of_type<half_t>{});
}

/// f(of_type<arch::gfx942>{}) for "gfx942", and so on. For functions that are cheap to instantiate.
template <class F>
auto with_arch(const std::string& target, F f) {
  std::optional<decltype(f(of_type<arch::sm90>{}))> result;
  arch::known_targets::with(target_of(target).name, [&]<class Arch>() { result.emplace(f(of_type<Arch>{})); });
  return std::move(*result);
}

/// Pointers that are null become given_later(), each another one.
class stand_ins {
 public:
  template <class... T>
  void operator()(T*&... pointers) {
    ((pointers = pointers ? pointers : static_cast<T*>(given_later(number_++))), ...);
  }

 private:
  int number_ = 2048;
};

template <class Grid>
block_grid grid_of(const Grid& g) {
  return {int(g.x), int(g.y), int(g.z)};
}
template <class T>
std::vector<char> as_bytes(const T& x) {
  const auto* const first = reinterpret_cast<const char*>(&x);
  return {first, first + sizeof x};
}

/// check(), prepare() and grid() of a kernel, and of those that follow it, as functions of the program.
template <class Kernel>
host_half half_of() {
  using args_type = typename Kernel::args_type;
  host_half half;
  // As pointers to functions: std::function is then instantiated for each signature, not for each kernel.
  half.check = +[](const void* args) { return Kernel::check(*static_cast<const args_type*>(args)); };
  if constexpr (detail::HasDeviceArgs<Kernel>) {
    half.prepare = +[](const void* args, const launch_facts& facts) {
      const auto made = Kernel::prepare(*static_cast<const args_type*>(args), facts);
      return host_half::prepared{as_bytes(made), grid_of(Kernel::grid(made))};
    };
  } else {
    half.grid = +[](const void* args) { return grid_of(Kernel::grid(*static_cast<const args_type*>(args))); };
  }
  if constexpr (detail::HasFollower<Kernel>)
    half.next = std::make_shared<const host_half>(half_of<typename Kernel::followed_by>());
  return half;
}

/// For kernels with prepare(): on an AMD GPU, a launch with 2^32 threads along x or more is refused. `half` is then
/// what the host knows of the same kernel for an NVIDIA GPU.
void limit_threads(host_half& half, const std::string& target, int block_size);

}  // namespace tilewright::jit
