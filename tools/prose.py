# SPDX-License-Identifier: MIT
"""Rules for the text of README.md and docs/*.md (user pages): check_docs.py applies them.

* a sentence has at most 35 words;
* no word of the list in CONTRIBUTING.md;
* headings of a page differ;
* a page of kernels has the headings of its template;
* README.md has at most 1,200 words and 15 figures of measurements, docs/*.md and docs/tutorials together 65,000 words.
"""
import re

MOST_WORDS, README_WORDS, README_FIGURES, DOCS_WORDS = 35, 1200, 15, 65000
TEMPLATE = ("Call", "Arguments", "Determinism", "Errors", "Example", "Limits", "Performance")
# Which pages document the kernels of each folder of include/tilewright/kernels.
KERNEL_PAGES = {
    "attention": ["attention.md"],
    "gemm": ["products.md", "grouped.md", "moe.md", "narrow_types.md"],
    "parallel": ["parallel.md"],
    "routing": ["model_kernels.md"],
    "rows": ["rows.md", "model_kernels.md"],
    "tensor": ["rows.md"],
}
CODE = re.compile(r"^(?:```.*?^```$|<!-- output of .*?^<!-- end of output -->$|<!-- table .*?^<!-- end of table -->$|<!-- members of .*?^<!-- end of members -->$)", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"(?:<!-- table \S+ -->|<!-- figure \S+ -->)(.*?)(?=<!-- end)", re.DOTALL)
HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)
REFUSED = re.compile(r"<!-- refused words -->\n(.*?)\n<!-- end of refused words -->", re.DOTALL)
END = re.compile(r"(?<=[.!?:;])[)\]\"*_]*\s+(?=[\"(*_`\[]*[A-Z0-9`\[])|\n\n")


def prose_of(text):
    """The text without code blocks, generated parts, comments and targets of links; code in a line is one word."""
    text = CODE.sub("\n\n", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`+[^`\n]*(?:\n[^`\n]+)?`+", "`x`", text)


def sentences_of(text):
    """Sentences of paragraphs, list items, table cells and headings."""
    for block in re.split(r"\n\n+|\n(?=\s*(?:[*-]|\d+\.) )|\n(?=[|#])", prose_of(text)):
        for cell in block.split("|") if block.lstrip().startswith("|") else [block]:
            yield from (" ".join(s.split()) for s in END.split(cell) if s and s.strip())


def words_in(text):
    return re.findall(r"[^\s]*\w[^\s]*", text)


def long_sentences(text):
    for sentence in sentences_of(text):
        count = len(words_in(sentence))
        if count > MOST_WORDS:
            yield f"a sentence of {count} words (most: {MOST_WORDS}): '{sentence[:90]} ...'"


def refused_words(contributing):
    found = REFUSED.search(contributing)
    return [w.strip() for w in found[1].replace("\n", " ").split(",")] if found else []


def private_words(text, refused):
    prose = " ".join(prose_of(text).split())
    for word in refused:
        found = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", prose, re.IGNORECASE)
        if found:
            yield f"'{word}' in '{prose[max(0, found.start() - 30):found.end() + 30]}': CONTRIBUTING.md has the word to write"


def equal_headings(text):
    seen = set()
    for _, heading in HEADING.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        if heading.lower() in seen:
            yield f"two headings are '{heading}': a link to the second leads to the first"
        seen.add(heading.lower())


def missing_template(text):
    found = [heading for level, heading in HEADING.findall(text) if level == "##"]
    places = [found.index(h) if h in found else None for h in TEMPLATE]
    for heading, place in zip(TEMPLATE, places):
        if place is None:
            yield f"a page of kernels has a section '## {heading}'"
    known = [p for p in places if p is not None]
    if known != sorted(known):
        yield f"the sections of a page of kernels are in this order: {', '.join(TEMPLATE)}"


def undocumented_kernels(root):
    folder = root / "include/tilewright/kernels"
    for room in sorted(p.name for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []:
        if room not in KERNEL_PAGES:
            yield f"include/tilewright/kernels/{room} has no page in KERNEL_PAGES of tools/prose.py"


def user_pages(root):
    return [root / "README.md", *sorted((root / "docs").glob("*.md")), *sorted((root / "docs/tutorials").glob("*.md"))]


def is_user_page(root, path):
    return path == root / "README.md" or path.parent in (root / "docs", root / "docs/tutorials")


def problems_of_page(root, path, text, refused):
    yield from equal_headings(text)
    if not is_user_page(root, path):
        return
    yield from long_sentences(text)
    yield from private_words(text, refused)
    if path.parent == root / "docs" and any(path.name in pages for pages in KERNEL_PAGES.values()):
        yield from missing_template(text)


def problems_of_lengths(root):
    """Totals over pages, of words as wc counts them."""
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    count = len(CODE.sub("", text).split())
    if count > README_WORDS:
        yield f"README.md: {count} words outside of code (most: {README_WORDS})"
    shown = "\n".join(GENERATED.findall(text))
    count = len(re.findall(r"(?<![\w.,])\d[\d.]*(?![\w,])", "".join(line.split("|", 3)[-1] for line in shown.splitlines(keepends=True))))
    if count > README_FIGURES:
        yield f"README.md: {count} figures (most: {README_FIGURES})"
    total = sum(len(p.read_text(encoding="utf-8").split()) for p in user_pages(root)[1:])
    if total > DOCS_WORDS:
        yield f"docs/*.md, docs/tutorials: {total} words (most: {DOCS_WORDS}); accounts of attempts belong in docs/lab"
