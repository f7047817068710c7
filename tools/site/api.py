# SPDX-License-Identifier: MIT
"""The reference: what public headers declare, with its contracts, as Markdown pages; one for each room, and an index of all names.

    api.py ROOT              checks that every public name and member of the headers is in the pages
    entries_of(text)         what a header declares, for other programs (tools/figures.py makes tables of members with it)
"""
import html
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from check_contracts import TOKEN, TYPES, Reader, public_headers  # noqa: E402

QUALIFIERS = re.compile(r"\b(?:TILEWRIGHT_(?:HD|CALLS_ANYTHING|DEVICE|HOST|API)\b|\[\[nodiscard\]\]) ?")
# Compiled libraries, whose headers are not in rooms.
LIBRARIES = [("ops", "ops/include/tilewright", "one call for each operation, for hosts"),
             ("jit", "jit/include/tilewright", "kernels compiled at run time, for hosts")]


class Entry:
    """A declaration: names (several for `int a, b;`), its kind, text and contract, and members of a type."""

    def __init__(self, scope, line):
        self.scope, self.line, self.names, self.kind, self.text, self.contract, self.members = scope, line, [], "", "", "", []


def declarators_of(text):
    """(type, name, default) of each variable in `type a = 1, b{2}, c[3];`."""
    parts, depth = [""], 0
    for sign in " ".join(text.split()).rstrip(";"):
        depth += (sign in "([{<") - (sign in ")]}>")
        parts[-1] += sign if sign != "," or depth else ""
        if sign == "," and not depth:
            parts.append("")
    found, type_name = [], None
    for part in parts:
        declared, _, default = part.partition("=")
        name = re.match(r"(?P<type>.*?)(?P<name>\w+)\s*(?P<rest>(?:\[[^\]]*\]|\{.*\})?)\s*$", declared.strip())
        if not name:
            return []
        type_name = name["type"].strip() if type_name is None else type_name
        found.append((type_name, name["name"], default.strip() or name["rest"].strip("{}") * name["rest"].startswith("{")))
    return found


def scope_of(names):
    """["tilewright::arch", "inlineamdgcn", "s"] as ["tilewright", "arch", "amdgcn", "s"]."""
    return [re.sub(r"^inline(?=\w)", "", part) for name in names for part in name.split("::") if part]


class Recorder(Reader):
    """Keeps the text of the public declarations that its base class reads."""

    def __init__(self, text):
        super().__init__(text)
        self.text, self.offsets = text, [m.span() for m in TOKEN.finditer(text) if m.lastgroup != "skip"]
        self.entries, self.open, self.declared = [], [], None

    def contracts(self, begin, end):
        return [token[1] for token in self.tokens[begin:end] if token[0] == "contract"]

    def read_declaration(self, names, is_class, is_hidden):
        begin = self.at
        while self.tokens[begin][0] == "contract":
            begin += 1
        entry = Entry(scope_of(names), self.tokens[begin][2])
        above = [c for c in self.contracts(self.at, begin) if not c.startswith("///<")]
        first, self.declared = begin, None
        parents, self.open = self.open, self.open + [entry]
        super().read_declaration(names, is_class, is_hidden)
        self.open = parents
        if not self.declared or is_hidden or self.declared[1][0].startswith("__"):
            self.declared = None
            return
        entry.kind, entry.names, stop = self.declared
        self.declared = None
        after = [c for c in self.contracts(first, self.at) if c.startswith("///<")] if entry.kind in ("variable", "function") else []
        entry.contract = "\n".join(re.sub(r"^///<? ?", "", c) for c in above + after)
        entry.text = self.source(first, stop)
        if entry.kind == "variable":
            found = [name for _, name, _ in declarators_of(entry.text)]
            entry.names = found if set(entry.names) <= set(found) else entry.names  # the base class knows the last one
        if not entry.contract and entry.kind == "variable":  # members of the libraries have plain comments
            rest = self.text[self.offsets[stop - 1][1]:].split("\n", 1)[0]
            entry.contract = (re.match(r";?\s*// (.*)", rest) or [None, ""])[1]
        (parents[-1].members if is_class and parents else self.entries).append(entry)

    def source(self, first, stop):
        """The text of tokens from first to before stop, without qualifiers and comments, as it is indented."""
        start, end = self.offsets[first][0], self.offsets[stop - 1][1]
        indent = start - (self.text.rfind("\n", 0, start) + 1)
        lines = [re.sub(r"\s*//.*", "", line) for line in self.text[start:end].splitlines()]
        lines = [lines[0], *(line[indent:] if not line[:indent].strip() else line.strip() for line in lines[1:])]
        return QUALIFIERS.sub("", "\n".join(line for line in lines if line.strip()))

    def until(self, begin, *ends):
        """The first token from begin on that is one of these outside of brackets, or the current one."""
        depth = 0
        for at in range(begin, self.at):
            sign = self.tokens[at][1]
            if depth == 0 and sign in ends:
                return at
            depth += (sign in "([") - (sign in ")]") if len(sign) == 1 else 0
        return self.at

    def read_type(self, names, is_class, is_hidden):
        begin = self.at
        is_type = super().read_type(names, is_class, is_hidden)
        if is_type:
            text = " ".join(token[1] for token in self.tokens[begin:self.until(begin, "{", ";", ":")])
            name = re.match(r"(?:enum (?:class |struct )?|struct |class |union )(?:\[ \[.*?\] \] |alignas \( .*? \) )*(\w+)", text)
            is_enum = self.tokens[begin][1] == "enum"
            defined = self.tokens[self.until(begin, "{", ";")][1] == "{"
            self.declared = ("enum" if is_enum else "type", [name[1]], self.at - 1 if is_enum else self.until(begin, "{", ";")) if name and defined else None
        return is_type

    def read_declarator(self):
        begin = self.at
        name, is_function, needs = super().read_declarator()
        stop = self.until(begin, "{", ";", ":") if is_function else self.until(begin, ";")
        if needs:
            self.declared = ("function" if is_function else "variable", [name, *self.more], stop)
        return name, is_function, needs

    def skip_to(self, *ends):
        begin, before = self.at, self.tokens[self.at - 1][1] if self.at else ""
        super().skip_to(*ends)
        if before in ("using", "concept") and ends == (";",) and self.tokens[begin][1] != "namespace":
            qualified = self.tokens[begin + 1][1] == "::"  # using a::b: the name is the last one
            name = self.tokens[self.at - 1 if qualified else begin][1]
            is_inherited = qualified and self.tokens[self.at - 3][1] == name  # the constructors of a base
            self.declared = None if is_inherited else ("alias" if before == "using" else "concept", [name], self.at)


