#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the site of the documents: build.py ROOT TO [--quick]

Pages are README.md, CONTRIBUTING.md, CHANGELOG.md and docs/**/*.md, the reference (api.py), the files of the tree that the pages
link to, and a page that runs tilewright-layout in the browser. Needs mkdocs and its theme material (Debian: mkdocs-material); for the
last page, which --quick leaves out, clang 22 with the libraries for WebAssembly (libc++-22-dev-wasm32, libclang-rt-22-dev-wasm32, wasi-libc).
"""
import concurrent.futures
import json
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import api  # noqa: E402  (lies next to this file)

LINK = re.compile(r"(!?\[(?:[^\[\]]|!?\[[^\]]*\]\([^)]*\))*\]\()([^)\s]+)(\))")
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".hip": "cpp", ".cu": "cpp", ".py": "python", ".cmake": "cmake", ".sh": "bash", ".json": "json"}


class Site:
    def __init__(self, root, to):
        self.root, self.to, self.pages = root, to, to / "pages"
        self.sources = set()

    def target_of(self, page, link):
        """Where a link of a page leads on the site."""
        if re.match(r"\w+:|#", link):
            return link
        path, hash_sign, anchor = link.partition("#")
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        file = self.root / whole
        back = posixpath.relpath(".", posixpath.dirname(page) or ".")
        if whole == "README.md":
            return posixpath.join(back, "index.md") + hash_sign + anchor
        is_page = whole.endswith(".md") and (whole.startswith("docs/") or "/" not in whole)
        if is_page or whole.endswith((".svg", ".png")) or not file.exists():
            return link
        self.sources.add(whole)
        return posixpath.join(back, "source", whole + ".md")

    def convert(self, page, text):
        text = LINK.sub(lambda m: m[1] + self.target_of(page, m[2]) + m[3], text)
        # A picture that is a link: its outer address comes after the inner one.
        lines, in_code, result = text.splitlines(), False, []
        for line in lines:
            if line.startswith("```"):
                in_code = not in_code
            starts_list = re.match(r"(\*|-|\d+\.) ", line)
            # Markdown's own rules want a blank line before a list; GitHub does not.
            if starts_list and not in_code and result and result[-1].strip() and not re.match(r"(\*|-|\d+\.|  )", result[-1]):
                result.append("")
            result.append(line)
        return "\n".join(result) + "\n"

    def write(self, page, text):
        file = self.pages / page
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def documents(self):
        for file in [self.root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted((self.root / "docs").rglob("*.md")):
            page = str(file.relative_to(self.root))
            self.write("index.md" if page == "README.md" else page, self.convert(page, file.read_text(encoding="utf-8")))
        for file in (self.root / "docs").rglob("*.svg"):
            to = self.pages / file.relative_to(self.root)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, to)

    def linked_files(self):
        for path in sorted(self.sources):
            file = self.root / path
            if file.is_dir():
                text = "".join(f"* `{f.relative_to(self.root)}`\n" for f in sorted(file.rglob("*")) if f.is_file())
            else:
                text = f"````{LANGUAGES.get(file.suffix, 'text')}\n{file.read_text(encoding='utf-8')}````\n"
            # Files of the tree are for reading: the search is for the documents.
            self.write(f"source/{path}.md", f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n{text}")


def wasm_sources(root):
    tools = root / "tools"
    return ([tools / "program" / f"{name}.cpp" for name in ("command_line", "completion", "help", "json", "run", "text")] +
            sorted((tools / "viz").glob("*.cpp")) + sorted((tools / "tilewright-layout").glob("*.cpp")) + [tools / "site/wasm.cpp"])


def compile_wasm(root, objects, module):
    """tilewright-layout for the browser; what is newer than its source is kept. Returns whether it could be compiled."""
    compiler = shutil.which("clang++-22")
    if not compiler or not pathlib.Path("/usr/include/wasm32-wasi").is_dir():
        return False
    objects.mkdir(parents=True, exist_ok=True)
    tools = root / "tools"
    # Nothing catches an exception there: see wasm.cpp.
    flags = ["--target=wasm32-wasi", "-Wno-deprecated", "-std=c++20", "-Oz", "-DNDEBUG", "-fignore-exceptions", "-I", root / "include", "-I",
             tools / "viz/include"]
    newest = max(f.stat().st_mtime for folder in ("include", "tools/program", "tools/viz", "tools/tilewright-layout")
                 for f in (root / folder).rglob("*.hpp"))

    def compile_one(source):
        file = objects / f"{source.parent.name}-{source.stem}.o"
        if not file.exists() or file.stat().st_mtime < max(newest, source.stat().st_mtime):
            subprocess.run([compiler, *flags, "-c", source, "-o", file], check=True)
        return file
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        files = list(pool.map(compile_one, wasm_sources(root)))
    module.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "--target=wasm32-wasi", "-Wno-deprecated", *files, "-lc++abi", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576",
                    "-o", module], check=True)
    return True


def navigation(root, rooms, has_wasm):
    """The table of documents in README.md, the rooms, the rest."""
    readme = (root / "README.md").read_text(encoding="utf-8").split("## Documents")[-1]
    nav, seen = [{"Tilewright": "index.md"}], set()
    for heading, cells in re.findall(r"^\| ([\w ]+) \| (.*) \|$", readme, re.M):
        entries = []
        for title, link in re.findall(r"\[([^\]]*)\]\(([^)#]*\.md)\)", cells):
            if link not in seen:
                entries.append({title[0].upper() + title[1:]: link})
                seen.add(link)
        nav.append({heading[0].upper() + heading[1:]: entries})
    if has_wasm:
        nav.insert(2, {"Layouts in the browser": "play.md"})
    nav.insert(3, {"Reference": [{"Index of names": "api/index.md"}, *({room: f"api/{room}.md"} for room in rooms)]})
    rest = [str(f.relative_to(root)) for f in sorted((root / "docs").rglob("*.md")) if str(f.relative_to(root)) not in seen]
    nav.append({"Other pages": [{"Changes": "CHANGELOG.md"}, *rest]})
    return nav


def version_of(root):
    numbers = re.findall(r"define TILEWRIGHT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (root / "include/tilewright/version.hpp").read_text(encoding="utf-8"))
    return ".".join(numbers)


def configuration(nav, version):
    # JSON is YAML; only the function that makes anchors as GitHub does needs YAML's own words.
    config = {
        "site_name": f"Tilewright {version}".strip(), "docs_dir": "pages", "site_dir": "html", "use_directory_urls": False, "nav": nav,
        "theme": {
            "name": "material", "font": False, "features": ["navigation.top", "navigation.indexes", "search.highlight"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "blue grey",
                 "toggle": {"icon": "material/weather-night", "name": "Dark"}},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "blue grey",
                 "toggle": {"icon": "material/weather-sunny", "name": "Light"}}]},
        "plugins": ["search"], "extra_css": ["assets/site.css"],
    }
    extensions = ("markdown_extensions:\n  - tables\n  - attr_list\n  - md_in_html\n  - pymdownx.superfences\n  - pymdownx.highlight\n"
                  "  - toc:\n      permalink: true\n      slugify: !!python/name:pymdownx.slugs.gfm\n")
    return "\n".join(f"{key}: {json.dumps(value)}" for key, value in config.items()) + "\n" + extensions


def main():
    root, to = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    site = Site(root, to)
    shutil.rmtree(site.pages, ignore_errors=True)
    site.documents()
    site.linked_files()
    rooms, entries, names = api.write_pages(root, site.pages / "api")
    (to / "names.json").write_text(json.dumps(names), encoding="utf-8")  # what check.py looks for in the search
    assets = site.pages / "assets"
    assets.mkdir()
    here = pathlib.Path(__file__).parent
    shutil.copy(here / "site.css", assets)
    has_wasm = "--quick" not in sys.argv and compile_wasm(root, to / "wasm", assets / "layout.wasm")
    if has_wasm:
        shutil.copy(here / "play.js", assets)
        shutil.copy(here / "play.md", site.pages)
    (to / "mkdocs.yml").write_text(configuration(navigation(root, rooms, has_wasm), version_of(root)), encoding="utf-8")
    subprocess.run(["mkdocs", "build", "--quiet", "--config-file", to / "mkdocs.yml"], check=True)
    print(f"{to / 'html/index.html'}: {len(list(site.pages.rglob('*.md')))} pages, {entries} names in the reference"
          + ("" if has_wasm else "; without layouts in the browser"))


if __name__ == "__main__":
    main()
