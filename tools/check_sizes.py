#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that no header has more than 400 lines and no function more than 60.

usage: check_sizes.py [INCLUDE_DIR/tilewright] | check_sizes.py --self-test; without a folder, the headers of this tree

A function's lines go from its name to its closing brace.
"""

import re
import sys
import tempfile
from pathlib import Path

HEADER_LINES = 400
FUNCTION_LINES = 60

NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|concept)\b[^()=]*$")
NAME = re.compile(r"\b(?!requires|sizeof|decltype|noexcept|explicit)([\w~:]+|operator\W+)\s*\(")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def without_template_heads(head):
    """The text without template <...>, whose default arguments may have parentheses and comparisons."""
    while match := re.search(r"\btemplate\s*<", head):
        depth, angles, end = 0, 1, match.end()
        while end < len(head) and angles:
            letter = head[end]
            depth += (letter in "([{") - (letter in ")]}")
            if not depth and letter in "<>" and head[end - 1:end + 1] not in ("<=", "->") and head[end + 1:end + 2] != "=":
                angles += 1 if letter == "<" else -1
            end += 1
        head = head[:match.start()] + " " + head[end:]
    return head


def opens_function(head):
    """Whether the brace after this text, back to the last statement, opens the body of a function."""
    text = without_template_heads(head).strip()
    if "(" not in text or SCOPE.search(re.sub(r"<[^<>]*>", "", text)):
        return False
    if re.search(r"\)[^()]*\s:\s[^;]*$", text):  # a constructor's list of members: the body follows ) or }
        return text.endswith((")", "}"))
    return text.endswith((")", "const", "override", "final", "noexcept")) or bool(re.search(r"->\s*[^;]*$", text))


def functions_in(text):
    """(first line, last line, name) of each function that is not inside of another one; lines count from 1."""
    code = DIRECTIVE.sub(blank, NOT_CODE.sub(blank, text))
    found, blocks, start, inside = [], [], 0, 0
    for i, letter in enumerate(code):
        if letter == ";" and not inside:
            start = i + 1
        elif letter == "{":
            is_scope = is_function = False
            if not inside:
                head = code[start:i]
                is_function = opens_function(head)
                head = without_template_heads(head)
                plain = re.sub(r"<[^<>]*>", "", head)
                while (shorter := re.sub(r"\([^()]*\)", "", plain)) != plain:
                    plain = shorter
                is_scope = not is_function and not re.search(r"[=(,]\s*$|\)[^()]*\s:\s[^;]*$", head) and bool(
                    SCOPE.search(plain) or "namespace" in head)
            blocks.append((is_function, is_scope, start))
            inside += not is_scope
            if is_scope:
                start = i + 1
        elif letter == "}" and blocks:
            is_function, is_scope, begin = blocks.pop()
            inside -= not is_scope
            if is_function:
                name = NAME.search(code, begin)
                first = code.count("\n", 0, name.start() if name else begin) + 1
                found.append((first, code.count("\n", 0, i) + 1, name.group(1) if name else "?"))
            if is_function or is_scope:
                start = i + 1
    return found


def problems_in(root):
    headers = sorted(root.rglob("*.hpp"))
    problems = [] if headers else [f"{root}: no headers here"]
    for path in headers:
        text = path.read_text(encoding="utf-8")
        header, lines = path.relative_to(root).as_posix(), text.count("\n")
        if lines > HEADER_LINES:
            problems.append(f"{header}: {lines} lines; split it by meaning (at most {HEADER_LINES})")
        functions = functions_in(text)
        # A definition in device code that is not found: the reader of this script has lost its way.
        if not functions and re.search(r"TILEWRIGHT_HD[^;{}=]*\([^;{}]*\)[^;{}]*\{[^}]*;", NOT_CODE.sub(blank, text)):
            problems.append(f"{header}: no function was found, though it defines some; mend tools/check_sizes.py")
        for first, last, name in functions:
            if last - first >= FUNCTION_LINES:
                problems.append(f"{header}:{first}: {name} has {last - first + 1} lines (at most {FUNCTION_LINES})")
    return problems


def self_test():
    def body(lines):
        return "  work();\n" * (lines - 2)

    long = 61
    cases = [  # a header, and what must be said of it
        ("void f() {\n" + body(60) + "}\n", None),
        ("void f() {\n" + body(long) + "}\n", "1: f has 61 lines"),
        ("namespace n {\nclass c {\n  int g(int a,\n        int b) const override {\n" + body(60) + "  }\n};\n}\n", "3: g has 61"),
        ("struct s {\n  s() : a_{1}, b_(2) {\n" + body(long) + "  }\n};\n", "2: s has 61"),
        ("template <class T>\n  requires(sizeof(T) == 4)\nauto h(T t) -> decltype(t) {\n" + body(long) + "}\n", "h has 61"),
        ("struct s {\n" + "  void f() {\n    work();\n  }\n" * 40 + "};\n", None),
        ("inline constexpr table values{{\n" + "  {f(1), 2},\n" * 100 + "}};\n", None),
        ('void f() {\n  text("{");  // {\n' + body(30) + "}\nvoid g() {\n" + body(40) + "}\n", None),
        ("// line\n" * 401, "401 lines"),
        ("// line\n" * 400, None),
        ("template <class T, kind K = sizeof(T) == 1 ? kind::a : kind::b>\nstruct s {\n  void f() {\n" + body(long) + "  }\n};\n", "f has 61"),
        ("struct s {\n  int TILEWRIGHT_HD = f([] { work(); });\n};\n", None),
        ("union_ s {\n  TILEWRIGHT_HD void f() {\n    work();\n  }\n};\n", "no function was found"),
    ]
    failed = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.hpp").write_text(text, encoding="utf-8")
            problems = problems_in(Path(folder))
        if (not problems) if expected is None else any(expected in problem for problem in problems):
            continue
        failed += 1
        print(f"planted {text[:60]!r}...: expected {expected!r}, found {problems}")
    print(f"size check, self-test: {len(cases) - failed} of {len(cases)} cases as expected")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    problems = problems_in(Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1] / "include/tilewright")
    print("\n".join(problems) if problems else "all headers and functions are short enough")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
