// SPDX-License-Identifier: MIT
// Reads the command line of amdgcn-run.
#include "cli_options.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace amdgcn_run {

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

namespace {

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

class reader {
 public:
  command_line line;

  /// Understands option `a`; `next` gives its value.
  template <class Next>
  void option(const std::string& a, Next&& next) {
    emu::options& o = line.options;
    static const std::map<std::string, bool emu::options::*> checks{{"race", &emu::options::race},
                                                                    {"waits", &emu::options::waits},
                                                                    {"bounds", &emu::options::bounds},
                                                                    {"poison", &emu::options::poison}};
    const bool off = a.starts_with("--no-");
    if (auto it = checks.find(a.starts_with("--") ? a.substr(off ? 5 : 2) : ""); it != checks.end()) {
      o.*it->second = !off;
      return;
    }
    if (a == "--list")
      line.list = true;
    else if (a == "--kernel")
      line.kernel = next();
    else if (a == "--grid")
      line.grid = dims(next());
    else if (a == "--block")
      line.block = dims(next()), line.have_block = true;
    else if (a == "--arg")
      add_argument(next());
    else if (a == "--buffer")
      named_buffer(next());
    else if (a == "--ptr")
      put_pointer(next());
    else if (a == "--lds")
      line.lds = integer(next());
    else if (a == "--lds-report")
      o.lds_log = true;
    else if (a == "--phases")
      o.phases = next();
    else if (a == "--count")
      o.count = true;
    else if (a == "--slice")
      o.slice = integer(next());
    else if (a == "--resident")
      o.resident = static_cast<unsigned>(integer(next()));
    else if (a == "--limit")
      o.limit = integer(next());
    else if (a == "--trace")
      o.trace = static_cast<int>(integer(next()));
    else if (a == "--wave-order")
      set_order(next());
    else
      throw bad_input("option '" + a + "' is not known");
  }

 private:
  std::size_t struct_at_ = ~std::size_t{0};
  std::map<std::string, buffer*> named_;

  buffer* add_buffer(std::vector<std::uint8_t> d, std::string out) {
    line.buffers.push_back(std::make_unique<buffer>(buffer{std::move(d), std::move(out)}));
    return line.buffers.back().get();
  }
  void add_argument(const std::string& a) {
    const auto c = a.find(':');
    const std::string t = a.substr(0, c), v = c == a.npos ? "" : a.substr(c + 1);
    const auto pointer = [&](buffer* b) { line.args.add(b->data.data()); };
    if (t == "buf")
      pointer(add_buffer(read_file(v), ""));
    else if (t == "inout")
      pointer(add_buffer(read_file(v), v));
    else if (t == "out") {
      const auto d = v.rfind(':');
      if (d == v.npos) throw bad_input("--arg out needs FILE:BYTES");
      pointer(add_buffer(std::vector<std::uint8_t>(integer(v.substr(d + 1))), v.substr(0, d)));
    } else if (t == "null")
      line.args.add(static_cast<void*>(nullptr));
    else if (t == "i64" || t == "u64")
      line.args.add(integer(v));
    else if (t == "i32" || t == "u32")
      line.args.add(static_cast<std::uint32_t>(integer(v)));
    else if (t == "i16" || t == "u16")
      line.args.add(static_cast<std::uint16_t>(integer(v)));
    else if (t == "i8" || t == "u8")
      line.args.add(static_cast<std::uint8_t>(integer(v)));
    else if (t == "f32")
      line.args.add(static_cast<float>(real(v)));
    else if (t == "f64")
      line.args.add(real(v));
    else if (t == "struct") {
      const auto d = read_file(v);
      line.args.add_bytes(d.data(), d.size(), 8);
      struct_at_ = line.args.bytes.size() - d.size();
    } else
      throw bad_input("argument kind '" + t + "' is not known");
  }
  void named_buffer(const std::string& v) {
    const auto e = v.find('='), c = v.rfind(':');
    if (e == v.npos) throw bad_input("--buffer needs NAME=FILE");
    const bool out = c != v.npos && c > e;
    const std::string path = v.substr(e + 1, out ? c - e - 1 : v.npos);
    std::vector<std::uint8_t> d;
    if (!out || std::ifstream(path)) d = read_file(path);
    if (out) d.resize(integer(v.substr(c + 1)));
    named_[v.substr(0, e)] = add_buffer(std::move(d), out ? path : "");
  }
  void put_pointer(const std::string& v) {
    const auto e = v.find('=');
    if (e == v.npos || struct_at_ == ~std::size_t{0})
      throw bad_input("--ptr needs OFFSET=NAME and an --arg struct before it");
    auto it = named_.find(v.substr(e + 1));
    const std::size_t off = integer(v.substr(0, e));
    if (it == named_.end()) throw bad_input("there is no --buffer '" + v.substr(e + 1) + "'");
    if (struct_at_ + off + 8 > line.args.bytes.size()) throw bad_input("--ptr offset is outside of the struct");
    const void* p = it->second->data.data();
    std::memcpy(line.args.bytes.data() + struct_at_ + off, &p, 8);
  }
  void set_order(const std::string& v) {
    if (v == "reverse")
      line.options.order = emu::options::reverse;
    else if (v == "in-order")
      line.options.order = emu::options::in_order;
    else if (v.rfind("random", 0) == 0)
      line.options.order = emu::options::random, line.options.seed = v.size() > 7 ? integer(v.substr(7)) : 1;
    else
      throw bad_input("wave order '" + v + "' is not known");
  }
};

}  // namespace

command_line read_command_line(int argc, char** argv) {
  reader r;
  r.line.file = argv[1];
  for (int k = 2; k < argc; ++k) {
    const std::string a = argv[k];
    r.option(a, [&] {
      if (++k >= argc) throw bad_input("'" + a + "' needs a value");
      return std::string(argv[k]);
    });
  }
  return std::move(r.line);
}

}  // namespace amdgcn_run
