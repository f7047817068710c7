#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the site that build.py made: check.py FOLDER [--quick] [--pictures TO]

Every link of every page leads to a page and a heading of the site. The search finds every public name in the reference. With Chromium and without
--quick, pages of 360, 800 and 1,400 pixels do not scroll sideways, no page has an error in its console, and the page that runs tilewright-layout
(if it was built) says what it should; --pictures writes screenshots, light and dark.
"""
import contextlib
import functools
import html.parser
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.names.update(filter(None, (found.get("id"), found.get("name") if tag == "a" else None)))
        link = found.get("href" if tag in ("a", "link") else "src" if tag in ("img", "script") else "")
        if link:
            self.links.append(link)


def broken_links(folder):
    pages = {file.relative_to(folder).as_posix(): Page(file.read_text(encoding="utf-8")) for file in folder.rglob("*.html")}
    for name, page in pages.items():
        if name == "404.html":
            continue
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            target = (folder / pathlib.PurePosixPath(name).parent / path).resolve() if path else folder / name
            if target.is_dir():
                target /= "index.html"
            relative = target.relative_to(folder.resolve()).as_posix() if target.is_relative_to(folder.resolve()) else None
            if not target.is_file():
                yield f"{name}: {link} leads nowhere"
            elif anchor and relative in pages and anchor not in pages[relative].names:
                yield f"{name}: {link}: there is no such heading"


def unfound_names(folder):
    """Public names, members among them, that the search does not find on a page of the reference."""
    wanted = json.loads((folder.parent / "names.json").read_text(encoding="utf-8"))
    index = json.loads((folder / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    found = set()
    for entry in index:
        if entry["location"].startswith("api/"):
            found.update(re.findall(r"[~\w]+", entry["title"] + " " + entry["text"]))
    for name in wanted:
        short = name.split("::")[-1]
        if not short.startswith("operator") and short not in found:
            yield f"the search does not find {name}"


MEASURE = """<!doctype html><body><script>
const frame = document.createElement('iframe'), lines = [];
frame.style.height = '800px';
document.body.append(frame);
(async () => {
  for (const width of [360, 800, 1400]) {
    frame.style.width = width + 'px';
    for (const page of PAGES) {
      await new Promise((done) => { frame.onload = done; frame.src = page; });
      const root = frame.contentDocument.documentElement;
      if (root.scrollWidth > root.clientWidth) lines.push(page + ' scrolls sideways at ' + width + ' pixels: ' + root.scrollWidth);
    }
  }
  frame.onload = null;
  frame.src = HAS_PLAY ? 'play.html' : 'about:blank';
  for (let i = 0; HAS_PLAY && i < 200 && !frame.contentDocument?.getElementById('play')?.dataset.code; ++i) await new Promise((r) => setTimeout(r, 50));
  const said = !HAS_PLAY ? 'No conflicts.' : frame.contentDocument.getElementById('play-verdict')?.textContent;
  if (said !== 'No conflicts.') lines.push('play.html says: ' + said);
  const pre = document.createElement('pre');
  pre.id = 'result';
  pre.textContent = 'RESULT\\n' + lines.join('\\n') + '\\nEND';
  document.body.append(pre);
})();
</script>"""


def chromium(*arguments, timeout=300):
    """(what it prints, errors of the pages' consoles)"""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
                               f"--user-data-dir={home}", *arguments], capture_output=True, text=True, check=False, timeout=timeout)
    return done.stdout, re.findall(r"CONSOLE.*?\"(Uncaught .*?)\", source", done.stderr)


class Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm"}

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path != "/measure":
            with contextlib.suppress(ConnectionError):  # the page was left before it was loaded
                super().do_GET()
            return
        pages = sorted(file.relative_to(self.directory).as_posix() for file in pathlib.Path(self.directory).rglob("*.html"))
        has_play = "true" if (pathlib.Path(self.directory) / "play.html").is_file() else "false"
        body = MEASURE.replace("HAS_PLAY", has_play).replace("PAGES", str([p for p in pages if not p.startswith(("source/", "404"))])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)


def measured(address):
    """What Chromium finds on the pages."""
    try:
        printed, errors = chromium("--virtual-time-budget=120000", "--dump-dom", address + "measure")
    except subprocess.TimeoutExpired as late:
        return [f"Chromium did not measure the pages within {late.timeout:.0f} s"]
    result = re.search(r"RESULT\n(.*?)\n?END", printed, re.S)
    return errors + (list(filter(None, result[1].splitlines())) if result else ["Chromium measured nothing"])


def main():
    folder = pathlib.Path(sys.argv[1])
    failures = [*broken_links(folder), *unfound_names(folder)]
    looked = "not looked at by a browser"
    if "--quick" not in sys.argv and shutil.which("chromium"):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        failures += measured(address)
        looked = "looked at by Chromium"
        if "--pictures" in sys.argv:
            to = pathlib.Path(sys.argv[sys.argv.index("--pictures") + 1])
            to.mkdir(parents=True, exist_ok=True)
            for page in ("index", "play", "docs/start", "docs/gallery/README", "api/tile"):
                for width, scheme in ((1280, "light"), (400, "dark")):
                    chromium(*(["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []), f"--window-size={width},1400", "--virtual-time-budget=8000",
                             f"--screenshot={(to / page.replace('/', '_')).resolve()}_{width}_{scheme}.png", address + page + ".html")
        server.shutdown()
    for failure in failures:
        print(failure)
    print(f"{len(list(folder.rglob('*.html')))} pages, {looked}: {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
