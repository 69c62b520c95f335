"""An explanation as HTML; everything is escaped."""

from __future__ import annotations

from html import escape
from itertools import groupby

STYLE = """<style>
.discreet-plan{font:14px/1.5 system-ui,sans-serif;max-width:60em}
.discreet-plan h4{margin:1em 0 .15em}
.discreet-plan ul{margin:.1em 0;padding-left:1.2em}
.discreet-plan li.inner{list-style:none;opacity:.75}
.discreet-plan pre{white-space:pre-wrap;font-size:12px;background:#8881;padding:.6em;border-radius:4px;margin:.2em 0}
.discreet-plan .price{font-size:16px}
</style>"""


def page(sections: list[tuple[str, list[str]]]) -> str:
    """The sections as headings and lists; theorems and SQL are collapsed."""
    body = "".join(_section(title, lines) for title, lines in sections)
    return f'{STYLE}<div class="discreet-plan">{body}</div>'


def _section(title: str, lines: list[str]) -> str:
    if title.startswith("What will run"):
        return f"<details><summary><b>{escape(title)}</b></summary>{_statements(lines)}</details>"
    items = "".join(
        f'<li class="inner">{escape(line.strip())}</li>' if line.startswith("  ") else f"<li>{escape(line)}</li>" for line in lines
    )
    if title.startswith("Why"):
        return f"<details><summary><b>{escape(title)}</b></summary><ul>{items}</ul></details>"
    return f"<h4>{escape(title)}</h4><ul>{items}</ul>"


def _statements(lines: list[str]) -> str:
    """The purpose of each statement, and its lines in one block below."""
    parts = []
    for is_sql, some in groupby(lines, key=lambda line: line.startswith("  ")):
        text = escape("\n".join(line.removeprefix("  ") for line in some))
        parts.append(f"<pre>{text}</pre>" if is_sql else f"<div>{text}</div>")
    return "".join(parts)
