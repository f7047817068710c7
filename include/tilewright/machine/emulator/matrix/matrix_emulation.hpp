// SPDX-License-Identifier: MIT
// Matrix instructions on the CPU: gather the operands of a wave's lanes, multiply, scatter the result.
#pragma once

#include <tilewright/core/base/types.hpp>
#include <tilewright/machine/emulator/threads/thread_context.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <vector>

namespace tilewright::emulator {

/// Where one lane keeps its operands of a matrix instruction, whatever their types.
struct matrix_operands {
  const char* a = nullptr;  ///< the lane's registers of A
  const char* b = nullptr;  ///< the lane's registers of B
  char* c = nullptr;        ///< the lane's accumulators: read and written
};

/// One matrix instruction. Products are exact and are added to the accumulator in the order of k, each sum rounded to
/// float; int8_t is added up in int, modulo 2^32.
class matrix_emulator {
 public:
  /// For one instruction; computes its lane maps once.
  explicit matrix_emulator(arch::matrix_op op) : op_(arch::describe(op)), element_bytes_(arch::element_bytes(op)) {
    // A is kept as m rows, B as k rows, so that the innermost loop runs along n in both B and C.
    list_places(op_.a, a_places_, [this](arch::matrix_position p) { return p.row * op_.k + p.col; });
    list_places(op_.b, b_places_, [this](arch::matrix_position p) { return p.col * op_.n + p.row; });
    list_places(op_.c, c_places_, [this](arch::matrix_position p) { return p.row * op_.n + p.col; });
    for (index_t i = 0; i < op_.a.lane.size(); ++i) {
      if (op_.a.lane[i].of == arch::lane_map_bit::coordinate::none) replica_bit_ = 1 << i;
    }
  }

  /// Lanes that execute it together.
  index_t wave_size() const { return op_.wave_size(); }

  /// The lower of two lanes that should hold copies of the same A and B but do not; -1 if all is well.
  index_t find_unequal_copies(const matrix_operands* lanes) const {
    if (replica_bit_ == 0) return -1;
    for (index_t lane = 0; lane < wave_size(); ++lane) {
      const matrix_operands &one = lanes[lane], &other = lanes[lane ^ replica_bit_];
      const auto size = [this](const arch::lane_map& map) { return std::size_t(map.num_registers() * element_bytes_); };
      if (__builtin_memcmp(one.a, other.a, size(op_.a)) != 0) return lane;
      if (__builtin_memcmp(one.b, other.b, size(op_.b)) != 0) return lane;
    }
    return -1;
  }

  /// C += A B for all lanes of a wave. `lanes`: wave_size() elements. Sums are float (double, int) as the
  /// instruction's.
  void run(arch::matrix_element a_element, arch::matrix_element b_element, const matrix_operands* lanes) const {
    using enum arch::matrix_element;
    if (a_element != b_element) {
      if (a_element == fp8_ocp) return run_with<fp8_ocp_t, float, bf8_ocp_t>(lanes);
      if (a_element == bf8_ocp) return run_with<bf8_ocp_t, float, fp8_ocp_t>(lanes);
      if (a_element == fp8_fnuz) return run_with<fp8_fnuz_t, float, bf8_fnuz_t>(lanes);
      return run_with<bf8_fnuz_t, float, fp8_fnuz_t>(lanes);
    }
    switch (a_element) {
      case f16: return run_with<half_t, float>(lanes);
      case bf16: return run_with<bfloat16_t, float>(lanes);
      case f32: return run_with<float, float>(lanes);
      case fp8_ocp: return run_with<fp8_ocp_t, float>(lanes);
      case bf8_ocp: return run_with<bf8_ocp_t, float>(lanes);
      case fp8_fnuz: return run_with<fp8_fnuz_t, float>(lanes);
      case bf8_fnuz: return run_with<bf8_fnuz_t, float>(lanes);
      case i8: return run_with<int8_t, unsigned>(lanes);
    }
  }

 private:
  static constexpr index_t max_elements = 32 * 64;

