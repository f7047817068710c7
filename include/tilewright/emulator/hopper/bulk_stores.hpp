// SPDX-License-Identifier: MIT
// Bulk stores and additions of emulated threads: they read LDS, and write global memory, as late as they may.
#pragma once

#include <tilewright/emulator/cluster.hpp>
#include <tilewright/emulator/hopper/bulk_boxes.hpp>
#include <tilewright/emulator/lds/lds_checker.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::emulator {

class bulk_stores {
 public:
  explicit bulk_stores(cluster& threads) : threads_(threads) {}

  void begin_cluster() { of_thread_.assign(threads_.threads().size(), {}); }

  /// write(what was in LDS) once the thread has waited for it.
  void start(const thread_context& self, index_t lds, index_t bytes, std::function<void(const char*)> write,
             call_site where) {
    lds_checker::bulk_reader reader{};
    if (lds_checker* const checker = threads_.checker(self.rank)) {
      reader = {checker->num_warpgroups(), std::uint16_t(++num_stores_)};
      checker->begin_bulk_read(self, reader, lds, bytes, "copies from", self.place_of(where));
    }
    mine(self).open.push_back({lds, bytes, reader, std::move(write), {}});
  }
  /// Ends a group.
  void commit(const thread_context& self) {
    mine(self).groups.push_back(std::move(mine(self).open));
    mine(self).open.clear();
  }
  /// All groups but the last `pending` ones have read LDS.
  void wait_until_read(const thread_context& self, index_t pending) {
    thread_stores& stores = mine(self);
    for (; stores.read + std::size_t(pending) < stores.groups.size(); ++stores.read) {
      for (store& s : stores.groups[stores.read]) {
        s.read.assign(self.lds + s.lds, std::size_t(s.bytes));
        if (lds_checker* const checker = threads_.checker(self.rank))
          checker->end_bulk_read(s.reader, self.number, s.lds, s.bytes);
      }
    }
  }
  /// They have written global memory.
  void wait_until_written(const thread_context& self, index_t pending) {
    wait_until_read(self, pending);
    thread_stores& stores = mine(self);
    const std::size_t written = stores.groups.size() - std::min(stores.groups.size(), std::size_t(pending));
    for (std::size_t group = 0; group < written; ++group)
      for (const store& s : stores.groups[group]) s.write(s.read.data());
    stores.groups.erase(stores.groups.begin(), stores.groups.begin() + std::ptrdiff_t(written));
    stores.read -= written;
  }
  /// The thread reaches the end of the kernel.
  void leave(const thread_context& self) {
    if (mine(self).read < mine(self).groups.size() || !mine(self).open.empty())
      refuse(self,
             "leaves the kernel before its bulk stores have read their boxes: wait_for_bulk_stores_to_read<0>() is "
             "missing");
    wait_until_written(self, 0);
  }

 private:
  struct store {
    index_t lds, bytes;
    lds_checker::bulk_reader reader;
    std::function<void(const char*)> write;
    std::string read;  // what was in LDS
  };
  struct thread_stores {
    std::vector<store> open{};
    std::vector<std::vector<store>> groups{};
    std::size_t read = 0;  // groups, the first ones, that have read LDS
  };

  thread_stores& mine(const thread_context& self) { return of_thread_[std::size_t(self.number)]; }

  cluster& threads_;
  std::vector<thread_stores> of_thread_;
  unsigned num_stores_ = 0;
};

}  // namespace tilewright::emulator
