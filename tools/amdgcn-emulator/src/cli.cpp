// SPDX-License-Identifier: MIT
// amdgcn-run: runs one kernel of a code object.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include <amdgcn_emulator.hpp>

namespace {
const char usage[] =
    "usage: amdgcn-run FILE.co --list\n"
    "       amdgcn-run FILE.co --kernel NAME --grid X[,Y[,Z]] --block X[,Y[,Z]] [--arg ...]... [options]\n"
    "arguments, in the order of the kernel's parameters:\n"
    "  --arg buf:FILE           pointer to the contents of FILE\n"
    "  --arg out:FILE:BYTES     pointer to zeroed memory, written to FILE afterwards\n"
    "  --arg inout:FILE         pointer to the contents of FILE, written back afterwards\n"
    "  --arg i32:N  u32 i64 u64 i16 u16 i8 u8 f32 f64, null\n"
    "  --arg struct:FILE        the bytes of FILE by value; --ptr OFFSET=NAME (after it) puts the address of a buffer "
    "into it\n"
    "  --buffer NAME=FILE[:BYTES]  a named buffer for --ptr; with BYTES it is output (and input when FILE exists)\n"
    "options:\n"
    "  --lds BYTES              dynamic LDS\n"
    "  --lds-report             bank conflicts of every LDS instruction     --phases FILE  another phase table\n"
    "  --count                  executions of every instruction by basic block, and totals per mnemonic\n"
    "  --race / --no-race, --waits / --no-waits, --bounds / --no-bounds, --poison / --no-poison   checks (all on by "
    "default)\n"
    "  --wave-order in-order|reverse|random:SEED   --slice N   switch waves every N instructions\n"
    "  --resident N             run N workgroups at the same time\n"
    "  --trace N                print the first N instructions    --limit N  give up after N instructions\n"
    "exit status: 0 ran and no check complained, 1 a check complained, 2 bad input\n";

struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};
std::vector<std::uint8_t> read_file(const std::string& p) {
  std::ifstream f(p, std::ios::binary);
  if (!f) throw bad_input("cannot open '" + p + "'");
  return {std::istreambuf_iterator<char>(f), {}};
}
double real(const std::string& s) {
  char* e;
  const double v = std::strtod(s.c_str(), &e);
  if (s.empty() || *e) throw bad_input("'" + s + "' is not a number");
  return v;
}
std::uint64_t integer(const std::string& s) {
  char* e;
  const std::uint64_t v =
      s[0] == '-' ? static_cast<std::uint64_t>(std::strtoll(s.c_str(), &e, 0)) : std::strtoull(s.c_str(), &e, 0);
  if (s.empty() || *e) throw bad_input("'" + s + "' is not an integer");
  return v;
}
emu::dim3 dims(const std::string& s) {
  std::uint32_t v[3] = {1, 1, 1};
  std::size_t b = 0;
  for (int k = 0; k < 3 && b <= s.size(); ++k) {
    auto e = s.find(',', b);
    if (e == s.npos) e = s.size();
    v[k] = static_cast<std::uint32_t>(integer(s.substr(b, e - b)));
    b = e + 1;
  }
  if (b <= s.size()) throw bad_input("'" + s + "' has more than three dimensions");
  return {v[0], v[1], v[2]};
}
struct buffer {
  std::vector<std::uint8_t> data;
  std::string write_to;
};

