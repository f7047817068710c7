#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what the documents show is what the tree holds.

usage: check_docs.py ROOT [--program NAME=PATH]... [--write] | check_docs.py --self-test

In README.md, CONTRIBUTING.md, CHANGELOG.md and all docs/**/*.md of ROOT
  <!-- from FILE -->       before a code block: its lines stand in FILE, one after another, whatever their indentation
  <!-- all of FILE -->     before a code block: it is the whole of FILE, less the licence line
  <!-- output of NAME -->  up to <!-- end of output -->: what the program prints; --write updates it
  <!-- output of NAME ARGUMENTS -->  likewise, as a block that shows the command, what it prints, and its exit code unless that is 0
  <!-- table NAME -->      up to <!-- end of table -->, and <!-- figure NAME --> up to <!-- end -->: figures of tools/figures.py, which
                           computes them from docs/benchmarks/*.json; --write fills them in
  <!-- members of FILE STRUCT --> up to <!-- end of members -->: a table of the members of a struct, with their contracts; --write fills it in
Every block of C++ needs one of the first two. Links to files of ROOT and to sections of documents must lead somewhere. In README.md, and in
sections called Performance, figures are not typed by hand. tools/prose.py has the rules for the text of user pages.
"""

import json
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "site")]
import api  # noqa: E402  (in site/)
import figures  # noqa: E402  (is next to this file)
import prose  # noqa: E402

BLOCK = re.compile(r"(?:^<!-- (from|all of) (\S+) -->\n\n?)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- (?:from|all of) \S+ -->$", re.MULTILINE)
OUTPUT = re.compile(r"(^<!-- output of (\S+(?: \S+)*) -->\n)(.*?)(^<!-- end of output -->$)", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(^<!-- table (\S+) -->\n)(.*?)(^<!-- end of table -->$)", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"(<!-- figure (\S+) -->)(.*?)(<!-- end -->)", re.DOTALL)
MEMBERS = re.compile(r"(^<!-- members of (\S+) (\w+) -->\n)(.*?)(^<!-- end of members -->$)", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.]|\.\d)")
VERSION = re.compile(r"\b(?:CUDA|ROCm|NVRTC|CMake|Python|PyTorch|HIP|Tilewright|Triton|tilewright) (?:\d+\.\d+|VERSION)[\d.]*")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LICENCE = re.compile(r"^(//|#) SPDX-License-Identifier: .*\n")


def dedented(lines):
    return textwrap.dedent("".join(line.rstrip("\n") + "\n" for line in lines))


def stands_in(code, text):
    wanted, lines = dedented(code.splitlines()), text.splitlines()
    count = len(wanted.splitlines())
    return any(dedented(lines[i:i + count]) == wanted for i in range(len(lines) - count + 1))


def problems_of_blocks(root, text):
    marked = 0
    for how, path, language, code in BLOCK.findall(text):
        first = code.splitlines()[0] if code else ""
        if not how:
            if language == "cpp":
                yield f"the C++ block that begins '{first}' names no file that it comes from"
            continue
        marked += 1
        if not (root / path).is_file():
            yield f"the block that begins '{first}' is from {path}, which is not there"
            continue
        source = (root / path).read_text(encoding="utf-8")
        if how == "all of" and code != LICENCE.sub("", source):
            yield f"the block that begins '{first}' is not the whole of {path}"
        elif how == "from" and not stands_in(code, source):
            yield f"the block that begins '{first}' does not stand in {path}"
    if marked != len(MARK.findall(text)):
        yield "a mark of the form <!-- from FILE --> has no code block right behind it"


def anchors_in(text):
    """What links to the headings of a document end with: GitHub's way of making them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(prose)}


def problems_of_links(path, text):
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for target, anchor in LINK.findall(prose):
        if "://" in target:
            continue
        file = path.parent / target if target else path
        if not file.exists():
            yield f"the link to {target} leads nowhere"
        elif anchor and file.suffix == ".md" and anchor not in anchors_in(file.read_text(encoding="utf-8")):
            yield f"the link to {target}#{anchor} leads to a section that is not there"


def problems_of_outputs(text, outputs):
    for _, name, shown, _ in OUTPUT.findall(text):
        if name not in outputs:
            yield f"it shows what {name} prints, but no such program was given"
        elif outputs[name] not in (shown, None):
            yield f"it does not show what {name} prints now; check_docs.py --write updates it"


def texts_of_figures(root, documents):
    """The texts of all figures and tables that the documents name: ({name: text}, {name: text})."""
    texts = [path.read_text(encoding="utf-8") for path in documents]
    names = {name for text in texts for _, name, _, _ in TABLE.findall(text)} & set(figures.TABLES)
    return figures.computed(root, names) if names or any(FIGURE.search(text) for text in texts) else ({}, {})


def problems_of_figures(text, found):
    of_figures, of_tables = found
    for pattern, known in ((FIGURE, of_figures), (TABLE, of_tables)):
        for _, name, shown, _ in pattern.findall(text):
            if name not in known:
                yield f"tools/figures.py has no '{name}'"
            elif shown != known[name]:
                yield f"'{name}' differs from docs/benchmarks ({known[name].strip()[:40]} ...); check_docs.py --write updates it"


def members_of(root, path, struct):
    """The table of a struct's members, or None where there is no such struct."""
    try:
        return api.arguments_table((root / path).read_text(encoding="utf-8"), struct)
    except (OSError, StopIteration):
        return None


def problems_of_members(root, text):
    for _, path, struct, shown, _ in MEMBERS.findall(text):
        table = members_of(root, path, struct)
        if table is None:
            yield f"{path} has no struct {struct}"
        elif table != shown:
            yield f"the members of {struct} are not those of {path}; check_docs.py --write updates them"


def problems_of_typed_figures(root, path, text):
    """Decimal numbers that no program computes, where they are figures of measurements."""
    if path == root / "README.md":
        checked = text
    elif path.parent == root / "docs":
        checked = "".join(re.findall(r"^## Performance\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    else:
        return
    checked = VERSION.sub("", re.sub(r"`[^`]*`", "", prose.CODE.sub("", FIGURE.sub("", checked))))
    for number in TYPED.findall(re.sub(r"\]\([^)]*\)", "", checked)):
        yield f"{number} is typed by hand: use <!-- figure NAME -->, of tools/figures.py"


def documents_in(root):
    at_the_root = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [path for path in [*at_the_root, root / "examples/README.md", *sorted((root / "docs").rglob("*.md"))] if path.is_file()]


def output_of(command, programs, partial):
    """
    What a document shows for a command line; programs: path of each name. Raises OSError or CalledProcessError.
    None where it needs a part of the program that is not built, if only parts are built (partial).
    """
    name, *arguments = shlex.split(command)
    if not arguments:
        return subprocess.run([programs[name]], check=True, capture_output=True, text=True).stdout
    result = subprocess.run([programs[name], *arguments], capture_output=True, text=True)
    if partial and " are not built: " in result.stderr:
        return None
    code = f"(exit code {result.returncode})\n" if result.returncode != 0 else ""
    return f"```text\n$ {command}\n{result.stdout}{result.stderr}{code}```\n"


def outputs_of(root, programs, partial=False):
    """The output of every command that a document shows, of those programs that are known."""
    commands = {name for path in documents_in(root) for _, name, _, _ in OUTPUT.findall(path.read_text(encoding="utf-8"))}
    return {command: output_of(command, programs, partial) for command in commands if shlex.split(command)[0] in programs}


def problems_in(root, outputs, programs):
    documents = documents_in(root)
    if not documents:
        yield f"{root}: no documents here"
    shown, found = set(), texts_of_figures(root, documents)
    contributing = root / "CONTRIBUTING.md"
    refused = prose.refused_words(contributing.read_text(encoding="utf-8")) if contributing.is_file() else []
    yield from prose.undocumented_kernels(root)
    yield from prose.problems_of_lengths(root)
    for path in documents:
        text = path.read_text(encoding="utf-8")
        shown.update(name for _, name, _, _ in OUTPUT.findall(text))
        for problem in [*problems_of_blocks(root, text), *problems_of_links(path, text),
                        *problems_of_outputs(text, outputs), *problems_of_figures(text, found), *problems_of_members(root, text),
                        *problems_of_typed_figures(root, path, text), *prose.problems_of_page(root, path, text, refused)]:
            yield f"{path.relative_to(root)}: {problem}"
    for name in sorted(set(programs) - {command.split()[0] for command in shown}):
        yield f"no document shows what {name} prints"


def update(root, outputs):
    documents = documents_in(root)
    of_figures, of_tables = texts_of_figures(root, documents)
    for path in documents:
        text = OUTPUT.sub(lambda m: m[1] + (outputs.get(m[2]) or m[3]) + m[4], path.read_text(encoding="utf-8"))
        text = FIGURE.sub(lambda m: m[1] + of_figures.get(m[2], m[3]) + m[4], text)
        text = TABLE.sub(lambda m: m[1] + of_tables.get(m[2], m[3]) + m[4], text)
        text = MEMBERS.sub(lambda m: m[1] + (members_of(root, m[2], m[3]) or m[4]) + m[5], text)
        path.write_text(text, encoding="utf-8")


def self_test_of_partial_builds():
    """A program that lacks a part is right where only parts are built, and a problem elsewhere."""
    text = "<!-- output of gemm a -->\n```text\n$ gemm a\nresult\n```\n<!-- end of output -->\n"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "README.md").write_text(text, encoding="utf-8")
        (root / "gemm").write_text("#!/bin/sh\necho 'the kernels are not built: a' >&2\nexit 2\n", encoding="utf-8")
        (root / "gemm").chmod(0o755)
        programs = {"gemm": root / "gemm"}
        found = [bool(list(problems_in(root, outputs_of(root, programs, partial), programs))) for partial in (True, False)]
    if found != [False, True]:
        print(f"a program that lacks a part: expected [False, True], found {found}")
    return int(found != [False, True])


def self_test_of_prose():
    """Plants errors in a tree with figures, arguments and pages of kernels; each must be found, and the sound tree must pass."""
    page = "".join(f"## {heading}\n\nText.\n\n" for heading in prose.TEMPLATE)
    page += "<!-- members of include/a.hpp a_args -->\n<!-- end of members -->\n"
    files = {
        "CONTRIBUTING.md": "<!-- refused words -->\nnobody,\nin place of\n<!-- end of refused words -->\n",
        "README.md": "<!-- figure grouped.mean -->1<!-- end --> of `1.5` with CUDA 12.8\n", "docs/p.md": "<!-- table grouped -->\n<!-- end of table -->\n",
        "docs/attention.md": page, "docs/lab/a.md": "nobody " * 40 + "1.25\n",
        "include/a.hpp": "/// Text.\nstruct a_args {\n  int rows = 2;  ///< lengths, > 0\n  int a, b;  ///< both\n};\n",
        "include/tilewright/kernels/attention/a.hpp": "",
        **{f"docs/benchmarks/{name}.json": json.dumps({"cases": [{"ratio": 1.5, "ratio_to_deep_gemm": 1, "kind": kind} for kind in ("dx", "dw")]})
           for name in ("h100_grouped", "h100_grouped_backward", "h100_block_scaled_dense", "h100_block_scaled_grouped",
                        "h200_block_scaled_dense", "h200_block_scaled_grouped")},
    }
    changes = [
        (lambda f: None, None),
        (lambda f: f.update({"README.md": f["README.md"].replace("1.50<", "1.40<")}), "'grouped.mean' differs"),
        (lambda f: f.update({"docs/p.md": f["docs/p.md"].replace("| 1.50 |", "| 1.51 |", 1)}), "'grouped' differs"),
        (lambda f: f.update({"README.md": f["README.md"].replace("grouped.mean", "chair")}), "has no 'chair'"),
        (lambda f: f.update({"README.md": f["README.md"] + "It is 1.2 times as fast.\n"}), "1.2 is typed by hand"),
        (lambda f: f.update({"README.md": f["README.md"] + "word " * 1200}), "words outside of code"),
        (lambda f: f.update({"README.md": f["README.md"] * 16}), "figures (most"),
        (lambda f: f.update({"docs/attention.md": f["docs/attention.md"].replace("2`", "3`")}), "not those of include/a.hpp"),
        (lambda f: f.update({"docs/attention.md": f["docs/attention.md"].replace("a_args -->", "b_args -->")}), "no struct b_args"),
        (lambda f: f.update({"docs/attention.md": f["docs/attention.md"].replace("## Limits", "## Bounds")}), "has a section '## Limits'"),
        (lambda f: f.update({"docs/attention.md": f["docs/attention.md"].replace("## Limits", "## Call")}), "two headings are 'Call'"),
        (lambda f: f.update({"docs/attention.md": f["docs/attention.md"].replace("## Performance\n\n", "## Performance\n\n0.9 ")}), "0.9 is typed"),
        (lambda f: f.update({"docs/attention.md": "## Limits\n\n" + f["docs/attention.md"].replace("## Limits\n\n", "")}), "in this order"),
        (lambda f: f.update({"docs/a.md": "Text nobody reads.\n"}), "'nobody' in"),
        (lambda f: f.update({"docs/a.md": "A link in\nplace of text.\n"}), "'in place of' in"),
        (lambda f: f.update({"docs/a.md": "Short. " + "Word " * 36 + ". `x`\n"}), "a sentence of 36 words"),
        (lambda f: f.update({"docs/a.md": "| a | " + "word " * 36 + "|\n|---|---|\n"}), "a sentence of 36 words"),
        (lambda f: f.update({"include/tilewright/kernels/chair/a.hpp": ""}), "kernels/chair has no page"),
    ]
    failed = 0
    for change, expected in changes:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)

            def write(all_files):
                for name, text in all_files.items():
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    (root / name).write_text(text, encoding="utf-8")
            write(files)
            prose_of_figures = figures.figures
            figures.figures = lambda results: {"grouped.mean": f"{figures.mean(figures.ratios(results, 'h100_grouped', 'cases', 'ratio')):.2f}"}
            try:
                update(root, {})
                written = {name: (root / name).read_text(encoding="utf-8") for name in files}
                change(written)
                write(written)
                problems = list(problems_in(root, {}, {}))
            finally:
                figures.figures = prose_of_figures
        if not (not problems if expected is None else any(expected in problem for problem in problems)):
            failed += 1
            print(f"expected {expected!r}, found {problems}")
    print(f"prose and figures, self-test: {len(changes) - failed} of {len(changes)} cases as expected")
    return failed


def self_test():
    """Plants errors; each must be found, and sound documents must pass."""
    source = "// SPDX-License-Identifier: MIT\nint main() {\n  if (true) {\n    return 0;\n  }\n}\n"
    inner = "<!-- from a.cpp -->\n```cpp\nif (true) {\n  return 0;\n}\n```\n"
    whole = "<!-- all of a.cpp -->\n```cpp\nint main() {\n  if (true) {\n    return 0;\n  }\n}\n```\n"
    table = "<!-- output of table -->\n1 2\n<!-- end of output -->\n"
    table += "<!-- output of repeat a b -->\n```text\n$ repeat a b\na b\n(exit code 1)\n```\n<!-- end of output -->\n"
    cases = [
        (inner + whole + table + "[a](a.cpp#L1) [b](https://example.org) \n```sh\n[x](y)\n```\n", None),
        (table + inner.replace("return 0", "return 1"), "does not stand in a.cpp"),
        (table + inner.replace("  return 0", "return 0"), "does not stand in a.cpp"),
        (table + whole.replace("  }\n", "", 1), "not the whole of a.cpp"),
        (table + inner.replace("a.cpp", "b.cpp"), "which is not there"),
        (table + inner.replace("<!-- from a.cpp -->\n", ""), "names no file"),
        (table + inner.replace("-->\n", "-->\n\ntext\n\n"), "no code block right behind it"),
        (table + "[c](c.md)\n", "leads nowhere"),
        (table + "# A `b`, c\n[d](#a-b-c) [e](README.md#a-b-c) [f](a.cpp#L1)\n", None),
        (table + "# A b\n[d](#a-c)\n", "a section that is not there"),
        (table + "# A b\n[d](README.md#a-c)\n", "a section that is not there"),
        (table.replace("1 2", "1 3"), "does not show what table prints now"),
        (table.replace("of table", "of chair"), "no such program"),
        (inner, "no document shows what table prints"),
        (table.replace("\na b", "\na c"), "does not show what repeat a b prints now"),
        (table.replace("(exit code 1)", "(exit code 0)"), "does not show what repeat a b prints now"),
    ]
    failed = int(self_test_of_partial_builds() != 0) + self_test_of_prose()
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "a.cpp").write_text(source, encoding="utf-8")
            (root / "README.md").write_text(text, encoding="utf-8")
            programs = {"table": root / "table", "repeat": root / "repeat"}
            programs["table"].write_text("#!/bin/sh\necho 1 2\n", encoding="utf-8")
            programs["repeat"].write_text('#!/bin/sh\necho "$@"\nexit 1\n', encoding="utf-8")
            for program in programs.values():
                program.chmod(0o755)
            outputs = outputs_of(root, programs)
            problems = list(problems_in(root, outputs, programs))
            update(root, outputs)
            outdated = expected is not None and "prints now" in expected and list(problems_in(root, outputs, programs))
        found = not problems if expected is None else any(expected in problem for problem in problems)
        if found and not outdated:
            continue
        failed += 1
        print(f"planted {text!r}: expected {expected!r}, found {problems}")
    print(f"documents check, self-test: {len(cases) - failed} of {len(cases)} cases as expected")
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    write, partial = "--write" in arguments, "--partial" in arguments
    arguments = [a for a in arguments if a not in ("--write", "--partial")]
    programs = [a.partition("=") for flag, a in zip(arguments[1::2], arguments[2::2]) if flag == "--program"]
    if not arguments or arguments[0].startswith("-") or len(arguments) != 1 + 2 * len(programs):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = Path(arguments[0])
    try:
        programs = {name: path for name, _, path in programs}
        outputs = outputs_of(root, programs, partial)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"check_docs.py: {error}", file=sys.stderr)
        return 2
    if write:
        update(root, outputs)
    problems = list(problems_in(root, outputs, programs))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
