// SPDX-License-Identifier: MIT
// Kernels with one mistake each, and the sentence that names it.
#include "emulated_kernels.hpp"

class Mistakes : public emulated_test {
 protected:
  Mistakes() { allow(code_, in_), allow(code_, out_); }
  std::string fault(const char* kernel, const emu::kernarg& arguments, unsigned block = 64, emu::options options = {}) {
    const std::string text = fault_of([&] { code_.launch(kernel, {1}, {block}, 0, arguments, options); });
    EXPECT_NE(text.find(kernel), text.npos) << "names the kernel: " << text;
    return text;
  }
  std::vector<int> in_ = std::vector<int>(512, 3), out_ = std::vector<int>(256);
};
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_P(Mistakes, RacesInLds) {
  for (const char* kernel : {"no_barrier", "one_barrier", "unwaited_barrier"}) {
    const auto result = code_.launch(kernel, {1}, {256}, 0, emu::kernarg().add(out_.data()));
    EXPECT_SAYS(first_race(result), "without a barrier in between") << kernel;
  }
}
TEST_P(Mistakes, ResultsUsedBeforeTheirWait) {
  const auto arguments = emu::kernarg().add(in_.data()).add(out_.data());
  EXPECT_SAYS(fault("no_wait", arguments), "is used before a wait for");
  EXPECT_SAYS(fault("short_wait", arguments), "is used before a wait for");
  emu::options off;
  off.waits = false;
  EXPECT_EQ(fault_of([&] { code_.launch("no_wait", {1}, {64}, 0, arguments, off); }), "");
  EXPECT_EQ(out_[5], 4);
}
TEST_P(Mistakes, AccessesOutOfBounds) {
  EXPECT_SAYS(fault("out_of_bounds", emu::kernarg().add(in_.data() + 500).add(1)),
              "store of 4 bytes outside of all buffers");
  EXPECT_SAYS(fault("lds_out_of_bounds", emu::kernarg().add(out_.data()).add(2)), "LDS access outside of");
}
TEST_P(Mistakes, EndlessLoop) {
  emu::options few;
  few.limit = 100000;
  EXPECT_SAYS(fault("deadlock", emu::kernarg().add(out_.data()), 256, few), "endless loop");
}
TEST_P(Mistakes, UnknownInstruction) {
  EXPECT_SAYS(fault("unknown", emu::kernarg().add(out_.data())), "is not implemented");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Mistakes, testing::ValuesIn(objects_named({"mistakes"})));
