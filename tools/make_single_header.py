#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Joins the headers that kernels include into one, which needs no include path and no standard header.

usage: make_single_header.py [-o FILE] [--depfile FILE] [--maker amd|nvidia] | make_single_header.py --self-test

Each header comes once, after those that it includes and without its comments. --maker leaves out what only the other maker's
GPUs need. A file that includes the result has all of it, or, where TILEWRIGHT_ONLY is defined, the headers that it names (by
TILEWRIGHT_USES_KERNELS_GEMM_GEMM_KERNEL=1 and so on), core/arch/current.hpp, and what these include.
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]

# Headers that no kernel includes: the CPU emulator, launching, choosing among kernels, CK Tile's names.
NOT_FOR_KERNELS = re.compile(
    r"machine/emulator/|machine/exec/host/|machine/exec/nvptx/make_tensor_map\.hpp|compat/|ck_tile"
    r"|launch/(?!ready_kernel|run_kernel|kernel_facts|check_rows|check_memory)|kernels/parallel[/.]"
    r"|kernels/gemm/choice/(choice_name|gemm_choice|gemm_plan|gemm_kernels|hopper_tile_family|tuning_\w+|gemm_autotune)\.hpp")
# The header of a family of kernels: it must have every header that it includes, except these and those of the other maker.
FAMILY = re.compile(r"kernels/\w+\.hpp")
# What one maker's GPUs do without, and so do the headers with code that cannot do without these.
OTHER_MAKER = {
    "amd": re.compile(r"machine/exec/nvptx/|machine/exec/hopper\.hpp|block/mma/wgmma|kernels/.*hopper"),
    "nvidia": re.compile(r"machine/exec/amdgcn/"),
}

# Comments, and what looks like one but is not: strings, characters, digits such as 1'000.
TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<raw>R"(?P<end>[^( ]*)\(.*?\)(?P=end)")|"(?:\\.|[^"\\\n])*"|\b\d[\w.']*|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL | re.VERBOSE)
DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*?)[ \t]*$")
OWN_HEADER = re.compile(r"<tilewright/([^>]+)>")


def without_comments(text):
    def replaced(match):
        comment = match.group("comment")
        return match.group() if comment is None else " " if comment.startswith("/*") else ""

    lines = (line.rstrip() for line in TOKENS.sub(replaced, text).split("\n"))
    return [line for line in lines if line]


def negated(condition):
    return f"!({condition})"


class Header:
    """A header's lines without includes of this library, and (condition, header) of each such include."""

    def __init__(self, path, text):
        self.lines, self.includes = [], []
        branches = []  # of each open #if: the conditions of its earlier branches, and that of this one
        for line in without_comments(text.replace("\\\n", "\x00")):
            match = DIRECTIVE.match(line.replace("\x00", " "))
            word, rest = match.groups() if match else ("", "")
            if word in ("if", "ifdef", "ifndef"):
                branches.append(([], {"if": rest, "ifdef": f"defined({rest})", "ifndef": f"!defined({rest})"}[word]))
            elif word in ("elif", "else"):
                earlier, now = branches.pop()
                branches.append((earlier + [negated(now)], rest if word == "elif" else ""))
            elif word == "endif":
                branches.pop()
            elif word == "pragma" and rest == "once":
                continue
            elif word == "include" and OWN_HEADER.match(rest):
                condition = [f"({part})" for earlier, now in branches for part in [*earlier, now] if part]
                self.includes.append((" && ".join(condition), OWN_HEADER.match(rest).group(1)))
                continue
            self.lines.append(line.replace("\x00", "\\\n"))
        if branches:
            sys.exit(f"{path}: an #if has no #endif")
        self.drop_empty_conditionals()

    def drop_empty_conditionals(self):
        """Removes each #if that only included headers: nothing but #elif and #else up to its #endif."""
        kept = []
        for line in self.lines:
            kept.append(line)
            if DIRECTIVE.match(line) and DIRECTIVE.match(line).group(1) == "endif":
                start = len(kept) - 2
                while start >= 0 and DIRECTIVE.match(kept[start]) and DIRECTIVE.match(kept[start]).group(1) in ("elif", "else"):
                    start -= 1
                if start >= 0 and DIRECTIVE.match(kept[start]) and DIRECTIVE.match(kept[start]).group(1) in ("if", "ifdef", "ifndef"):
                    del kept[start:]
        self.lines = kept


HEAD = """// SPDX-License-Identifier: MIT
// {what}. Made by tools/make_single_header.py: change the headers instead.
#pragma once

#if !defined(__HIP__) && !defined(__CUDACC__)
#error "{file} has the code of kernels for GPUs: compile this file as HIP or CUDA, or include <tilewright/tilewright.hpp>"
#endif
"""
FIRST = "core/base/config.hpp"  # the conditions ask for what it defines
TARGET = "core/arch/current.hpp"  # whatever the file is to have, kernels ask for this


def macro(name):
    return "TILEWRIGHT_USES_" + re.sub(r"\W", "_", name.removesuffix(".hpp")).upper()