def entries_of(text):
    reader = Recorder(text)
    reader.read_scope([], False, True, False)
    return reader.entries


def as_markdown(contract):
    """Prose of a contract; lines that are indented keep their form."""
    blocks, code = [], False
    for line in contract.splitlines():
        if line.startswith("  ") != code:
            blocks.append("```" if code else "\n```text")
            code = not code
        blocks.append(line if code else escape(line))
    return "\n".join(blocks + ["```"] * code)


def escape(line):
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(p if p.startswith("`") else re.sub(r"([*_|])", r"\\\1", html.escape(p, quote=False)) for p in parts)


def in_a_cell(contract):
    return " ".join(escape(" ".join(contract.split())).split())


def member_rows(entry):
    for member in entry.members:
        yield ", ".join(f"`{n}`" for n in member.names), " ".join(member.text.split()), in_a_cell(member.contract)


def members_table(entry):
    lines = ["| member | declaration | |", "|---|---|---|"]
    for names, text, contract in member_rows(entry):
        shown = text.replace("|", "\\|")
        lines.append(f"| {names} | `` {shown} `` | {contract} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def type_and_defaults(member):
    """Of `int a = 1, b = 1;`: ("int", "1"); defaults that differ are listed."""
    found = declarators_of(member.text)
    defaults = [default for _, _, default in found]
    return found[0][0], defaults[0] if len(set(defaults)) == 1 else ", ".join(d or "-" for d in defaults)


def arguments_table(source, struct):
    """The members of a struct of arguments as a table for a page: name, type, default, contract."""
    entry = next(e for e in entries_of(source) if e.kind == "type" and e.names == [struct])
    lines = ["| member | type | default | |", "|---|---|---|---|"]
    for member in entry.members:
        if member.kind == "variable":
            type_name, default = type_and_defaults(member)
            shown = ", ".join(f"`{n}`" for n in member.names)
            lines.append(f"| {shown} | `{type_name}` | {f'`{default}`' if default else ''} | {in_a_cell(member.contract)} |")
    return "\n".join(lines) + "\n"


class Page:
    def __init__(self, title, purpose):
        self.text, self.anchors, self.index = [f"# {title}\n", f"{purpose}\n" if purpose else ""], set(), []

    def anchor_of(self, name):
        base = re.sub(r"\W+", "-", name).strip("-").lower() or "operator"
        anchor, number = base, 1
        while anchor in self.anchors:
            number += 1
            anchor = f"{base}-{number}"
        self.anchors.add(anchor)
        return anchor

    def add_header(self, title, comment, entries):
        self.text.append(f"## {title} {{ #{self.anchor_of('header ' + title)} }}\n\n{escape(comment)}\n")
        groups = []  # overloads next to each other share a heading
        for entry in entries:
            if groups and entry.kind == "function" and groups[-1][0].kind == "function" and groups[-1][0].names == entry.names:
                groups[-1].append(entry)
            else:
                groups.append([entry])
        for group in groups:
            self.add(group)

    def add(self, group):
        names, scope = group[0].names, [s for s in group[0].scope if s != "tilewright"]
        anchor = self.anchor_of("-".join([*scope, names[0]]))
        full = ", ".join("::".join([*scope, n]) for n in names)
        self.index += [("::".join([*scope, n]), anchor, group[0].kind) for n in names]
        for entry in group:
            self.index += [("::".join([*scope, names[0], n]), anchor, "member") for m in entry.members for n in m.names]
        # Within a word "_" needs no escape, and an escaped one would reach titles of the search as control characters.
        heading = escape(full).replace(r"\_", "_")
        self.text.append(f"### {heading} {{ #{anchor} }}\n")
        for entry in group:
            self.text.append(f"```cpp\n{entry.text}\n```\n\n{as_markdown(entry.contract)}\n\n{members_table(entry)}")


def comment_of(source):
    lines = []
    for line in source.splitlines()[1:]:
        if not line.startswith("// "):
            break
        lines.append(line[3:])
    return " ".join(lines)


def rooms(root):
    """(folder of headers, name, purpose) in the order of docs/architecture.md, then the libraries."""
    table = re.findall(r"^\| (`[\w/]+`) \| (.*) \|$", (root / "docs/architecture.md").read_text(encoding="utf-8"), re.M)
    include = root / "include/tilewright"
    found = [(include, folder, purpose) for names, purpose in table for folder in re.findall(r"`([\w/]+)`", names)]
    return found + [(root / path, name, purpose) for name, path, purpose in LIBRARIES]


def pages_of(root):
    """(name, Page) of each room that has headers."""
    for base, name, purpose in rooms(root):
        folder = base / name if (base / name).is_dir() else base
        headers = [h for h in public_headers(base) if h.is_relative_to(folder)]
        page = Page(name, escape(purpose))
        for header in headers:
            source = header.read_text(encoding="utf-8")
            page.add_header(str(header.relative_to(base)), comment_of(source), entries_of(source))
        if headers:
            yield name, page


def index_page(pages):
    """All names, each with a link to its entry."""
    names = sorted({(name, room, anchor, kind) for room, page in pages for name, anchor, kind in page.index if kind != "member"},
                   key=lambda n: (n[0].split("::")[-1].lower(), n))
    lines = ["# Index of names\n", f"{len(names)} public names of the headers; members are with their types. The search finds both.\n"]
    letter = None
    for name, room, anchor, kind in names:
        short = name.split("::")[-1]
        if short[0].upper() != letter:
            letter = short[0].upper()
            lines.append(f"\n## {escape(letter)}\n")
        lines.append(f"* [{escape(short)}]({room}.md#{anchor}) {kind} in `{room}`" + (f", `{name}`" if name != short else ""))
    return "\n".join(lines) + "\n"


def write_pages(root, to):
    """Writes a page for each room and the index; (names of the pages in order, how many entries, all names with members)."""
    pages = list(pages_of(root))
    for name, page in pages:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / f"{name}.md").write_text("\n".join(page.text), encoding="utf-8")
    (to / "index.md").write_text(index_page(pages), encoding="utf-8")
    names = sorted({name for _, page in pages for name, _, _ in page.index})
    return [name for name, _ in pages], sum(len(page.index) for _, page in pages), names


