"""Build the book: run every block of every page, put pictures below the code that drew them, write a site that works offline.

`make book`, or `python docs/book/build.py --out build/book`. The contents of index.md are the order of the pages. Blocks with prompts are
doctests and must give what they show; other blocks are run, what they print is shown, and so is what they draw. All blocks of a page share
one namespace. A block that fails, an answer that differs or a link to nowhere fails the build.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import html
import io
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer, PythonLexer

HERE = Path(__file__).parent
BOXES = ("Definition", "Theorem", "Exercise", "Warning")  # a blockquote that begins with one of these, in bold, is a box
INK = "#0b1c2d"  # of book.mplstyle: replaced by currentColor, so that pictures follow light and dark
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Broken(Exception):
    """A page that does not do what it says."""


@dataclass
class Page:
    """One page: where it is, what it is called, its tokens, and what running it gave."""

    path: Path
    tokens: list[Token]
    ran: int = 0
    pictures: int = 0
    boxes: list[str] = field(default_factory=list)
    below: dict[int, str] = field(default_factory=dict)  # what a block printed and drew, by the place of its token

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def title(self) -> str:
        heading = next((i for i, token in enumerate(self.tokens) if token.type == "heading_open" and token.tag == "h1"), None)
        if heading is None:
            raise Broken(f"{self.path.name}: no title")
        return self.tokens[heading + 1].content


def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True, "typographer": True}).enable(["table", "smartquotes"])


def read(path: Path) -> Page:
    """Read a page, and mark its boxes."""
    page = Page(path, _markdown().parse(path.read_text(encoding="utf-8")))
    for i, token in enumerate(page.tokens):
        if token.type == "blockquote_open":
            first = page.tokens[i + 2].content
            kind = next((box for box in BOXES if first.startswith(f"**{box}")), None)
            if kind:
                token.attrSet("class", kind.lower())
                page.boxes.append(kind)
    return page


def contents(folder: Path) -> list[tuple[str, list[str]]]:
    """The parts of the book and their pages, as index.md lists them."""
    parts: list[tuple[str, list[str]]] = []
    for line in (folder / "index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            parts.append((line[4:], []))
        elif parts and (link := re.match(r"\d+\. \[.*?\]\(([\w-]+)\.md\)", line)):
            parts[-1][1].append(link[1])
    return parts


# ── running ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def run(page: Page) -> Page:
    """Run all blocks of a page in order, in one namespace."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {"__name__": f"book.{page.name}"}
    for place, token in enumerate(page.tokens):
        if token.type != "fence" or token.info != "python":
            continue
        printed = io.StringIO()
        with plt.rc_context(fname=HERE / "book.mplstyle"), contextlib.redirect_stdout(printed):
            if ">>>" in token.content:
                _check(page, token, names)
            else:
                _execute(page, token, names)
            drawn = [_picture(plt.figure(number)) for number in plt.get_fignums()]
        plt.close("all")
        page.ran += 1
        page.pictures += len(drawn)
        shown = f'<pre class="printed">{html.escape(printed.getvalue())}</pre>' if printed.getvalue() else ""
        page.below[place] = shown + "".join(drawn)
    return page


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 0


def _check(page: Page, token: Token, names: dict[str, Any]) -> None:
    """Run a block with prompts and compare what it gives with what it shows."""
    example = doctest.DocTestParser().get_doctest(token.content, names, page.name, page.path.name, _line(token))
    example.globs = names  # get_doctest copies
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(example, out=report.write, clear_globs=False)
    if runner.failures:
        raise Broken(f"{page.path.name}:{_line(token)}\n{report.getvalue()}")


def _execute(page: Page, token: Token, names: dict[str, Any]) -> None:
    where = f"{page.path.name}:{_line(token)}"
    try:
        exec(compile("\n" * _line(token) + token.content, str(page.path), "exec"), names)
    except Exception as error:
        raise Broken(f"{where}: {type(error).__name__}: {error}") from error


