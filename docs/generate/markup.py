"""From the Markdown that people write to the Markdown that the site generator reads.

Pages are written so that they read well anywhere: boxes are quotations that begin with a bold word, exponents are e^(−x). Here boxes become
admonitions, exponents are raised, prompts get their own highlighting, and what a block printed and drew is put below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from .blocks import FENCE, INK, LIGHT_INK, Block, Page
from .links import LINK

BOXES = ("Definition", "Theorem", "Exercise", "Warning")  # a quotation that begins with one of these, in bold, is a box
LITERAL = re.compile(r"(^ {0,3}```.*?^ {0,3}```[ ]*$|(?<!\[)`[^`\n]+`)", re.M | re.S)
CODE = re.compile(r"(^ {0,3}```.*?^ {0,3}```[ ]*$|`[^`\n]+`|\]\([^)\s]*\)|<[a-zA-Z/][^>\n]*>)", re.M | re.S)  # not prose


def rewrite(page: Page, pictures: Path | None = None, folder: str = "") -> str:
    """The page for the site generator; pictures are written into a folder that the page calls `folder`."""
    blocks = iter(page.blocks)
    number = 0

    def shown(found: re.Match[str]) -> str:
        nonlocal number
        block = next(blocks)
        out = _fence(block)
        for said, drawing in block.pictures:
            number += 1
            out += _image(said, drawing, f"{page.name}-{number}", pictures, folder)
        return out

    text = FENCE.sub(shown, page.source)
    return boxes(text).replace("<details>", '<details markdown="1">')


def formulas(text: str, indices: bool = True) -> str:
    """Raise exponents, lower indices, and keep signs with what they belong to; not in code."""
    return outside_code(text, lambda prose: re.sub(" (?=[∎%])", "\u00a0", raised(prose, indices)))


def _fence(block: Block) -> str:
    language, title, text = block.language, "", re.sub(r"\n{3,}", "\n\n", block.text.strip("\n"))
    if block.prompts:
        language = "pycon"
    elif language == "sql" and block.runs:
        title = f' title="{block.options.replace("epsilon=", "ε = ").replace("delta=", "δ = ")}"'
    out = f"```{language or 'text'}{title}\n{text}\n```\n"
    if block.printed.strip():
        out += "\n```{ .text .printed }\n" + block.printed.rstrip() + "\n```\n"
    return out


def _image(said: str, drawing: str, name: str, pictures: Path | None, folder: str) -> str:
    if pictures is None:
        raise ValueError("give a folder for pictures")
    pictures.mkdir(parents=True, exist_ok=True)
    (pictures / f"{name}.svg").write_text(drawing, encoding="utf-8")
    (pictures / f"{name}-dark.svg").write_text(drawing.replace(INK, LIGHT_INK), encoding="utf-8")
    said = re.sub(r"[\[\]`*_\\]", "", said)
    return f"\n![{said}]({folder}/{name}.svg#only-light)\n![{said}]({folder}/{name}-dark.svg#only-dark)\n"


def boxes(text: str) -> str:
    """Quotations that begin with Definition, Theorem, Exercise or Warning become admonitions."""
    out: list[str] = []
    inside = False
    for line in text.split("\n"):
        if not inside and (kind := next((box for box in BOXES if line.startswith(f"> **{box}")), None)):
            out += [f'!!! {kind.lower()} ""', ""]
            inside = True
        if inside and not line.startswith(">"):
            inside = False
        out.append("    " + line.removeprefix(">").removeprefix(" ") if inside else line)
    return "\n".join(out)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change prose; leave code, links and tags as they are."""
    return "".join(piece if i % 2 else change(piece) for i, piece in enumerate(CODE.split(text)))


def change_links(text: str, moved: Callable[[re.Match[str]], str]) -> str:
    """Change every link that is not in code."""
    return "".join(piece if i % 2 else LINK.sub(moved, piece) for i, piece in enumerate(LITERAL.split(text)))


def raised(text: str, indices: bool = True) -> str:
    """Set e^(−x) and x_k as people write them by hand: exponents above the line, indices below; without `indices` only x_{k}."""
    brackets = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"

    def moved(found: re.Match[str]) -> str:
        tag, inside = "sup" if found[1] == "^" else "sub", found[2]
        return f"<{tag}>{raised(inside[1:-1] if inside[0] in '({' else inside, indices)}</{tag}>"

    marks = r"\^|(?<=[A-Za-z])_" if indices else r"\^|_(?=\{)"
    return re.sub(rf"({marks})({brackets}|\{{[^{{}}]*\}}|\|\w+\||−?[\w½]+(?:\.\d+)?)", moved, text)
