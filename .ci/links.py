"""Whether the built documentation holds together: every link leads to a page and a place in it, every picture has a text.

    python .ci/links.py docs/_build/html

Needs nothing beside the standard library, and no network: links to elsewhere are counted, not followed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HOLLOW = {"genindex.html", "search.html", "py-modindex.html"}
"""Pages that Sphinx makes itself."""


@dataclass
class Page(HTMLParser):
    """What one page has: places, links, and what is wrong with it alone."""

    places: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    heads: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note places, links and faults of a tag."""
        given = dict(attrs)
        self.places |= {str(given[name]) for name in ("id", "name") if given.get(name)}
        self.links += [str(given[name]) for name in ("href", "src") if given.get(name)]
        self.heads += tag == "h1"
        if tag == "html" and not given.get("lang"):
            self.faults.append("its language is not named")
        if tag == "img" and "alt" not in given:
            self.faults.append(f"picture {given.get('src')} has no text")

    handle_startendtag = handle_starttag


def read(place: Path) -> Page:
    """Read one page."""
    page = Page()
    page.feed(place.read_text(encoding="utf-8"))
    return page


def faults(root: Path) -> tuple[list[str], int, int]:
    """What is wrong in a folder of pages, the number of links that were followed, and of those to elsewhere."""
    pages = {place: read(place) for place in sorted(root.rglob("*.html")) if "_static" not in place.parts}
    found, followed, elsewhere = [], 0, 0
    for place, page in pages.items():
        name = place.relative_to(root).as_posix()
        found += [f"{name}: {fault}" for fault in page.faults]
        if page.heads != 1 and name not in HOLLOW:
            found.append(f"{name}: {page.heads} headings of the first rank")
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                elsewhere += 1
                continue
            followed += 1
            target = (place.parent / unquote(parts.path)).resolve() if parts.path else place
            if not target.exists():
                found.append(f"{name}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{name}: {link} has no such place")
    return sorted(set(found)), followed, elsewhere


def main(folder: str) -> None:
    """Check a folder, and leave with an error where something is wrong."""
    root = Path(folder).resolve()
    found, followed, elsewhere = faults(root)
    if not followed:
        raise SystemExit(f"{folder} has no links")
    if found:
        raise SystemExit("\n".join(found))
    sys.stdout.write(f"{followed} links lead somewhere; {elsewhere} lead elsewhere and were not followed\n")


if __name__ == "__main__":
    main(sys.argv[1])