def _picture(figure: Any) -> str:
    """A figure as inline SVG in the page's own ink, with its titles and axes as its description."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    drawing = out.getvalue()
    drawing = drawing[drawing.index("<svg") :].replace(INK, "currentColor")
    head, rest = drawing.split(">", 1)
    drawing = re.sub(r' (?:width|height)="[^"]*"', "", head) + ">" + rest  # the page says how wide
    parts = [part for axes in figure.axes for part in (axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel())]
    said = "; ".join(part for part in parts if part)
    return f'<figure role="img" aria-label="{html.escape(said, quote=True)}">{drawing}</figure>'


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def render(page: Page) -> str:
    """The body of a page."""
    writer = _markdown()

    def fence(self: Any, tokens: list[Token], place: int, options: Any, env: Any) -> str:
        token = tokens[place]
        if token.info != "python":
            return f'<div class="plain"><pre>{html.escape(token.content)}</pre></div>'
        lexer = PythonConsoleLexer() if ">>>" in token.content else PythonLexer()
        code = re.sub(r"\n{3,}", "\n\n", token.content.strip())
        return highlight(code + "\n", lexer, HtmlFormatter()) + page.below.get(place, "")

    writer.add_render_rule("fence", fence)
    writer.add_render_rule("table_open", lambda self, *_: '<div class="wide"><table>')
    writer.add_render_rule("table_close", lambda self, *_: "</table></div>")
    body = writer.renderer.render(page.tokens, writer.options, {})
    body = re.sub(r'href="([\w-]+)\.md(#[\w-]*)?"', lambda m: f'href="{m[1]}.html{m[2] or ""}"', body)
    pieces = re.split(r"(<pre.*?</pre>|<code.*?</code>|<figure.*?</figure>)", body, flags=re.S)
    return "".join(piece if i % 2 else re.sub(" (?=[∎%])", "\u00a0", raised(piece)) for i, piece in enumerate(pieces))


def raised(text: str) -> str:
    """Set e^(−x) and x_k as people write them by hand: exponents above the line, indices below."""
    brackets = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"

    def moved(found: re.Match[str]) -> str:
        tag, inside = "sup" if found[1] == "^" else "sub", found[2]
        return f"<{tag}>{raised(inside[1:-1] if inside[0] == '(' else inside)}</{tag}>"

    return re.sub(rf"(\^|(?<=[A-Za-z])_)({brackets}|−?[\w½]+(?:\.\d+)?)", moved, text)


def _sidebar(parts: list[tuple[str, list[Page]]], here: Page) -> str:
    out = ['<a class="home" href="index.html">Differential privacy,<br>one idea at a time</a>']
    number = 0
    for part, pages in parts:
        out.append(f"<h2>{html.escape(part)}</h2><ol start={number + 1}>")
        for page in pages:
            number += 1
            mark = ' aria-current="page"' if page is here else ""
            out.append(f'<li><a href="{page.name}.html"{mark}>{html.escape(page.title)}</a></li>')
        out.append("</ol>")
    return "".join(out)


def _whole(page: Page, parts: list[tuple[str, list[Page]]], before: Page | None, after: Page | None) -> str:
    side = _sidebar(parts, page)
    back = f'<a rel="prev" href="{before.name}.html">← {html.escape(before.title)}</a>' if before else "<span></span>"
    on = f'<a rel="next" href="{after.name}.html">{html.escape(after.title)} →</a>' if after else "<span></span>"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f'<title>{html.escape(page.title)} · discreet</title><link rel="stylesheet" href="book.css"></head><body>'
        f'<nav class="side" aria-label="Contents">{side}</nav>'
        f'<details class="menu"><summary>Contents</summary><nav aria-label="Contents">{side}</nav></details>'
        f'<main>{render(page)}<nav class="turn" aria-label="Pages">{back}{on}</nav></main></body></html>\n'
    )


def style() -> str:
    """The one style sheet: ours, and the colours of code in light and dark."""
    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n" + (HERE / "book.css").read_text(encoding="utf-8")


def check_links(out: Path) -> None:
    """Every link and image of the site leads somewhere in the site."""
    for page in sorted(out.glob("*.html")):
        for target in re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8")):
            if not target.startswith(("http:", "https:")) and not (out / target).exists():
                raise Broken(f"{page.name}: nothing at {target}")


def build(out: Path, folder: Path = HERE, say: Any = None) -> list[Page]:
    """Build the whole site; the pages, index first, with what running them gave."""
    index = run(read(folder / "index.md"))
    parts = []
    for part, names in contents(folder):
        pages = []
        for name in names:
            if say:
                say(f"  {name}")
            if not (folder / f"{name}.md").exists():
                raise Broken(f"index.md: there is no page {name}")
            pages.append(run(read(folder / f"{name}.md")))
        parts.append((part, pages))
    order = [index, *(page for _, pages in parts for page in pages)]
    out.mkdir(parents=True, exist_ok=True)
    (out / "book.css").write_text(style(), encoding="utf-8")
    for before, page, after in zip([None, *order], order, [*order[1:], None], strict=False):
        (out / f"{page.name}.html").write_text(_whole(page, parts, before, after), encoding="utf-8")
    check_links(out)
    return order


if __name__ == "__main__":
    wish = argparse.ArgumentParser(description="Build the book.")
    wish.add_argument("--out", type=Path, default=HERE.parents[1] / "build" / "book")
    place = wish.parse_args().out
    try:
        built = build(place, say=print)
    except Broken as trouble:
        sys.exit(str(trouble))
    print(f"{len(built)} pages, {sum(p.ran for p in built)} blocks run, {sum(p.pictures for p in built)} pictures: {place / 'index.html'}")
