"""A page whose blocks are run: what they print and draw is put below them.

Blocks of one page share one namespace and are run in order, in a folder of their own. `python` blocks with prompts are doctests and must
give what they show. Other `python` blocks are run; what they print and draw is shown, also a figure that is their last expression, as in a
notebook. A block `sql epsilon=0.1` is asked as `db.ask(text, epsilon=0.1)` of the page's own `db`, and the release is shown. Blocks marked
`server` need a database server: tests run them, the site only shows them.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FENCE = re.compile(r"^( {0,3})```([^\n`]*)\n(.*?)^ {0,3}```[ ]*$", re.M | re.S)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
INK = "#0b1c2d"  # of pictures.mplstyle
LIGHT_INK = "#dde3ea"  # the same on a dark page


class Broken(Exception):
    """A page that does not do what it says."""


@dataclass
class Block:
    """One fenced block: where it is, its language, its options and text; and what running it gave."""

    line: int
    language: str
    options: str
    text: str
    ran: bool = False
    printed: str = ""
    pictures: list[tuple[str, str]] = field(default_factory=list)  # what each says, and its SVG

    @property
    def prompts(self) -> bool:
        return self.language == "python" and ">>>" in self.text

    @property
    def runs(self) -> bool:
        return self.language in ("python", "sql") and not self.options.startswith("server")


@dataclass
class Page:
    """One page of Markdown and its blocks."""

    path: Path
    source: str
    blocks: list[Block]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def title(self) -> str:
        """The heading of the page, as text."""
        heading = re.search(r"^# (.+)$", FENCE.sub("", self.source), re.M)
        if heading is None:
            raise Broken(f"{self.path.name}: no title")
        return heading[1]

    @property
    def ran(self) -> int:
        return sum(block.ran for block in self.blocks)

    @property
    def pictures(self) -> int:
        return sum(len(block.pictures) for block in self.blocks)


def read(path: Path) -> Page:
    """Read a page and find its blocks."""
    source = path.read_text(encoding="utf-8")
    blocks = []
    for found in FENCE.finditer(source):
        language, _, options = found[2].strip().partition(" ")
        blocks.append(Block(source.count("\n", 0, found.start()) + 1, language, options.strip(), found[3]))
    page = Page(path, source, blocks)
    _ = page.title
    return page


def run(page: Page) -> Page:
    """Run all blocks of a page in order, in one namespace."""
    import matplotlib  # here, so that reading pages needs no pictures

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {"__name__": f"docs.{page.name}"}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.chdir(folder):  # for files that a page writes
        for block in page.blocks:
            if block.runs:
                _run(page, block, names, plt)
    return page


def _run(page: Page, block: Block, names: dict[str, Any], plt: Any) -> None:
    printed = io.StringIO()
    with plt.rc_context(fname=HERE / "pictures.mplstyle"), contextlib.redirect_stdout(printed):
        figures = _check(page, block, names) if block.prompts else _execute(page, block, names)
        block.pictures = [_picture(figure) for figure in (*map(plt.figure, plt.get_fignums()), *figures)]
    plt.close("all")
    block.ran = True
    block.printed = printed.getvalue()


def _check(page: Page, block: Block, names: dict[str, Any]) -> list[Any]:
    """Run a block with prompts and compare what it gives with what it shows."""
    example = doctest.DocTestParser().get_doctest(block.text, names, page.name, page.path.name, block.line)
    example.globs = names  # get_doctest copies
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(example, out=report.write, clear_globs=False)
    if runner.failures:
        raise Broken(f"{page.path.name}:{block.line}\n{report.getvalue()}")
    return []


def _execute(page: Page, block: Block, names: dict[str, Any]) -> list[Any]:
    """Run a block; the figure that is its last expression, if there is one."""
    program = block.text
    if block.language == "sql":
        program = f"print(db.ask({block.text.strip()!r}, {', '.join(block.options.split())}))"
    try:
        tree = ast.parse("\n" * block.line + program)
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(page.path), "exec"), names)
        shown = None if last is None else eval(compile(last, str(page.path), "eval"), names)
    except Exception as error:
        raise Broken(f"{page.path.name}:{block.line}: {type(error).__name__}: {error}") from error
    return [shown] if type(shown).__name__ == "Figure" else []


def _picture(figure: Any) -> tuple[str, str]:
    """A figure as SVG, and its titles and axes as its description."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    parts = [part for axes in figure.axes for part in (axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel())]
    return "; ".join(part.replace("\n", " ") for part in parts if part), out.getvalue()
