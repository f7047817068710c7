# SPDX-License-Identifier: MIT
"""The docstrings of the headers as Markdown pages: one for each room of include/tilewright.

A docstring is a block of lines that begin with `///`, and the declaration after it. Namespaces called `detail` are left out.
"""
import pathlib
import re
import sys

NAMED = re.compile(r"\b(?:struct|class|concept|enum class|enum|namespace)\s+(?:\[\[.*?\]\]\s*|alignas\(.*?\)\s*)?(\w+)")
USING = re.compile(r"\busing\s+(\w+)\s*=")
CALLABLE = re.compile(r"(\boperator\s*\S+?|~?\w+)\s*\(")
VARIABLE = re.compile(r"(\w+)\s*(?:\[.*\])?\s*(?:=|;|\{)")
MACRO = re.compile(r"#define\s+(\w+)")


NESTED = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
NOISE = re.compile(r"template\s*<(?:[^<>]|<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)*>|requires\s*\(" + NESTED + r"\)|TILEWRIGHT_\w+|"
                   r"__attribute__\(\(.*?\)\)", re.S)


def name_of(declaration):
    text = NOISE.sub(" ", declaration)
    for pattern in (MACRO, USING, NAMED, CALLABLE, VARIABLE):
        found = pattern.search(declaration if pattern is MACRO else text)
        if found and found[1] not in ("if", "decltype", "sizeof", "noexcept", "static_assert"):
            return found[1]
    return None


def signature_of(lines, start):
    """The declaration that begins at a line, up to its body or semicolon."""
    text, depth = [], 0
    for line in lines[start:start + 12]:
        code = line.split("  //")[0].rstrip()
        if code.startswith("#define"):
            return code.rstrip("\\").rstrip()
        cut = None
        for place, c in enumerate(code):
            depth += (c in "([") - (c in ")]")
            if depth == 0 and (c == ";" or (c == "{" and "concept" not in code[:place] and "=" not in code[:place])):
                cut = place
                break
        text.append(code if cut is None else code[:cut].rstrip())
        if cut is not None or code.endswith("{"):
            break
    text = [re.sub(r"TILEWRIGHT_(HD|CALLS_ANYTHING|DEVICE|HOST)\b ?", "", t) for t in text]
    text = [t for t in text if t.strip()]
    indent = min((len(t) - len(t.lstrip()) for t in text if t.strip()), default=0)
    return "\n".join(t[indent:] for t in text).rstrip("{ ").rstrip()


def entries_of(text):
    """(indentation, name, declaration, docstring) of everything that has a docstring."""
    lines, i, hidden = text.splitlines(), 0, 0
    while i < len(lines):
        line = lines[i]
        if re.match(r"namespace (\w+::)*detail\b.*\{", line):
            hidden += 1
        elif re.match(r"\}\s*// namespace (\w+::)*detail", line):
            hidden -= 1
        stripped = line.strip()
        if hidden or not stripped.startswith("/// ") and stripped != "///":
            i += 1
            continue
        indent = len(line) - len(line.lstrip())
        words = []
        while i < len(lines) and lines[i].strip().startswith("///"):
            words.append(lines[i].strip()[3:].removeprefix(" "))
            i += 1
        declaration = signature_of(lines, i)
        name = name_of(declaration)
        if name:
            yield indent, name, declaration, "\n".join(words)


def as_markdown(docstring):
    # Lines of a docstring that are indented are code or tables; the rest is prose.
    text = docstring.replace("<", "&lt;").replace("*", r"\*").replace("_", r"\_")
    return re.sub(r"`([^`]*)`", lambda m: "`" + m[1].replace("&lt;", "<").replace(r"\*", "*").replace(r"\_", "_") + "`", text)


def page_of(room, purpose, headers, include):
    text = [f"# {room}\n", f"Floor `{room}`: {purpose}\n" if purpose else ""]
    count = 0
    for header in headers:
        source = header.read_text(encoding="utf-8")
        comment = []
        for line in source.splitlines()[1:]:
            if not line.startswith("// "):
                break
            comment.append(line[3:])
        text.append(f"## {header.relative_to(include)}\n\n{as_markdown(' '.join(comment))}\n")
        for indent, name, declaration, docstring in entries_of(source):
            heading = f"### {name}" if indent == 0 else f"#### {name}"
            text.append(f"{heading}\n\n```cpp\n{declaration}\n```\n\n{as_markdown(docstring)}\n")
            count += 1
    return "\n".join(text), count


def rooms(root):
    """(folder, what it holds) in the order of docs/architecture.md."""
    table = re.findall(r"^\| (`[\w/]+`) \| (.*) \|$", (root / "docs/architecture.md").read_text(encoding="utf-8"), re.M)
    return [(folder, purpose) for names, purpose in table for folder in re.findall(r"`([\w/]+)`", names)]


def check(root):
    """The pages have what the headers say; else an AssertionError."""
    include = root / "include/tilewright"
    for folder, purpose in rooms(root):
        headers = sorted((include / folder).rglob("*.hpp"))
        text, count = page_of(folder, purpose, headers, include)
        assert count > 0 or folder in ("config", "ck_tile"), f"{folder} has no docstrings"
        assert len(headers) == text.count("\n## ") or not headers, f"{folder}: a header is missing"
    found = {name: (declaration, docstring) for _, name, declaration, docstring in
             entries_of((include / "tile/copy/async_load.hpp").read_text(encoding="utf-8"))}
    declaration, docstring = found["async_load_tile"]
    assert "void async_load_tile(const LdsWindow& lds_window" in declaration and "TILEWRIGHT_HD" not in declaration, declaration
    assert docstring.startswith("Begins to copy a window"), docstring


def write_pages(root, to):
    """Writes a page for each room; the pages, in order, and how many docstrings they have."""
    include = root / "include/tilewright"
    to.mkdir(parents=True)
    pages, total = [], 0
    for folder, purpose in rooms(root):
        headers = sorted((include / folder).rglob("*.hpp"))
        if not headers:
            continue
        text, count = page_of(folder, as_markdown(purpose), headers, include)
        (to / folder).parent.mkdir(parents=True, exist_ok=True)
        (to / f"{folder}.md").write_text(text, encoding="utf-8")
        pages.append(folder)
        total += count
    return pages, total


if __name__ == "__main__":
    check(pathlib.Path(sys.argv[1]))
    print("every room has its page")
