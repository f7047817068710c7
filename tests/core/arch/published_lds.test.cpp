// SPDX-License-Identifier: MIT
// The LDS tables against everything that is published about them.
#include "published_lds.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tilewright::published {
namespace {

TEST(PublishedLds, NoSourceContradictsTheTables) {
  std::map<std::string, index_t> verdicts;
  std::set<std::string> sources, grades_of_agreeing;
  for (const lds_row& row : read_rows(TILEWRIGHT_PUBLISHED_LDS)) {
    const verdict v = compare(row);
    const bool is_known_to_differ = row.note.find("differs") == 0;
    EXPECT_EQ(v.text == "differs", is_known_to_differ) << row.source << " says that " << row.target << "'s "
                                                       << row.instruction << " has " << row.figure << " " << row.value;
    ++verdicts[v.text];
    sources.insert(row.source);
    if (v.text == "agrees" && row.figure == "lanes") grades_of_agreeing.insert(v.grade);
  }
  EXPECT_EQ(sources.size(), 7u);
  EXPECT_GT(verdicts["agrees"], 50);
  EXPECT_EQ(verdicts["differs"], 1);
  EXPECT_EQ(grades_of_agreeing.count("U"), 0u) << "a row that somebody has published is not unknown";
}

// Rows whose grade says that the vendor has published the lanes: the file holds where.
TEST(PublishedLds, EveryVendorGradeHasItsSource) {
  std::set<std::string> published;
  for (const lds_row& row : read_rows(TILEWRIGHT_PUBLISHED_LDS)) {
    if (row.figure == "lanes" && compare(row).text == "agrees") published.insert(row.target + row.instruction);
  }
  for (const arch::target* t : arch::all_targets) {
    if (!arch::is_amd(*t)) continue;
    for (const arch::lds_instruction& row : t->lds) {
      if (row.readings[0].known_by != arch::grade::vendor) continue;
      EXPECT_EQ(published.count(std::string(t->name) + instruction_name(*t, row.op)), 1u)
          << t->name << " " << instruction_name(*t, row.op);
    }
  }
}

TEST(PublishedLds, TheComparisonSeesDifferences) {
  const auto text = [](const char* figure, const char* value) {
    return compare({"", "gfx942", "ds_read_b128", figure, value, ""}).text;
  };
  EXPECT_EQ(text("banks", "64"), "differs");
  EXPECT_EQ(text("lanes", "8 contiguous"), "differs");
  EXPECT_EQ(text("lanes", "0-3,20-23 4-7,16-19 8-11,28-31 12-15,25-27"), "differs");
  EXPECT_EQ(text("lanes", "12-15,24-27 0-3,20-23 4-7,16-19 8-11,28-31"), "agrees");
  EXPECT_EQ(text("lanes per clock", "8"), "differs");
  EXPECT_EQ(text("conflicts of a phase in one bank", "8"), "differs");
  EXPECT_EQ(compare({"", "gfx950", "ds_read_b32", "banks", "32", ""}).text, "one of two readings");
}

}  // namespace
}  // namespace tilewright::published
