"""What is printed: tables in colour on a terminal, plain text elsewhere; data on stdout, everything else on stderr."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from discreet.explain.text import Explanation
from discreet.ledger import price
from discreet.ledger.standing import Amount
from discreet.plots.table import TOO_SMALL, format_cell, not_shown, shown_rows
from discreet.session.release import Release

MOST = 60  # rows that are shown
out = Console(highlight=False, soft_wrap=False)
err = Console(highlight=False, stderr=True)


def show(release: Release) -> None:
    """Print a release: its table, and the notes under it."""
    if not out.is_terminal:
        print(release)
        return
    out.print(table_of(release))
    if not len(release):
        out.print(Text(release.empty))
    for line in release.small_print:
        out.print(Text(line, style="dim"))


def plain_values(release: Release) -> dict[str, Any]:
    """A release for a machine: rows, intervals and receipt."""
    told = {"rows": release.rows, "intervals": release.intervals, "confidence": release.confidence}
    told |= {"repeated": release.repeated, "receipt": release.receipt.to_json()}
    return told


def as_text(release: Release) -> str:
    """The same as JSON; dates are texts."""
    return json.dumps(plain_values(release), ensure_ascii=False, allow_nan=False, default=str)


def table_of(release: Release, most: int = MOST) -> Table:
    """A release as a table in colour; numbers that the noise may hide are dimmed."""
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    series = release.series
    for column in series:
        table.add_column(column.name, justify="right" if column.to_the_right and not column.is_key else "left")
    first, last = shown_rows(len(release), most)
    for row in [*first, *last]:
        if row == last.start:
            table.add_row(Text(not_shown(len(release), most), style="dim"))
        cells = []
        for column in series:
            found = format_cell(column, row)
            text = Text(found.value, style="dim" if found.faint else "cyan" if column.is_key else "bold")
            text.append(f" {found.error}" if found.error else "", style="dim")
            text.append(f" {TOO_SMALL}" if found.faint else "", style="yellow")
            cells.append(text)
        table.add_row(*cells)
    return table


def gauge(spent: float, whole: float, width: int = 30) -> Text:
    """A bar of what was spent of a budget, in eighths of a character."""
    share = min(max(spent / whole, 0.0), 1.0) if whole else 1.0
    used = round(share * width * 8)
    colour = "green" if share < 0.5 else "yellow" if share < 0.9 else "red"
    full = "█" * (used // 8) + " ▏▎▍▌▋▊▉"[used % 8].strip()
    text = Text(full, style=colour)
    text.append("░" * (width - len(full)), style="dim")
    return text


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr what is being done, on a terminal only; yields the function that shows the next step."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status(what) as status:
        yield lambda text: status.update(Text(text))


def amount(exact: Fraction | None) -> str:
    """An ε or a δ as people write it; None is an ε without a bound."""
    return "∞" if exact is None else price.amount(exact)


def left(remaining: Amount) -> None:
    """Print what remains of the budget, in one line."""
    text = f"remaining: ε = {amount(remaining.epsilon)}" + (f", δ = {amount(remaining.delta)}" if remaining.delta else "")
    out.print(Text(text, style="dim") if out.is_terminal else text)


def explained(explanation: Explanation) -> None:
    """Print an explanation, with its headings in bold on a terminal."""
    if not out.is_terminal:
        print(explanation)
        return
    for block in str(explanation).split("\n\n"):
        title, _, rest = block.partition("\n")
        out.print(Text(title, style="bold"))
        out.print(Text(rest), soft_wrap=True)
        out.print()