int run(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")
    return std::fputs(usage, argc < 2 ? stderr : stdout), argc < 2 ? 2 : 0;
  const std::string file = argv[1];
  std::string kernel;
  emu::dim3 grid, block{64, 1, 1};
  emu::options o;
  emu::kernarg args;
  bool list = false, have_block = false;
  std::size_t lds = 0, struct_at = ~std::size_t{0};
  std::vector<std::unique_ptr<buffer>> buffers;
  std::map<std::string, buffer*> named;
  const auto add_buffer = [&](std::vector<std::uint8_t> d, std::string out) {
    buffers.push_back(std::make_unique<buffer>(buffer{std::move(d), std::move(out)}));
    return buffers.back().get();
  };
  const auto add_arg = [&](const std::string& a) {
    const auto c = a.find(':');
    const std::string t = a.substr(0, c), v = c == a.npos ? "" : a.substr(c + 1);
    const auto pointer = [&](buffer* b) { args.add(b->data.data()); };
    if (t == "buf")
      pointer(add_buffer(read_file(v), ""));
    else if (t == "inout")
      pointer(add_buffer(read_file(v), v));
    else if (t == "out") {
      const auto d = v.rfind(':');
      if (d == v.npos) throw bad_input("--arg out needs FILE:BYTES");
      pointer(add_buffer(std::vector<std::uint8_t>(integer(v.substr(d + 1))), v.substr(0, d)));
    } else if (t == "null")
      args.add(static_cast<void*>(nullptr));
    else if (t == "i64" || t == "u64")
      args.add(integer(v));
    else if (t == "i32" || t == "u32")
      args.add(static_cast<std::uint32_t>(integer(v)));
    else if (t == "i16" || t == "u16")
      args.add(static_cast<std::uint16_t>(integer(v)));
    else if (t == "i8" || t == "u8")
      args.add(static_cast<std::uint8_t>(integer(v)));
    else if (t == "f32")
      args.add(static_cast<float>(real(v)));
    else if (t == "f64")
      args.add(real(v));
    else if (t == "struct") {
      const auto d = read_file(v);
      args.add_bytes(d.data(), d.size(), 8);
      struct_at = args.bytes.size() - d.size();
    } else
      throw bad_input("argument kind '" + t + "' is not known");
  };
  for (int k = 2; k < argc; ++k) {
    const std::string a = argv[k];
    const auto next = [&] {
      if (++k >= argc) throw bad_input("'" + a + "' needs a value");
      return std::string(argv[k]);
    };
    if (a == "--list")
      list = true;
    else if (a == "--kernel")
      kernel = next();
    else if (a == "--grid")
      grid = dims(next());
    else if (a == "--block")
      block = dims(next()), have_block = true;
    else if (a == "--arg")
      add_arg(next());
    else if (a == "--buffer") {
      const std::string v = next();
      const auto e = v.find('='), c = v.rfind(':');
      if (e == v.npos) throw bad_input("--buffer needs NAME=FILE");
      const bool out = c != v.npos && c > e;
      const std::string path = v.substr(e + 1, out ? c - e - 1 : v.npos);
      std::vector<std::uint8_t> d;
      if (!out || std::ifstream(path)) d = read_file(path);
      if (out) d.resize(integer(v.substr(c + 1)));
      named[v.substr(0, e)] = add_buffer(std::move(d), out ? path : "");
    } else if (a == "--ptr") {
      const std::string v = next();
      const auto e = v.find('=');
      if (e == v.npos || struct_at == ~std::size_t{0})
        throw bad_input("--ptr needs OFFSET=NAME and an --arg struct before it");
      auto it = named.find(v.substr(e + 1));
      const std::size_t off = integer(v.substr(0, e));
      if (it == named.end()) throw bad_input("there is no --buffer '" + v.substr(e + 1) + "'");
      if (struct_at + off + 8 > args.bytes.size()) throw bad_input("--ptr offset is outside of the struct");
      const void* p = it->second->data.data();
      std::memcpy(args.bytes.data() + struct_at + off, &p, 8);
    } else if (a == "--lds")
      lds = integer(next());
    else if (a == "--lds-report")
      o.lds_log = true;
    else if (a == "--phases")
      o.phases = next();
    else if (a == "--count")
      o.count = true;
    else if (a == "--race")
      o.race = true;
    else if (a == "--no-race")
      o.race = false;
    else if (a == "--waits")
      o.waits = true;
    else if (a == "--no-waits")
      o.waits = false;
    else if (a == "--bounds")
      o.bounds = true;
    else if (a == "--no-bounds")
      o.bounds = false;
    else if (a == "--poison")
      o.poison = true;
    else if (a == "--no-poison")
      o.poison = false;
    else if (a == "--slice")
      o.slice = integer(next());
    else if (a == "--resident")
      o.resident = static_cast<unsigned>(integer(next()));
    else if (a == "--limit")
      o.limit = integer(next());
    else if (a == "--trace")
      o.trace = static_cast<int>(integer(next()));
    else if (a == "--wave-order") {
      const std::string v = next();
      if (v == "reverse")
        o.order = emu::options::reverse;
      else if (v == "in-order")
        o.order = emu::options::in_order;
      else if (v.rfind("random", 0) == 0)
        o.order = emu::options::random, o.seed = v.size() > 7 ? integer(v.substr(7)) : 1;
      else
        throw bad_input("wave order '" + v + "' is not known");
    } else
      throw bad_input("option '" + a + "' is not known");
  }
  emu::module m(file);
  if (list) {
    std::printf("%s: %s\n", file.c_str(), m.target().c_str());
    for (const auto& s : m.kernels()) {
      std::printf(
          "%s: lds %u, scratch %u, vgprs %u, agprs %u, sgprs %u, vgpr spills %u, sgpr spills %u, max workgroup %u\n",
          s.name.c_str(), s.lds_bytes, s.scratch_bytes, s.vgprs, s.agprs, s.sgprs, s.vgpr_spills, s.sgpr_spills,
          s.max_workgroup);
      for (const auto& g : s.args)
        std::printf("  argument at %u, %u bytes: %s %s\n", g.offset, g.size, g.kind.c_str(), g.name.c_str());
      for (const auto& u : s.unsupported) std::printf("  not supported: %s\n", u.c_str());
    }
    return 0;
  }
  if (kernel.empty()) throw bad_input("--kernel or --list is needed");
  if (!have_block) throw bad_input("--block is needed");
  for (const auto& b : buffers) m.allow(b->data.data(), b->data.size());
  const emu::result r = m.launch(kernel, grid, block, lds, args, o);
  for (const auto& b : buffers)
    if (!b->write_to.empty()) {
      std::ofstream f(b->write_to, std::ios::binary);
      f.write(reinterpret_cast<const char*>(b->data.data()), static_cast<std::streamsize>(b->data.size()));
      if (!f) throw bad_input("cannot write '" + b->write_to + "'");
    }
  std::printf("%s on %s: %" PRIu64 " waves, %" PRIu64 " instructions, %.3f s (%.2f million per second)\n",
              kernel.c_str(), m.target().c_str(), r.waves, r.instructions, r.seconds,
              static_cast<double>(r.instructions) / r.seconds / 1e6);
  for (const auto& x : r.races) std::printf("race (%" PRIu64 " times): %s\n", x.count, x.message.c_str());
  if (o.lds_log) {
    std::uint64_t total = 0;
    std::printf(
        "LDS instructions: executions, clocks of the phases, without conflicts, conflict cycles, worst degree\n");
    for (const auto& x : r.lds) {
      total += x.conflicts;
      std::printf("%8" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %4" PRIu64 "  %-24s %s  [%s]%s\n",
                  x.executions, x.cycles, x.ideal, x.conflicts, x.worst, x.where.c_str(), x.text.c_str(),
                  x.model.c_str(), x.same_dword_writes ? " lanes overwrite each other" : "");
    }
    std::printf("conflict cycles in all: %" PRIu64 "\n", total);
  }
  if (o.count) {
    std::map<std::string, std::uint64_t> by;
    std::size_t size = 0;
    for (std::size_t k = 0; k < r.counts.size(); ++k) {
      const auto& c = r.counts[k];
      if (c.block) {
        for (size = 1; k + size < r.counts.size() && !r.counts[k + size].block;) ++size;
        std::printf("block %s: %zu instructions, executed %" PRIu64 " times\n", c.where.c_str(), size, c.executions);
      }
      std::printf("%10" PRIu64 "  %-24s %s\n", c.executions, c.where.c_str(), c.text.c_str());
      by[c.text.substr(0, c.text.find(' '))] += c.executions;
    }
    std::printf("per mnemonic:\n");
    std::vector<std::pair<std::uint64_t, std::string>> v;
    for (const auto& [n, c] : by) v.emplace_back(c, n);
    std::sort(v.rbegin(), v.rend());
    for (const auto& [c, n] : v) std::printf("%10" PRIu64 "  %s\n", c, n.c_str());
  }
  return r.races.empty() ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const emu::fault& e) {
    std::fprintf(stderr, "amdgcn-run: fault: %s\n", e.what());
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "amdgcn-run: %s\n", e.what());
    return 2;
  }
}
