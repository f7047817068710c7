// SPDX-License-Identifier: MIT
// Reads the command line of amdgcn-run.
#include "cli_options.hpp"

#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

#include "../../program/command_line.hpp"
#include "cli_values.hpp"

namespace amdgcn_run {
namespace {

constexpr const char* arguments =
    "They are given in the order of the kernel's parameters.\n"
    "buf:FILE           pointer to the contents of FILE\n"
    "out:FILE:BYTES     pointer to zeroed memory, written to FILE afterwards\n"
    "inout:FILE         pointer to the contents of FILE, written back afterwards\n"
    "i32:N              a number; also u32, i64, u64, i16, u16, i8, u8, f32 and f64\n"
    "null               a null pointer\n"
    "struct:FILE        the bytes of FILE by value; --ptr puts addresses of buffers into it";
constexpr const char* checks =
    "All checks are on by default; --no-race, --no-waits, --no-bounds and --no-poison switch them off.\n"
    "race               accesses to LDS by several waves that no barrier orders\n"
    "waits              results of memory instructions that are used before a wait\n"
    "bounds             accesses to global memory outside of the buffers\n"
    "poison             registers and LDS start as NaN patterns";
constexpr const char* exit_codes =
    "0 it ran and no check complained; 1 a check complained; 2 the request cannot be carried out.\n"
    "Files are written whole, or not at all: nothing is written with exit code 2.";
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 36;

class reader {
 public:
  command_line line;

