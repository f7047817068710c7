// SPDX-License-Identifier: MIT
// The search for the fastest kernel with a clock that the test winds, and the file that remembers.
#include <tilewright/launch/tuning/find_fastest.hpp>
#include <tilewright/launch/tuning/tuning_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

/// Contenders with known times, of which some launches take longer.
struct stub_clock {
  std::vector<double> seconds;  // of a launch of each
  double disturbance = 0;       // added to every fourth measurement
  int measurements = 0;
  std::vector<int> launches = std::vector<int>(seconds.size());

  std::vector<double> operator()(const std::vector<tuning_batch>& batches) {
    std::vector<double> result;
    for (const auto& [i, count] : batches) {
      launches[i] += count;
      result.push_back(seconds[i] * count + (++measurements % 4 == 0 ? disturbance : 0));
    }
    return result;
  }
};

TEST(FindFastest, FindsTheSmallestTime) {
  for (std::size_t best = 0; best < 5; ++best) {
    stub_clock clock{{20e-6, 21e-6, 22e-6, 23e-6, 24e-6}};
    clock.seconds[best] = 19e-6;
    EXPECT_EQ(find_fastest(5, std::ref(clock)), best);
  }
  stub_clock only{{1e-3}};
  EXPECT_EQ(find_fastest(1, std::ref(only)), 0u);
  stub_clock once{{20e-6, 19e-6}};
  EXPECT_EQ(find_fastest(2, std::ref(once), {.rounds = 1}), 1u) << "the first round only warms up";
}

// One measurement of four is spoilt: medians do not see it.
TEST(FindFastest, IsNotMisledByDisturbances) {
  stub_clock clock{{20e-6, 19e-6, 30e-6, 20.5e-6}, 0.4e-3};
  EXPECT_EQ(find_fastest(4, std::ref(clock)), 1u);
}

TEST(FindFastest, SpendsItsTimeOnThoseThatAreClose) {
  stub_clock clock{{10e-6, 10.1e-6, 50e-6, 2.0}};
  EXPECT_EQ(find_fastest(4, std::ref(clock)), 0u);
  EXPECT_EQ(clock.launches[3], 2);       // both count
  EXPECT_LE(clock.launches[2], 2 + 10);  // half a millisecond
  EXPECT_GT(clock.launches[1], 2 + 50 + 600);
  stub_clock many{std::vector<double>(20, 1e-3)};
  (void)find_fastest(20, std::ref(many), {.limit_seconds = 1, .finalists = 2, .rounds = 3});
  EXPECT_EQ(std::count_if(many.launches.begin(), many.launches.end(), [](int n) { return n > 4; }), 2);
  stub_clock slow{{1.0, 0.9, 0.1}};
  EXPECT_EQ(find_fastest(3, std::ref(slow), {.limit_seconds = 5}), 1u) << "no time is left for the last one";
  EXPECT_EQ(slow.launches, (std::vector<int>{2 + 3, 2 + 3, 0}));
  stub_clock slower{{1.0, 0.9}};
  EXPECT_EQ(find_fastest(2, std::ref(slower), {.limit_seconds = 3}), 0u) << "nor for a second one";
  stub_clock long_ones{std::vector<double>(16, 2e-3)};
  (void)find_fastest(16, std::ref(long_ones));
  EXPECT_EQ(std::count_if(long_ones.launches.begin(), long_ones.launches.end(), [](int n) { return n > 2; }), 4);
  EXPECT_LE(2e-3 * std::accumulate(long_ones.launches.begin(), long_ones.launches.end(), 0), 2 * 0.06);
}

/// Two steps: contenders by themselves, then rounds of the finalists, in which all get slower together.
struct drifting_clock {
  std::vector<double> alone, in_rounds;
  double every_third = 1;  // times the last contender's time
  int batch = 0, of_last = 0, queues = 0;

  std::vector<double> operator()(const std::vector<tuning_batch>& batches) {
    std::vector<double> result;
    const bool in_passes = batches.size() > 2 && queues++ == 0;
    for (const auto& [i, count] : batches) {
      if (batches.size() <= 2 || in_passes) {
        result.push_back(alone[i] * count);
        continue;
      }
      const bool last = i + 1 == in_rounds.size(), is_third = last && of_last++ % 3 == 2;
      result.push_back(in_rounds[i] * count * (1 + 0.05 * (batch++ / 2)) * (is_third ? every_third : 1));
    }
    return result;
  }
};