def check(root):
    """Everything that check_contracts.py counts is in the pages, under its own name; else an AssertionError."""
    missing, count = [], 0
    for base, name, _ in rooms(root):
        folder = base / name if (base / name).is_dir() else base
        for header in [h for h in public_headers(base) if h.is_relative_to(folder)]:
            source = header.read_text(encoding="utf-8")
            reader = Reader(source)
            reader.read_scope([], False, True, False)
            known = set()

            def note(entries):
                for entry in entries:
                    known.update((tuple(s for s in entry.scope if s), n) for n in entry.names)
                    note(entry.members)
            note(entries_of(source))
            wanted = {(tuple(scope_of(names[:-1])), names[-1]) for _, names, _ in reader.found if not names[-1].startswith("__")}
            count += len(wanted)
            missing += [f"{header.relative_to(root)}: {'::'.join([*scope, n])}" for scope, n in sorted(wanted - known)]
            declared = set(re.findall(r"\b(?:struct|class|enum class)\s+(\w+)(?:\s*:\s*[\w ]+)?\s*;", source))  # and defined elsewhere, or only a name in a message
            declared |= set(re.findall(r"\busing\s+(\w+)::", source))  # the base class takes the first word
            missing += [f"{header.relative_to(root)}: {n}" for n in sorted(reader.names - declared - {n for _, n in known}) if not n.startswith("__")]
    assert not missing, "not in the reference:\n" + "\n".join(missing)
    launch = entries_of((root / "include/tilewright/launch/launch_on_cpu.hpp").read_text(encoding="utf-8"))
    options = next(e for e in launch if e.names == ["launch_options"])
    assert {"emulate", "workers", "check_lds"} <= {n for m in options.members for n in m.names}, "launch_options has lost members"
    assert all(m.contract for m in options.members), "a member of launch_options has lost its contract"
    return count


if __name__ == "__main__":
    print(f"{check(pathlib.Path(sys.argv[1]))} declarations are in the reference")