  void parse(int argc, const char* const* argv) {
    program::command_line table("amdgcn-run",
                                "Runs a kernel of an AMD code object on the CPU, and checks what it does");
    add_kernel(table);
    add_run(table);
    add_checks(table);
    table.section_of_help("Arguments (--arg)", arguments);
    table.section_of_help("Checks", checks);
    table.section_of_help("Exit code", exit_codes);
    table.example("amdgcn-run k.co --list", "Kernels, registers, arguments, instructions that cannot be executed");
    table.example("amdgcn-run k.co --kernel scale --grid 4 --block 256 --arg out:z.bin:4096 --arg i32:9",
                  "Runs a kernel");
    line.text = table.parse(argc, argv);
    if (line.text) return;
    if (line.file.empty()) throw refusal("name a code object; amdgcn-run --help lists the options");
    refuse_folder(line.file);
    if (line.list) return;
    if (line.kernel.empty()) throw refusal("name a kernel with --kernel; --list lists them");
    if (!line.have_block) throw refusal("--block is needed: the threads of a block");
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t struct_at_ = none;
  std::map<std::string, buffer*> named_;

  void add_kernel(program::command_line& table) {
    table.file("code object", "FILE.co", "The compiled kernels", [this](const std::string& name) { line.file = name; });
    table.heading("The kernel");
    table.flag("--list", "List the kernels of the code object", line.list);
    table.text("--kernel", "NAME", "Run this kernel", [this](const std::string& name) { line.kernel = name; });
    table.text("--grid", "X[,Y[,Z]]", "Blocks (default 1)",
               [this](const std::string& text) { line.grid = dimensions(text, "--grid"); });
    table.text("--block", "X[,Y[,Z]]", "Threads of a block", [this](const std::string& text) {
      line.block = dimensions(text, "--block");
      line.have_block = true;
    });
    table.text("--arg", "ARGUMENT", "An argument", [this](const std::string& text) { add_argument(text); }).repeats =
        true;
    table
        .text("--buffer", "NAME=FILE[:BYTES]", "A buffer for --ptr; with BYTES it is written, and read if FILE exists",
              [this](const std::string& text) { named_buffer(text); })
        .repeats = true;
    table
        .text("--ptr", "OFFSET=NAME", "Put a buffer's address into the struct before it",
              [this](const std::string& text) { put_pointer(text); })
        .repeats = true;
    table.text("--lds", "BYTES", "Dynamic LDS (default 0)", [this](const std::string& text) {
      line.lds = number<std::size_t>(text, "--lds", 0, std::size_t{1} << 20);
    });
  }

  void add_run(program::command_line& table) {
    emu::options& o = line.options;
    table.heading("The run");
    table.flag("--lds-report", "Print bank conflicts of every LDS instruction", o.lds_log);
    table.file("--phases", "FILE", "Use another table of phases", [&o](const std::string& name) { o.phases = name; });
    table.flag("--cycles", "Time the first block on a compute unit of gfx90a, gfx942 or gfx950, by a model", o.cycles);
    table.text(
        "--memory-clocks", "NUMBER", "Latency of memory for --cycles (default 700)",
        [&o](const std::string& text) { o.memory_clocks = number<unsigned>(text, "--memory-clocks", 0, 100000); });
    table.flag("--count", "Print executions of every instruction, by basic block and by mnemonic", o.count);
    table.text("--wave-order", "in-order|reverse|random[:SEED]", "Order in which waves run (default in-order)",
               [this](const std::string& text) { set_order(text); });
    table.text("--slice", "NUMBER", "Switch waves after so many instructions (default: at barriers only)",
               [&o](const std::string& text) { o.slice = number<std::uint64_t>(text, "--slice"); });
    table.text("--resident", "NUMBER", "Run so many blocks at the same time (default 1)",
               [&o](const std::string& text) { o.resident = number<unsigned>(text, "--resident", 1, 65536); });
    table.text("--trace", "NUMBER", "Print the first instructions",
               [&o](const std::string& text) { o.trace = number<int>(text, "--trace", 0); });
    table.text("--limit", "NUMBER", "Give up after so many instructions (default 4000000000)",
               [&o](const std::string& text) { o.limit = number<std::uint64_t>(text, "--limit", 1); });
  }

  void add_checks(program::command_line& table) {
    table.heading("Checks");
    emu::options& o = line.options;
    for (const auto& [name, check] :
         {std::pair{"race", &o.race}, {"waits", &o.waits}, {"bounds", &o.bounds}, {"poison", &o.poison}}) {
      bool& is_on = *check;
      table.flag(std::string("--") + name, "Make this check (the default)", [&is_on] { is_on = true; });
      table.flag(std::string("--no-") + name, "Do not make it", [&is_on] { is_on = false; });
    }
  }

  buffer* add_buffer(std::vector<std::uint8_t> data, std::string output) {
    line.buffers.push_back(std::make_unique<buffer>(buffer{std::move(data), std::move(output)}));
    return line.buffers.back().get();
  }

  template <class Number>
  void add_number(const std::string& text, const std::string& what) {
    if constexpr (sizeof(Number) == 1) {  // from_chars reads these as characters
      line.args.add(static_cast<Number>(
          number<int>(text, what, std::numeric_limits<Number>::min(), std::numeric_limits<Number>::max())));
    } else {
      line.args.add(number<Number>(text, what));
    }
  }

  void add_argument(const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string kind = text.substr(0, colon), value = colon == text.npos ? "" : text.substr(colon + 1);
    const std::string what = "--arg " + kind;
    const auto pointer = [&](buffer* b) { line.args.add(b->data.data()); };
    const std::map<std::string, void (reader::*)(const std::string&, const std::string&)> numbers{
        {"i64", &reader::add_number<std::int64_t>}, {"u64", &reader::add_number<std::uint64_t>},
        {"i32", &reader::add_number<std::int32_t>}, {"u32", &reader::add_number<std::uint32_t>},
        {"i16", &reader::add_number<std::int16_t>}, {"u16", &reader::add_number<std::uint16_t>},
        {"i8", &reader::add_number<std::int8_t>},   {"u8", &reader::add_number<std::uint8_t>},
        {"f32", &reader::add_number<float>},        {"f64", &reader::add_number<double>}};
    if (const auto found = numbers.find(kind); found != numbers.end()) return (this->*found->second)(value, what);
    if (kind == "buf") return pointer(add_buffer(read_file(value), ""));
    if (kind == "inout") return pointer(add_buffer(read_file(value), value));
    if (kind == "null") {
      line.args.add(static_cast<void*>(nullptr));
    } else if (kind == "out") {
      const std::size_t last = value.rfind(':');
      if (last == value.npos) throw refusal("--arg out needs FILE:BYTES, not '" + value + "'");
      const std::size_t bytes = number<std::uint64_t>(value.substr(last + 1), what, 1, most_bytes);
      pointer(add_buffer(std::vector<std::uint8_t>(bytes), value.substr(0, last)));
    } else if (kind == "struct") {
      const auto data = read_file(value);
      line.args.add_bytes(data.data(), data.size(), 8);
      struct_at_ = line.args.bytes.size() - data.size();
    } else {
      throw refusal("there is no kind of argument '" + kind + "'; --help lists them");
    }
  }

  void named_buffer(const std::string& text) {
    const std::size_t equals = text.find('='), colon = text.rfind(':');
    if (equals == text.npos) throw refusal("--buffer needs NAME=FILE, not '" + text + "'");
    const bool is_output = colon != text.npos && colon > equals;
    const std::string path = text.substr(equals + 1, is_output ? colon - equals - 1 : text.npos);
    std::vector<std::uint8_t> data;
    if (!is_output || std::ifstream(path)) data = read_file(path);
    if (is_output) data.resize(number<std::uint64_t>(text.substr(colon + 1), "the size of --buffer", 1, most_bytes));
    named_[text.substr(0, equals)] = add_buffer(std::move(data), is_output ? path : "");
  }

  void put_pointer(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || struct_at_ == none)
      throw refusal("--ptr needs OFFSET=NAME and an --arg struct before it, not '" + text + "'");
    const auto found = named_.find(text.substr(equals + 1));
    if (found == named_.end()) throw refusal("there is no --buffer '" + text.substr(equals + 1) + "'");
    const std::size_t room = line.args.bytes.size() - struct_at_;
    const std::size_t offset = number<std::size_t>(text.substr(0, equals), "the offset of --ptr");
    if (room < 8 || offset > room - 8) throw refusal("--ptr " + text + " is outside of the struct");
    const void* pointer = found->second->data.data();
    std::memcpy(line.args.bytes.data() + struct_at_ + offset, &pointer, 8);
  }

  void set_order(const std::string& text) {
    if (text == "reverse") {
      line.options.order = emu::options::reverse;
    } else if (text == "in-order") {
      line.options.order = emu::options::in_order;
    } else if (text == "random" || text.starts_with("random:")) {
      line.options.order = emu::options::random;
      line.options.seed = text == "random" ? 1 : number<std::uint64_t>(text.substr(7), "the seed of --wave-order");
    } else {
      throw refusal("--wave-order must be in-order, reverse, random or random:SEED, not '" + text + "'");
    }
  }
};

}  // namespace

command_line read_command_line(int argc, const char* const* argv) {
  reader r;
  r.parse(argc, argv);
  return std::move(r.line);
}

}  // namespace amdgcn_run