class SingleHeader:
    def __init__(self, root, maker=None):
        self.root, self.maker = root, maker
        self.headers = {}  # in the order of their text: what a header includes comes before it
        self.without = {}  # a header left out: the header that it includes and that is the reason, or None: its own name
        # Machines' own headers come with exec.hpp, each in its pass.
        every = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.hpp"))
        self.roots = [name for name in [FIRST, *every] if not re.match(r"machine/exec/\w+/|machine/exec/no_schedule", name) and self.add(name)]

    def add(self, name):
        """Whether the header may be part of the file; then it is."""
        if name in self.headers or name in self.without:
            return name in self.headers
        if NOT_FOR_KERNELS.match(name) or (self.maker and OTHER_MAKER[self.maker].match(name)):
            self.without[name] = None
            return False
        path = self.root / name
        if not path.is_file():
            sys.exit(f"make_single_header.py: {path} is not there")
        header = Header(path, path.read_text(encoding="utf-8"))
        # A header with nothing but includes (an umbrella) has those that are here.
        every = header.includes
        header.includes = [(condition, included) for condition, included in every if self.add(included) or (header.lines and not condition)]
        missing = [included for _, included in header.includes if included in self.without]
        if missing:
            self.without[name] = next(filter(self.ends_on_host, missing), missing[0])
        if FAMILY.match(name):
            for lost in [name, *(included for _, included in every)]:
                self.require(name, lost)
        if missing:
            return False
        self.headers[name] = header
        return True

    def chain(self, name):
        """The header, the one that it includes and that leaves it out, and so on."""
        while name:
            yield name
            name = self.without[name]

    def ends_on_host(self, name):
        """Whether a header is left out because of one that is not for kernels, rather than for the other maker's GPUs."""
        return bool(NOT_FOR_KERNELS.match([*self.chain(name)][-1]))

    def require(self, family, name):
        """Ends the program if a family of kernels would silently lose the header."""
        if self.without.get(name) and self.ends_on_host(name):
            first, *others = self.chain(name)
            sys.exit(f"make_single_header.py: {family} would be without {first}, which includes {', which includes '.join(others)}, which is not for kernels: "
                     "do not include it there, or change NOT_FOR_KERNELS")

    def conditions(self):
        """The lines that find out which headers to have."""
        yield "#ifndef TILEWRIGHT_ONLY"
        yield from (f"#define {macro(name)} 1" for name in dict.fromkeys(self.roots))
        if TARGET in self.headers:
            yield from ["#else", f"#define {macro(TARGET)} 1"]
        yield "#endif"
        for name, header in reversed(self.headers.items()):  # whatever includes a header comes after it
            includes = dict.fromkeys(header.includes)
            if includes:
                yield f"#if {macro(name)}"
                for condition, included in includes:
                    yield from [f"#if {condition}"] * bool(condition)
                    yield f"#define {macro(included)} 1"
                    yield from ["#endif"] * bool(condition)
                yield "#endif"

    def text(self):
        for name, header in self.headers.items():
            if header.lines:
                yield f"\n// tilewright/{name}"
                yield from [f"#if {macro(name)}"] * (name != FIRST)
                yield from header.lines
                yield from ["#endif"] * (name != FIRST)
            if name == FIRST:
                yield ""
                yield from self.conditions()


def joined(root, file, maker=None):
    """The text of the joined header, and the paths of the headers in it."""
    single = SingleHeader(root, maker)
    if len({macro(name) for name in single.headers}) < len(single.headers):
        sys.exit("make_single_header.py: two headers have the same macro")
    what = "Tilewright for kernels" + {None: "", "amd": " of AMD GPUs", "nvidia": " of NVIDIA GPUs"}[maker]
    return "\n".join([HEAD.format(what=what, file=file), *single.text(), ""]), [root / name for name in single.headers]


def write(path, text):
    """Whole or not at all, and only if something changed."""
    path = Path(path)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        path.touch()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)


def joined_files(files, maker):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return joined(Path(folder), "single.hpp", maker)[0]


def refusal(files, maker):
    try:
        joined_files(files, maker)
    except SystemExit as end:
        return end.code
    return None


