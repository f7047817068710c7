#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What all programs do alike: help, version, manual page, completion, JSON errors, and output files that are whole or not there.

    programs.py VERSION_HEADER PROGRAM...
"""
import fcntl
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def run(program, *arguments, **more):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=60, **more)


def check_texts(program, version):
    name = pathlib.Path(program).name
    done = run(program, "--help")
    longest = max(map(len, done.stdout.splitlines()), default=0)
    expect(done.returncode == 0 and longest <= 100, f"{name} --help: exit code {done.returncode}, {longest} columns")
    for part in ("usage: " + name, "--version", "\nExamples\n", "\nExit code\n"):
        expect(part in done.stdout, f"{name} --help: '{part}' is missing")
    expect(run(program, "-h").stdout == done.stdout, f"{name} -h is not --help")
    expect(run(program, "--version").stdout == f"{name} {version}\n", f"{name} --version: {run(program, '--version').stdout}")
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", done.stdout, re.M))
    expect(len(options) >= 8, f"{name} --help: only {len(options)} options")
    manual = run(program, "--man").stdout
    expect(manual.startswith(f".TH {name.replace('-', chr(92) + '-')} 1"), f"{name} --man: {manual[:80]}")
    for option in options:
        expect(option.replace("-", "\\-") in manual, f"{name} --man: {option} is missing")
    if shutil.which("man"):
        page = subprocess.run(["man", "--warnings", "-l", "-"], input=manual, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
        expect(page.stderr == "", f"{name} --man: {page.stderr}")
    for shell in ("bash", "zsh", "fish"):
        script = run(program, "--completion", shell).stdout
        for option in options:
            expect(option.removeprefix("--") in script, f"{name} --completion {shell}: {option} is missing")
        if shutil.which(shell):
            read = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
            expect(read.returncode == 0 and read.stderr == "", f"{name} --completion {shell}: {read.stderr}")
    done = subprocess.run(
        ["bash", "-c", 'eval "$("$0" --completion bash)"; COMP_WORDS=(x --ver); COMP_CWORD=1; '
         '$(complete -p ' + name + ' | sed "s/.*-F \\([^ ]*\\).*/\\1/"); echo "${COMPREPLY[@]}"', program],
        capture_output=True, text=True, check=False)
    expect("--version" in done.stdout.split(), f"{name}: bash completes --ver to '{done.stdout}' {done.stderr}")


def check_json(program, arguments, wanted):
    done = run(program, *arguments)
    name = pathlib.Path(program).name
    try:
        said = json.loads(done.stdout)
        expect(said["program"] == name and wanted in said["error"] and said["exit_code"] == 2 == done.returncode,
               f"{name} {arguments}: {said}")
    except (json.JSONDecodeError, KeyError) as error:
        expect(False, f"{name} {arguments}: no JSON object of an error: {error}: {done.stdout}")
    expect(done.stderr.count("\n") == 1 and wanted in done.stderr, f"{name} {arguments}: said {done.stderr}")


def full_pipe():
    """A pipe that takes nothing: who writes to it waits."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        while True:
            os.write(writer, bytes(4096))
    except BlockingIOError:
        fcntl.fcntl(writer, fcntl.F_SETFL, 0)
    return reader, writer


def check_signals(program, arguments, folder):
    """The report cannot be printed, so the program waits between writing its files and naming them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        reader, writer = full_pipe()
        process = subprocess.Popen([program, *arguments], cwd=folder, stdout=writer, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while not list(folder.glob("*.tmp")) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        expect(list(folder.glob("*.tmp")) != [], f"{program} {arguments}: no temporary file was seen")
        process.send_signal(number)
        expect(process.wait(30) == -number, f"{program}: {number.name} gives exit code {process.returncode}")
        expect(not list(folder.iterdir()), f"{program}: {number.name} leaves {list(folder.iterdir())}")
        os.close(reader)
        os.close(writer)


def check_files(program, arguments, option, folder):
    """Modes, links, and disks without room."""
    name, target = pathlib.Path(program).name, folder / "file"

    def write(path, **more):
        return run(program, *arguments, option, str(path), cwd=folder, **more)

    expect(write("file", preexec_fn=lambda: os.umask(0o027)).returncode == 0, f"{name}: {write('file').stderr}")
    expect(target.stat().st_mode & 0o777 == 0o640, f"{name}: a new file has mode {target.stat().st_mode:o}")
    content = target.read_bytes()
    target.write_bytes(b"old")
    target.chmod(0o600)
    no_room = write("file", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)), restore_signals=False)
    expect(no_room.returncode == 2 and "File too large" in no_room.stderr and no_room.stdout == "", f"{name}: no room: {no_room}")
    expect(target.read_bytes() == b"old", f"{name}: without room the old file is lost")
    expect(write("file").returncode == 0 and target.read_bytes() == content, f"{name}: an existing file is not replaced")
    expect(target.stat().st_mode & 0o777 == 0o600, f"{name}: mode 600 becomes {target.stat().st_mode:o}")
    (folder / "link").symlink_to("later")
    write("link")
    expect((folder / "link").is_symlink() and (folder / "later").read_bytes() == content, f"{name}: a link to no file is not followed")
    os.link(target, folder / "other")
    target.write_bytes(b"both")
    linked = write("file")
    expect(linked.returncode == 2 and "hard links" in linked.stderr and target.read_bytes() == b"both", f"{name}: hard links: {linked}")
    closed = subprocess.run(["bash", "-c", '"$@" >&-', "bash", program, *arguments, option, "closed"], cwd=folder, capture_output=True,
                            check=False)
    if option == "--out" and name != "tilewright-layout":
        expect(closed.returncode == 2 and not (folder / "closed").exists(), f"{name}: standard output is closed: {closed}")
    expect(write("/dev/full").returncode == 2, f"{name}: a full device")
    expect(not list(folder.glob("*.tmp")), f"{name}: left {list(folder.iterdir())}")


def main():
    header = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    version = ".".join(re.findall(r"#define TILEWRIGHT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
    programs = {pathlib.Path(p).name: os.path.abspath(p) for p in sys.argv[2:]}
    for program in programs.values():
        check_texts(program, version)
    gemm, attention, layout = (programs.get(name) for name in ("gemm", "attention", "tilewright-layout"))
    small = {gemm: ["--m", "8", "--n", "8", "--k", "8"], attention: ["--queries", "2", "--keys", "2"], layout: ["--read", "rows:16B"]}
    for program in filter(None, (gemm, attention)):
        check_json(program, ["--json", "--colour"], "there is no option --colour")
        check_json(program, ["--json", "--out", "/nowhere/x.npy", *small[program]], "cannot write")
        check_json(program, ["--json", "--out", "/dev/full", *small[program]], "No space left")
    if layout:
        check_json(layout, ["--format", "json"], "say with --write or --read")
        check_json(layout, ["--format=json", "--read", "rows:3B"], "a power of two")
    for program in filter(None, (gemm, attention, layout)):
        with tempfile.TemporaryDirectory() as name:
            if program != layout:
                check_signals(program, small[program] + ["--out", "file"], pathlib.Path(name))
            check_files(program, small[program], "--out", pathlib.Path(name))
    for failure in failures:
        print(failure)
    print(f"{len(programs)} programs: {len(failures)} failures")
    sys.exit(1 if failures or not programs else 0)


if __name__ == "__main__":
    main()
