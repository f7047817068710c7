// SPDX-License-Identifier: MIT
#include "check_property.hpp"

#include "setting.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#if TILEWRIGHT_HAS_RAPIDCHECK
#include <rapidcheck.h>
#endif

namespace tilewright::property {

#if TILEWRIGHT_HAS_RAPIDCHECK

void check_property(const std::function<std::string(tape&)>& property) {
  const std::string defaults = "seed=" + std::to_string(setting("TILEWRIGHT_PROPERTY_SEED", 1)) +
                               " max_success=" + std::to_string(setting("TILEWRIGHT_PROPERTY_CASES", 5000));
  static const bool has_defaults =
      setenv("RC_PARAMS", defaults.c_str(), /*overwrite=*/0) == 0;  // read by the first check
  ASSERT_TRUE(has_defaults);
  const auto numbers =
      rc::gen::scale(2.0, rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>()));
  const bool holds = rc::check([&] {
    tape choices(*numbers);
    const std::string wrong = property(choices);
    if (!wrong.empty()) RC_FAIL(wrong);
  });
  EXPECT_TRUE(holds) << "the property does not hold; the output above names the smallest input found";
}

#else

void check_property(const std::function<std::string(tape&)>& property) {
  std::mt19937 random(unsigned(setting("TILEWRIGHT_PROPERTY_SEED", 1)));
  const long cases = setting("TILEWRIGHT_PROPERTY_CASES", 5000);
  for (long i = 0; i < cases; ++i) {
    std::vector<std::uint32_t> numbers(random() % 200);
    for (std::uint32_t& number : numbers) number = std::uint32_t(random());
    tape choices(numbers);
    const std::string wrong = property(choices);
    ASSERT_EQ(wrong, "") << "case " << i;
  }
}

#endif

}  // namespace tilewright::property