  template <class A, class Sum, class B = A>
  void run_with(const matrix_operands* lanes) const {
    alignas(64) Sum a[max_elements], b[max_elements], c[max_elements];
    const index_t a_size = op_.a.num_registers(), b_size = op_.b.num_registers(), c_size = op_.c.num_registers();
    for (index_t lane = 0; lane < wave_size(); ++lane) {
      gather<A>(a, lanes[lane].a, &a_places_[std::size_t(lane * a_size)], a_size);
      gather<B>(b, lanes[lane].b, &b_places_[std::size_t(lane * b_size)], b_size);
      gather<Sum>(c, lanes[lane].c, &c_places_[std::size_t(lane * c_size)], c_size);
    }
    if (op_.n == 32) {
      multiply<32>(op_.m, op_.k, a, b, c);
    } else {
      multiply<16>(op_.m, op_.k, a, b, c);
    }
    for (index_t lane = 0; lane < wave_size(); ++lane) {
      const std::uint16_t* places = &c_places_[std::size_t(lane * c_size)];
      for (index_t r = 0; r < c_size; ++r)
        __builtin_memcpy(lanes[lane].c + r * index_t(sizeof(Sum)), &c[places[r]], sizeof(Sum));
    }
  }

  template <class PlaceOf>
  static void list_places(const arch::lane_map& map, std::vector<std::uint16_t>& places, PlaceOf site_of) {
    for (index_t lane = 0; lane < map.num_lanes(); ++lane) {
      for (index_t r = 0; r < map.num_registers(); ++r) places.push_back(std::uint16_t(site_of(map.at(lane, r))));
    }
  }

  template <class T, class Sum>
  static void gather(Sum* matrix, const char* registers, const std::uint16_t* places, index_t count) {
    for (index_t r = 0; r < count; ++r) {
      T element;
      __builtin_memcpy(&element, registers + r * index_t(sizeof(T)), sizeof(T));
      matrix[places[r]] = Sum(widen(element));
    }
  }

  template <class T>
  static auto widen(T element) {
    if constexpr (sizeof(T) == 4 || std::is_integral_v<T>) {
      return element;
    } else if constexpr (sizeof(T) == 1) {
      static const std::array<float, 256> values = [] {
        std::array<float, 256> v{};
        for (unsigned bits = 0; bits < 256; ++bits) v[bits] = float(bit_cast<T>(static_cast<unsigned char>(bits)));
        return v;
      }();
      return values[bit_cast<unsigned char>(element)];
    } else if constexpr (std::is_same_v<T, bfloat16_t>) {
      return float(element);
    } else {
      // Without branches: 2^112 rebases the exponent and makes denormals normal;
      // infinity and NaN then need their exponent back.
      const unsigned bits = bit_cast<unsigned short>(element), magnitude = bits & 0x7fffu;
      const unsigned rebased = bit_cast<unsigned>(bit_cast<float>(magnitude << 13) * 0x1p112f);
      const unsigned special = magnitude >= 0x7c00u ? 0x7f800000u : 0u;
      return bit_cast<float>(rebased | special | (bits & 0x8000u) << 16);
    }
  }

  /// c(m, n) += a(m, k) b(k, n), all in rows.
  template <index_t N, class Sum>
  static void multiply(index_t m, index_t k, const Sum* a, const Sum* b, Sum* c) {
    for (index_t i = 0; i < m; ++i) {
      Sum row[N];
      for (index_t j = 0; j < N; ++j) row[j] = c[i * N + j];
      for (index_t l = 0; l < k; ++l) {
        const Sum factor = a[i * k + l];
        for (index_t j = 0; j < N; ++j) row[j] += factor * b[l * N + j];
      }
      for (index_t j = 0; j < N; ++j) c[i * N + j] = row[j];
    }
  }

  arch::matrix_instruction op_;
  index_t element_bytes_;
  index_t replica_bit_ = 0;  // of the lane id: gfx11's WMMA takes its operands twice
  std::vector<std::uint16_t> a_places_, b_places_, c_places_;
};

/// The emulators of instructions, each made when it is first asked for.
class matrix_emulators {
 public:
  /// The emulator of an instruction; made at its first use.
  const matrix_emulator& of(arch::matrix_op op) { return all_.try_emplace(op, op).first->second; }

 private:
  std::map<arch::matrix_op, matrix_emulator> all_;
};

}  // namespace tilewright::emulator