// What the model prefers stays unless another is faster in most rounds, whatever the clock does meanwhile.
TEST(FindFastest, KeepsTheFirstUnlessAnotherIsClearlyFaster) {
  const auto fastest = [](drifting_clock clock) { return find_fastest(clock.alone.size(), clock); };
  EXPECT_EQ(fastest({{1e-3, 1e-3}, {1e-3, 0.98e-3}}), 1u);
  EXPECT_EQ(fastest({{1e-3, 1e-3}, {1e-3, 0.998e-3}}), 0u);
  EXPECT_EQ(fastest({{1e-3, 1e-3}, {1e-3, 0.98e-3}, 1.1}), 1u);
  std::vector<double> others(10, 1e-3), first = others;
  others[0] = 1.1e-3, first[0] = 0.9e-3;
  EXPECT_EQ(fastest({others, first}), 0u) << "it is among the finalists though nine others seem to be faster";
  others[0] = 2e-3;
  EXPECT_EQ(fastest({others, first}), 0u) << "nor does it matter how slow it seems to be by itself";
}

// Contenders are timed forwards and backwards before finalists are chosen, so one that is timed late loses nothing.
TEST(FindFastest, DriftOfTheClockFavoursNone) {
  int launches = 0;
  const auto measure = [&](const std::vector<tuning_batch>& batches) {
    std::vector<double> result;
    for (const auto& [i, count] : batches) {
      result.push_back((i == 7 ? 0.9e-3 : 1e-3) * (1 + 0.01 * launches) * count);
      launches += count;
    }
    return result;
  };
  EXPECT_EQ(find_fastest(8, measure, {.first_seconds = 10e-3, .limit_seconds = 1, .finalists = 2}), 7u);
}

TEST(FindFastest, TimesOfZeroOrNaN) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto by_stub = [](std::vector<double> seconds, const tuning_effort& effort = {}) {
    return find_fastest(seconds.size(), stub_clock{std::move(seconds)}, effort);
  };
  EXPECT_EQ(by_stub({0, 0, 0, 0}), 0u);
  EXPECT_EQ(by_stub({0, 0, 0}, {.round_seconds = 0}), 0u);
  EXPECT_EQ(by_stub({20e-6, nan, 21e-6}), 0u);
  EXPECT_EQ(by_stub({20e-6, 19e-6, nan}), 1u);
  EXPECT_EQ(by_stub({nan, 20e-6, 19e-6}), 2u);
  EXPECT_EQ(by_stub({nan, nan}), 0u);
  const auto in_rounds = [](std::vector<double> seconds) {
    return find_fastest(seconds.size(), drifting_clock{std::vector<double>(seconds.size(), 1e-3), seconds});
  };
  EXPECT_EQ(in_rounds({1e-3, nan}), 0u);
  bool has_passes = false;
  find_fastest(3, [&](const std::vector<tuning_batch>& batches) {
    has_passes = has_passes || batches.size() == 6;
    std::vector<double> seconds;
    for (const tuning_batch& t : batches) seconds.push_back(t.contender == 1 ? nan : 1e-6 * t.launches);
    return seconds;
  });
  EXPECT_TRUE(has_passes) << "a contender without a time leaves time for the others";
  EXPECT_EQ(in_rounds({1e-3, nan, 0.5e-3}), 2u);
  EXPECT_EQ(in_rounds({nan, 1e-3}), 1u);
  EXPECT_EQ(in_rounds({0, 0, 0}), 0u);
}

class TuningFile : public testing::Test {
 protected:
  fs::path folder = fs::path(testing::TempDir()) / ("tuning-" + std::to_string(std::random_device{}()));
  fs::path path = folder / "file";
  ~TuningFile() override { fs::remove_all(folder); }

  std::string content() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void rewrite(const std::string& text) const { std::ofstream(path) << text; }
};

TEST_F(TuningFile, RemembersUnderItsKey) {
  tuning_file first(path, "device one");
  EXPECT_EQ(first.find("1 2 3"), std::nullopt);
  EXPECT_TRUE(first.remember("1 2 3", "128x256"));
  EXPECT_TRUE(first.remember("1 2 4", "64x64"));
  EXPECT_TRUE(first.remember("1 2 3", "few rows"));
  EXPECT_EQ(tuning_file(path, "device one").find("1 2 3"), "few rows");
  EXPECT_EQ(tuning_file(path, "device one").find("1 2 4"), "64x64");
  tuning_file second(path, "device two");
  EXPECT_EQ(second.find("1 2 3"), std::nullopt);
  EXPECT_TRUE(second.remember("1 2 3", "portable"));
  EXPECT_EQ(tuning_file(path, "device one").find("1 2 3"), "few rows");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2) << "more than the file and its lock is left";
}

