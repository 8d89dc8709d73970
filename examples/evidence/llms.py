"""Plain list of the pages of the documentation with their first sentences, for readers that are programs.

python -m examples.evidence.llms --output docs/llms.txt
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from examples.records import write

DOCS = Path(__file__).parents[2] / "docs"
PROGRAM = "python -m examples.evidence.llms"


def summary(page: str) -> tuple[str, str]:
    r"""Title and first sentence of a page.

    >>> summary("# Certify\n\nIs it good\nenough? A table does not say.\n")
    ('Certify', 'Is it good enough?')
    """
    title = re.search(r"^# (.+)$", page, re.MULTILINE)
    body = page[title.end() :] if title else page
    paragraph = next((part for part in body.split("\n\n") if re.match(r"(?!```)[A-Za-z`\[*]", part.strip())), "")
    plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(paragraph.split()))
    return (title[1] if title else ""), re.split(r"(?<=[.?!:])\s", plain)[0]


def text() -> str:
    """All pages by folder, one line each."""
    lines = ["# bayesgroups", "", "> Bayesian and frequentist disaggregated evaluation of AI systems per subgroup.", ""]
    pages = [path for path in DOCS.rglob("*.md") if not {"_build", "generated", "gallery"} & set(path.parts)]
    for path in sorted(pages, key=lambda path: path.relative_to(DOCS).as_posix()):
        title, sentence = summary(path.read_text(encoding="utf-8"))
        lines.append(f"- [{title}]({path.relative_to(DOCS).as_posix()}): {sentence}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Plain list of the pages.")
    parser.add_argument("--output", type=Path, required=True, help="text file to write")
    write(parser.parse_args(arguments).output, text())


if __name__ == "__main__":
    main()