def self_test():
    config = {"core/base/config.hpp": "#define CONFIG\n"}
    plain = {
        "a.hpp": '// noun\n#pragma once\n#include <tilewright/b.hpp>\n#include <vector>\nint a = 1\'000;  // a\nauto s = "// no";\n',
        "b.hpp": "#if X\n#include <tilewright/machine/exec/c/c.hpp>\n#elif Y\n#include <tilewright/d.hpp>\n#endif\n/* two\nlines */ int b;\n",
        "machine/exec/c/c.hpp": "#include <tilewright/e.hpp>\nint c;\n",
        "d.hpp": 'int d;\n#define E(x) \\\n  x\nauto r = R"(/* // )";\n',
        "e.hpp": "",
    }
    uses = "#if TILEWRIGHT_USES_"
    cases = [
        ({}, None, ["#define CONFIG\n\n#ifndef TILEWRIGHT_ONLY\n#define TILEWRIGHT_USES_CORE_BASE_CONFIG 1"]),
        (plain, None, [f"// tilewright/a.hpp\n{uses}A\n#include <vector>\nint a = 1'000;\nauto s = \"// no\";\n#endif\n"]),
        (plain, None, [f'{uses}D\nint d;\n#define E(x) \\\n  x\nauto r = R"(/* // )";\n#endif\n', f"{uses}B\n  int b;\n#endif"]),
        (plain, None, [f"{uses}A\n#define TILEWRIGHT_USES_B 1\n#endif\n", f"{uses}MACHINE_EXEC_C_C\n#define TILEWRIGHT_USES_E 1\n#endif\n"]),
        (plain, None, [f"{uses}B\n#if (X)\n#define TILEWRIGHT_USES_MACHINE_EXEC_C_C 1\n#endif\n#if (!(X)) && (Y)\n#define TILEWRIGHT_USES_D 1\n"]),
        ({"a.hpp": "#include <tilewright/machine/exec/hopper.hpp>\nint x;\n", "machine/exec/hopper.hpp": "int x;\n"}, "amd", ["CONFIG"]),
        ({"a.hpp": "#if X\n#include <tilewright/machine/exec/hopper.hpp>\n#endif\nint y;", "machine/exec/hopper.hpp": "int x;"}, "amd", ["int y;"]),
        ({"a.hpp": "#include <tilewright/machine/exec/hopper.hpp>\nint y;\n", "machine/exec/hopper.hpp": "int z;\n"}, "nvidia", ["int y", "int z"]),
        ({"a.hpp": "#include <tilewright/machine/exec/hopper.hpp>\n#include <tilewright/b.hpp>\n", "machine/exec/hopper.hpp": "int x;", "b.hpp": "int b;"}, "amd",
         ["#if TILEWRIGHT_USES_A\n#define TILEWRIGHT_USES_B 1\n#endif"]),
        ({"core/arch/current.hpp": "int y;"}, None, ["#else\n#define TILEWRIGHT_USES_CORE_ARCH_CURRENT 1\n#endif"]),
        ({"machine/emulator/a.hpp": "int x;\n", "b.hpp": "#if X\n#include <tilewright/machine/emulator/a.hpp>\n#endif\nint b;"}, None, ["int b;"]),
    ]
    failed = 0
    for files, maker, expected in cases:
        text = joined_files({**config, **files}, maker)
        if not all(part in text for part in expected) or "int x" in text:
            failed += 1
            print(f"expected\n{expected}\nin\n{text}")
    family = {"kernels/gemm.hpp": "#include <tilewright/kernels/gemm/a.hpp>\n", "launch/new.hpp": "int x;\n"}
    lost = "make_single_header.py: kernels/gemm.hpp would be without "
    new = "which includes launch/new.hpp, which is not for kernels"
    refusals = [
        ({**family, "kernels/gemm/a.hpp": "#include <tilewright/launch/new.hpp>\nint x;\n"}, None, f"{lost}kernels/gemm/a.hpp, {new}"),
        ({**family, "kernels/gemm/a.hpp": "#include <tilewright/tile/b.hpp>\nint x;\n", "tile/b.hpp": "#include <tilewright/launch/new.hpp>\nint x;\n"}, "amd",
         f"{lost}kernels/gemm/a.hpp, which includes tile/b.hpp, {new}"),
        ({**family, "kernels/gemm.hpp": "#include <tilewright/launch/new.hpp>\nint x;\n"}, "nvidia", f"{lost}kernels/gemm.hpp, {new}"),
        # Although the other maker's GPUs are a reason as well.
        ({**family, "kernels/gemm/a.hpp": "#include <tilewright/machine/exec/hopper.hpp>\n#include <tilewright/launch/new.hpp>\nint x;\n",
          "machine/exec/hopper.hpp": "int x;\n"}, "amd", f"{lost}kernels/gemm/a.hpp, {new}"),
        ({**family, "kernels/gemm.hpp": "#include <tilewright/kernels/gemm/a.hpp>\n#include <tilewright/launch/new.hpp>\n",
          "kernels/gemm/a.hpp": "#include <tilewright/machine/exec/hopper.hpp>\nint x;\n", "machine/exec/hopper.hpp": "int x;\n"}, "amd", None),
    ]
    for files, maker, expected in refusals:
        sentence = refusal({**config, **files}, maker)
        if (sentence is None) != (expected is None) or not str(sentence).startswith(str(expected)):
            failed += 1
            print(f"expected\n{expected}\nnot\n{sentence}")
    cases += refusals
    print(f"single header, self-test: {len(cases) - failed} of {len(cases)} cases as expected")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output")
    parser.add_argument("--depfile", help="the headers, for make and ninja")
    parser.add_argument("--maker", choices=("amd", "nvidia"))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    text, paths = joined(TREE / "include/tilewright", Path(arguments.output or "tilewright_single.hpp").name, arguments.maker)
    if not arguments.output:
        sys.stdout.write(text)
        return 0
    write(arguments.output, text)
    if arguments.depfile:
        escaped = [str(path).replace(" ", "\\ ") for path in [arguments.output, *paths]]
        write(arguments.depfile, f"{escaped[0]}: {' '.join(escaped[1:])}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
