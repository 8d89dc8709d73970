"""Do what pages say, as a new user would: in an empty folder, with nothing but the installed package.

    python .ci/tutorial.py README.md docs/tutorials/first-report.md

Per page, in order: blocks of Python in one namespace, answers compared where a block shows them, and in blocks of ``sh`` the
commands that start with ``bayesgroups`` or ``python``, as processes of their own. Needs nothing beside the standard library.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def follow(page: Path) -> tuple[int, int]:
    """Run every block of a page in the working folder; the numbers of Python blocks and of commands that ran."""
    text, blocks, commands = page.read_text(encoding="utf-8"), 0, 0
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for found in FENCE.finditer(text):
        code, line = found["code"], text.count("\n", 0, found.start("code"))
        if found["language"] == "python":
            _python(code, line, page.name, namespace)
            blocks += 1
        elif found["language"] == "sh":
            commands += sum(_command(words) for words in _commands(code))
    return blocks, commands


def _python(code: str, line: int, name: str, namespace: dict[str, Any]) -> None:
    if ">>> " not in code:
        exec(compile("\n" * line + code, name, "exec"), namespace)  # our own pages, nothing else
        return
    test = doctest.DocTestParser().get_doctest(code, namespace, name, name, line)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test, clear_globs=False)
    namespace.update(test.globs)
    if runner.failures:
        raise SystemExit(f"{name}, line {line}: the answers are not those that the page shows")


def _commands(code: str) -> list[list[str]]:
    lines = code.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith(("bayesgroups ", "python -c "))]


def _command(words: list[str]) -> int:
    beside = Path(sys.executable)
    program = {"python": beside, "bayesgroups": beside.with_name("bayesgroups")}[words[0]]
    done = subprocess.run([str(program), *words[1:]], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return 1


def main(pages: list[str]) -> None:
    """Follow each page in a new empty folder."""
    os.environ["MPLBACKEND"] = "agg"
    for page in [Path(name).resolve() for name in pages]:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            before = Path.cwd()
            os.chdir(folder)
            try:
                blocks, commands = follow(page)
                written = sorted(place.name for place in Path(folder).iterdir())
            finally:
                os.chdir(before)
        if not blocks:
            raise SystemExit(f"{page.name} has no block of Python")
        took = time.perf_counter() - start
        sys.stdout.write(
            f"{page.name}: {blocks} blocks, {commands} commands, {took:.0f} s; wrote {', '.join(written)}\n"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
