#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every public function and every member of a public struct has a contract: a comment that begins with ///.

usage: check_contracts.py [INCLUDE_DIR/tilewright] | check_contracts.py --self-test | check_contracts.py --names [INCLUDE_DIR/tilewright]

Public is what is outside of folders and namespaces called detail, and not private or protected in its class. A contract is above the
declaration, or on its line and begins with ///<; overloads that follow without an empty line share it. Some have theirs elsewhere: functions that are defaulted or deleted in the language,
functions that override another one and members that a base struct has as well there, what launch() asks of a kernel (a struct with
args_type) in the comment on the concept ReadyKernel, and device functions in docs/machine.md (tools/check_machine.py). --names prints the public names of namespaces, types among them, one a line.
"""

import re
import sys
import tempfile
from pathlib import Path

from check_machine import contract_of

TOKEN = re.compile(
    r"""(?P<contract>///[^\n]*)|(?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*|\s+)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')|(?P<word>[A-Za-z_]\w*|\.?\d(?:'?[\w.])*)|(?P<sign>->|::|&&|\|\||[<>=!]=|<<|.)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE)
CLOSING = {"(": ")", "[": "]", "{": "}"}
NO_FUNCTION = {"decltype", "noexcept", "alignas", "explicit", "requires", "__attribute__", "sizeof"}
MACRO = re.compile(r"[A-Z][A-Z_]+")
TYPES = {"struct", "class", "union", "enum"}


class Reader:
    """Reads the declarations of a header's namespaces and classes; bodies of functions and initialisers are skipped."""

    def __init__(self, text):
        self.tokens = [(m.lastgroup, m.group(), text.count("\n", 0, m.start()) + 1) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]
        self.at, self.found, self.names, self.bases, self.kernels = 0, [], set(), {}, set()
        self.shared = None  # (names, line after it) of the function before, if it has a contract
        self.documented = set()  # (struct, member), also of those that are not public
        self.macros = set(re.findall(r"^[ \t]*#[ \t]*define (\w+)\(", text, re.MULTILINE))

    def peek(self, ahead=0):
        """The next token that is not a contract."""
        at = self.at
        while at < len(self.tokens):
            if self.tokens[at][0] != "contract":
                if not ahead:
                    return self.tokens[at][1]
                ahead -= 1
            at += 1
        return ""

    def next(self):
        while self.tokens[self.at][0] == "contract":
            self.at += 1
        self.at += 1
        return self.tokens[self.at - 1][1]

    def line(self):
        return self.tokens[min(self.at, len(self.tokens) - 1)][2]

    def skip_balanced(self):
        """Past a bracket, what is in it, and its counterpart."""
        close = CLOSING[self.next()]
        while self.peek() != close:
            self.skip_balanced() if self.peek() in CLOSING else self.next()
        self.next()

    def skip_angles(self):
        self.next()
        while self.peek() != ">":
            if self.peek() == "<":
                self.skip_angles()
            else:
                self.skip_balanced() if self.peek() in CLOSING else self.next()
        self.next()

    def skip_to(self, *ends):
        while self.peek() not in ends:
            self.skip_balanced() if self.peek() in CLOSING else self.next()

    def skip_constraint(self):
        """Past primary expressions that && and || join."""
        self.next()
        while True:
            while self.peek() == "!":
                self.next()
            if self.peek() == "(":
                self.skip_balanced()
            elif self.peek() == "requires":
                self.skip_to("{")
                self.skip_balanced()
            else:
                self.next()
                while self.peek() in ("::", "<"):
                    if self.peek() == "<":
                        self.skip_angles()
                    else:
                        self.next(), self.next()
            if self.peek() not in ("&&", "||"):
                return
            self.next()

    def read_scope(self, names, is_class, is_public, is_hidden):
        """Declarations up to the } of this scope, or the end of the file."""
        while self.peek() not in ("", "}"):
            if is_class and self.peek() in ("public", "private", "protected") and self.peek(1) == ":":
                is_public = self.next() == "public"
                self.next()
            elif self.peek() == ";":
                self.next()
            else:
                self.read_declaration(names, is_class, is_hidden or not is_public)
        if self.peek():
            self.next()
        elif names or is_class:
            raise IndexError

    def read_declaration(self, names, is_class, is_hidden):
        has_contract = False
        while self.tokens[self.at][0] == "contract":
            has_contract = not self.tokens[self.at][1].startswith("///<")
            self.at += 1
        line = self.line()
        shared, self.shared = self.shared, None
        while self.peek() in ("template", "requires", "[", "friend", "extern", "inline") or self.peek().startswith('"'):
            if self.peek() == "requires":
                self.skip_constraint()
            elif self.peek() == "[":  # an attribute
                self.skip_balanced()
            elif self.next() == "template" and self.peek() == "<":
                self.skip_angles()
        if self.peek() == "namespace":
            self.next()
            name = ""
            while self.peek() not in ("{", "=", ";"):
                name += self.next()
            if self.peek() != "{":
                return self.skip_to(";")
            self.next()
            hidden = is_hidden or not name or "detail" in name.split("::")
            return self.read_scope(names + [name], False, True, hidden)
        if self.peek() == "{":  # extern "C"
            self.next()
            return self.read_scope(names, False, True, is_hidden)
        if self.peek() in ("using", "typedef", "static_assert", "concept", "asm"):
            kind = self.next()
            if not is_class and not is_hidden and kind in ("using", "concept") and self.peek() != "namespace":
                self.names.add(self.peek())
            is_alias, begin = self.peek(1) == "=", self.at
            is_kernel = self.peek() == "args_type"
            self.skip_to(";")
            if is_class and (is_kernel or not is_alias and "args_type" in (token[1] for token in self.tokens[begin:self.at])):
                self.kernels.add(names[-1])
            return None
        if self.peek() in TYPES and self.read_type(names, is_class, is_hidden):
            return None
        name, is_function, needs = self.read_declarator()
        more = self.more
        while self.at < len(self.tokens) and self.tokens[self.at][0] == "contract" and self.tokens[self.at][1].startswith("///<"):
            has_contract = True
            self.at += 1
        has_contract = has_contract or shared == (names + [name], line)
        if has_contract and is_function:
            self.shared = (names + [name], self.tokens[self.at - 1][2] + 1)
        if has_contract and names:
            self.documented |= {(names[-1], one) for one in (name, *more)}
        if not is_hidden:
            if not is_class and (needs or not is_function):
                self.names.add(name)
            if needs and (is_function or is_class):
                self.found += [(line, names + [one], has_contract) for one in (name, *more)]
        return None

    def read_type(self, names, is_class, is_hidden):
        """A definition or declaration of a type, up to its last } or its ;. False: it is the type of a variable or function."""
        begin = self.at
        kind = self.next()
        if self.peek() in ("class", "struct"):
            self.next()
        while self.peek() in ("[", "alignas"):
            self.next() if self.peek() == "alignas" else None
            self.skip_balanced()
        name = self.next() if self.peek() not in ("{", ":") else ""
        while self.peek() in ("<", "::"):
            if self.peek() == "<":
                self.skip_angles()
            else:
                self.next(), self.next()
        bases = []
        while self.peek() in ("final", ":", ",", "::") or bases and self.peek() not in ("{", ";"):
            bases.append(self.peek())
            self.skip_angles() if self.peek() == "<" else self.next()
        self.bases.setdefault(name, set()).update(bases)
        if self.peek() not in ("{", ";"):
            self.at = begin
            return False
        if not is_class and not is_hidden and name:
            self.names.add(name)
        if self.peek() == ";":
            return True
        if kind == "enum":
            self.skip_balanced()
        else:
            self.next()
            self.read_scope(names + [name], True, kind != "class", is_hidden)
        self.skip_to(";")
        return True

    def read_declarator(self):
        """(name, whether it is a function, whether it needs a contract); past the ; or the body. self.more: names after the first one."""
        name, previous, self.more = "", "", []
        while self.peek() not in (";", "=", "{", ":"):
            token = self.peek()
            if token == "operator":
                self.next()
                name = "operator" + self.next()
                while self.peek() != "(" or name == "operator(":
                    name += self.next()
                return name, True, self.read_rest_of_function()
            if token == "(" and MACRO.fullmatch(previous) and previous not in self.macros:
                self.skip_balanced()  # an attribute
                continue
            if token == "(" and previous in self.macros:
                if self.peek(2) == ",":  # a macro that defines the function of this name
                    name = self.peek(1)
                    self.skip_balanced()
                    return name, True, True
                self.next()  # what the macro makes a function of
                return self.read_declarator()
            if token == "(" and previous and previous not in NO_FUNCTION:
                is_declared_before = self.tokens[self.at - 2][1] == "::"
                return name, True, self.read_rest_of_function() and not is_declared_before
            if token == "<":
                self.skip_angles()
            elif token in CLOSING:
                self.skip_balanced()
            else:
                if token == "~":
                    self.next()
                    name = "~" + self.peek()
                elif token[0].isalpha() or token[0] == "_":
                    name = token
                self.next()
            previous = token
        while self.peek() != ";":  # int a = 1, b[2] = {}, c;
            if self.peek() == "," and re.match(r"[A-Za-z_]", self.peek(1)) and self.peek(2) in ("=", "[", "{", ",", ";"):
                self.next()
                self.more.append(self.peek())
            self.skip_balanced() if self.peek() in CLOSING else self.next()
        self.next()
        return name, False, True

    def read_rest_of_function(self):
        """Past parameters, qualifiers and body. Whether the function needs a contract."""
        self.skip_balanced()
        needs = True
        while self.peek() not in (";", "{", ")"):
            token = self.peek()
            if token == "override":
                needs = False
            if token == "=":
                self.next()
                needs = needs and self.peek() not in ("default", "delete")
            elif token == ":":
                self.next()
                while self.peek() != "{":  # members: name(...) or name{...}
                    self.next()
                    while self.peek() in ("::", "<"):
                        self.skip_angles() if self.peek() == "<" else (self.next(), self.next())
                    self.skip_balanced()
                    while self.peek() in (",", "."):
                        self.next()
                continue
            if token == "requires":
                self.skip_constraint()
            elif token == "<":
                self.skip_angles()
            elif token in CLOSING:
                self.skip_balanced()
            elif token != "=":
                self.next()
        self.skip_balanced() if self.peek() == "{" else self.next()  # or the ) of a macro
        return needs


def read(path):
    reader = Reader(path.read_text(encoding="utf-8"))
    try:
        reader.read_scope([], False, True, False)
    except IndexError:
        reader.found.append((reader.line(), ["the rest (mend tools/check_contracts.py, which cannot read it)"], False))
    return reader


def public_headers(root):
    return [path for path in sorted(root.rglob("*.hpp")) if "detail" not in path.relative_to(root).parts]


def members_of_kernels(text):
    """The names in the first column of the list in the comment on the concept ReadyKernel."""
    comment = re.search(r"((?:^///.*\n)+)template <class Kernel>\nconcept ReadyKernel\b", text, re.MULTILINE).group(1)
    return {name for line in re.findall(r"^///   (\w.*?)(?:  .*)?$", comment, re.MULTILINE) for name in re.sub(r"\(\w[^)]*\)", "", line).split(", ")}


def problems_in(root, device_functions=(), of_kernels=()):
    """device_functions: names that have a contract in machine/exec; of_kernels: members that have one in each kernel."""
    readers = {path.relative_to(root).as_posix(): read(path) for path in public_headers(root)}
    bases, members, kernels = {}, set(), set()  # struct -> words of its list of bases; (struct, member) with a contract
    for path in root.rglob("*.hpp"):
        reader = readers.get(path.relative_to(root).as_posix()) or read(path)
        for name, words in reader.bases.items():
            bases.setdefault(name, set()).update(words)
        kernels |= reader.kernels
        members |= reader.documented

    def is_inherited(struct, member, seen=()):
        return any((base, member) in members or base not in seen and is_inherited(base, member, (*seen, struct)) for base in bases.get(struct, ()))

    problems, count = [] if readers else [f"{root}: no headers here"], 0
    for header, reader in readers.items():
        for line, names, has in reader.found:
            has = has or len(names) > 1 and is_inherited(*names[-2:]) or names[-1] in device_functions and "exec" in "::".join(names).split("::")
            has = has or len(names) > 1 and names[-1] in of_kernels and not kernels.isdisjoint({names[-2], *bases.get(names[-2], ())})
            count += 1
            if not has:
                problems.append(f"{header}:{line}: {'::'.join(names)} has no contract (///)")
    return problems, count


def self_test():
    """Plants declarations without contracts, each of which must be named, and others, which must not be."""
    cases = [  # text of a header, and names without a contract; * is a part that cannot be read
        ("/// Text.\nint f(int);\n", []),
        ("int f(int);\nint g();\n", ["f", "g"]),
        ("// Text.\nint f(int);\n", ["f"]),
        ("/// Text.\n\nint f(int a = g({1, 2})) { return h(); }\nint f();\n\nint f(char);\n", ["f"]),
        ("namespace n {\nnamespace detail {\nint f();\n}\nnamespace {\nint g();\n}\nnamespace detail::more {\nint h();\n}\nint k();\n}\n", ["n::k"]),
        ("/// Text.\nstruct s {\n  int a;\n  int b;  ///< Text.\n  /// Text.\n  int c = 1, d[2] = {};\n  int e{3};  // text\n};\n", ["s::a", "s::e"]),
        ("struct s {\n  static constexpr int a = f<1, 2>(), b = 2;\n};\n", ["s::a", "s::b"]),
        ("class c {\n  int a;\n\n public:\n  c(int x) : a{x}, b_(x) {}\n  ~c();\n  void f() const noexcept;\n\n private:\n  int b_;\n};\n", ["c::c", "c::~c", "c::f"]),
        ("struct s {\n  s() = default;\n  s(const s&) = delete;\n  void f() override;\n  friend bool operator==(s, s) = default;\n"
         "  friend bool operator<(s, s);\n  operator int() const;\n};\n", ["s::operator<", "s::operatorint"]),
        ("template <class T, int N = (1 > 2) ? 3 : sizeof(T)>\n  requires(N > 1) && Good<T, N>\nauto f(T t) -> decltype(t) requires Good<T, 1> {\n  if (t < N) {}\n}\n",
         ["f"]),
        ("/// Text.\ntemplate <class T>\n[[nodiscard]] MACRO MACRO_OF(f<T>()) inline auto f(T) -> array<T, 2>;\nint g();\n", ["g"]),
        ("#define MAKE(name, text) int name();\nMAKE(f, \"}\")\nMAKE(g, \"\")\n#define STUB(f) f {}\nSTUB(void k(int))\n/// Text.\nint h();\n", ["f", "g", "k"]),
        ("struct s {\n  struct t {\n    int a;\n  };\n  enum class e { a, b };\n  using u = int;\n  static_assert(sizeof(int) == 4, \"{\");\n};\n", ["s::t::a"]),
        ("/// Text.\nstruct s {\n  void f();\n};\n/// Text.\ninline void s::f() {}\ninline void s::g() {}\n", ["s::f"]),
        ("struct base {\n  /// Text.\n  int f();\n  int g();\n};\nstruct s : base {\n  int f();\n  int g();\n};\n", ["base::g", "s::g"]),
        ("namespace detail {\nstruct base {\n  /// Text.\n  int f();\n};\n}\nstruct s final : private t, detail::base {\n  int f();\n};\n", []),
        ("struct s {\n  using args_type = int;\n  static int grid(int);\n  int other();\n};\nstruct t {\n  static int grid(int);\n};\n", ["s::other", "t::grid"]),
        ("namespace exec {\nvoid barrier();\nvoid other();\n}\nvoid barrier();\n", ["exec::other", "barrier"]),
        ("namespace n {\nint f() {\n", ["*"]),
        ("int f(int;\n", ["*"]),
    ]
    failed = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "detail").mkdir()
            (Path(folder) / "detail/private.hpp").write_text("int not_public();\n", encoding="utf-8")
            (Path(folder) / "a.hpp").write_text(text, encoding="utf-8")
            problems, _ = problems_in(Path(folder), {"barrier"}, {"grid"})
        found = ["*" if "cannot read" in problem else problem.split(": ")[1].split(" ")[0] for problem in problems]
        if sorted(found) == sorted(expected) or "*" in expected and "*" in found:
            continue
        failed += 1
        print(f"planted {text!r}: expected {expected}, found {problems}")
    kernels = members_of_kernels("/// A kernel:\n///   check(args)  text (args)\n///   a, b         text\ntemplate <class Kernel>\nconcept ReadyKernel = true;\n")
    if kernels != {"check", "a", "b"}:
        failed += 1
        print(f"members of kernels: {kernels}")
    print(f"contract check, self-test: {len(cases) + 1 - failed} of {len(cases) + 1} cases as expected")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    names = arguments[:1] == ["--names"]
    arguments = arguments[names:]
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tree = Path(__file__).resolve().parents[1]
    root = Path(arguments[0]) if arguments else tree / "include/tilewright"
    if names:
        print("\n".join(sorted(set().union(*(read(path).names for path in public_headers(root))))))
        return 0
    page = contract_of((tree / "docs/machine.md").read_text(encoding="utf-8"))
    concept = (tree / "include/tilewright/launch/ready_kernel.hpp").read_text(encoding="utf-8")
    problems, count = problems_in(root, set().union(*page.values()), members_of_kernels(concept))
    print("\n".join(problems) if problems else f"all {count} public functions and members have a contract")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