TEST_F(TuningFile, KeepsSymbolicLinks) {
  const fs::path link = folder / "link";
  EXPECT_TRUE(tuning_file(path, "device").remember("a", "x"));
  fs::create_symlink(path.filename(), link);
  EXPECT_TRUE(tuning_file(link, "device").remember("b", "y"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(tuning_file(path, "device").find("b"), "y");
  fs::remove(path);
  EXPECT_TRUE(tuning_file(link, "device").remember("c", "z")) << "the file is not there";
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(tuning_file(path, "device").find("c"), "z");
}

TEST_F(TuningFile, KeepsWhatOthersHaveAdded) {
  tuning_file one(path, "device"), two(path, "device");
  EXPECT_TRUE(one.remember("a", "x"));
  EXPECT_TRUE(two.remember("b", "y"));
  EXPECT_EQ(tuning_file(path, "device").find("a"), "x");
  EXPECT_EQ(tuning_file(path, "device").find("b"), "y");
}

// Each object locks the file as a process of its own does.
TEST_F(TuningFile, LosesNothingThatIsRememberedAtTheSameTime) {
  constexpr int writers = 8, entries = 20;
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i) {
    threads.emplace_back([this, i] {
      tuning_file own(path, "device");
      for (int j = 0; j < entries; ++j) own.remember(std::to_string(i) + " " + std::to_string(j), "x");
    });
  }
  for (std::thread& t : threads) t.join();
  const std::string all = content();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), writers * entries);
}

TEST_F(TuningFile, DoesNotWaitForEver) {
  EXPECT_TRUE(tuning_file(path, "device").remember("a", "x"));
  const int lock = ::open((path.string() + ".lock").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(tuning_file(path, "device").remember("b", "y"));
  ::close(lock);
  EXPECT_EQ(tuning_file(path, "device").find("b"), "y");
}

// Each cut and each changed character costs its own line and no other.
TEST_F(TuningFile, IgnoresDamagedLines) {
  tuning_file writer(path, "device");
  EXPECT_TRUE(writer.remember("a", "x"));
  EXPECT_TRUE(writer.remember("b", "y"));
  const std::string good = content();
  const std::size_t second_line = good.find('\n') + 1;
  for (std::size_t i = 0; i + 1 < good.size(); ++i) {
    std::string bad = good;
    bad[i] = bad[i] == '#' ? '+' : '#';
    rewrite(bad);
    const tuning_file reader(path, "device");
    EXPECT_EQ(reader.find("a").has_value(), i >= second_line) << i;
    if (i + 1 != second_line) {
      EXPECT_EQ(reader.find("b").has_value(), i < second_line) << i;
    }
    rewrite(good.substr(0, i));
    const tuning_file of_part(path, "device");
    EXPECT_EQ(of_part.find("a").has_value(), i + 1 >= second_line) << i;
    EXPECT_EQ(of_part.find("b"), std::nullopt) << i;
  }
  rewrite(std::string(1000, '\0') + "\n\t\t\n" + good);
  tuning_file reader(path, "device");
  EXPECT_EQ(reader.find("b"), "y");
  EXPECT_TRUE(reader.remember("c", "z"));
  EXPECT_EQ(std::count(good.begin(), good.end(), '\n') + 1, 3);
  EXPECT_EQ(tuning_file(path, "device").find("c"), "z");
}

TEST_F(TuningFile, SaysIfItCannotWrite) {
  fs::create_directories(path);  // a folder of that name
  tuning_file blocked(path, "device");
  EXPECT_FALSE(blocked.remember("a", "x"));
  EXPECT_EQ(blocked.find("a"), "x");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  const fs::path pipe = folder / "pipe";
  ::mkfifo(pipe.c_str(), 0600);
  EXPECT_FALSE(tuning_file(pipe, "device").remember("a", "x"));
  EXPECT_TRUE(fs::is_fifo(pipe)) << "nor is a device replaced";
}

}  // namespace
}  // namespace tilewright
