"""What a page shows of a release: cells with their errors, drawings, notes and the receipt; all of it is public."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, final

from attrs import frozen
from markupsafe import Markup

from discreet.exact import short
from discreet.ledger.price import price
from discreet.plots.inline import inline_svg
from discreet.plots.table import Series, format_cell, format_value, not_shown, shown_rows
from discreet.server.pages.rendering import drawing
from discreet.session.profile.page import column_drawing, missing_share, used
from discreet.session.profile.profile import Profile
from discreet.session.release import Release
from discreet.session.released import Released
from discreet.session.saved import release_of_text
from discreet.session.synthesize.synthetic import Synthetic
from discreet.tables.profile import TableProfile

_MOST_ROWS, _SOME_ROWS = 500, 20  # of answers, and of synthetic rows, on a page; downloads have all


@final
@frozen
class ShownCell:
    """One cell: a value, its error, and whether it is a number and may be noise alone."""

    value: str
    error: str = ""
    faint: bool = False
    number: bool = False
    missing: bool = False  # a key without a value, which is not the text "NULL"


@final
@frozen
class ShownTable:
    """Columns and rows as they are shown: the first, a line for those that are not shown, and the last."""

    head: list[tuple[str, bool]]
    rows: list[list[ShownCell]]
    between: str
    last: list[list[ShownCell]]
    empty: str


@final
@frozen(eq=False)
class Shown:
    """A release on a page."""

    kind: str
    table: ShownTable
    drawn: Markup
    notes: list[str]
    why: list[str]
    receipt: list[tuple[str, str]]
    cost: str
    is_dry: bool
    can_refine: bool = False
    score: list[dict[str, Any]] | None = None  # of a synthetic table
    fidelity: list[str] | None = None  # and how faithful it is in words, by released numbers
    profile: dict[str, Any] | None = None
    files: tuple[str, ...] = ("csv", "json")


@lru_cache(maxsize=32)
def opened(text: str) -> Released:
    """A release that was stored as text; a model that was fitted for one page is there for the next."""
    return release_of_text(text)


def shown(found: Released) -> Shown:
    """How a release looks."""
    if isinstance(found, Synthetic):
        words = str(found.report()).splitlines()[1:]  # below a title of its own
        return _shown(found, _SOME_ROWS, score=found.score(), fidelity=words, files=("csv", "parquet", "json"))
    if isinstance(found, Profile):
        return _shown(found, _MOST_ROWS, profile=profile_of(found.table), files=("json",))
    return _shown(found, _MOST_ROWS, can_refine=isinstance(found, Release) and found.totals is not None and not found.receipt.dry_run)


def _shown(found: Released, most: int, **more: Any) -> Shown:
    drawn = "" if isinstance(found, Synthetic | Profile) else inline_svg(found.series, len(found), found.is_ordered)
    return Shown(
        found.receipt.kind,
        table_of(found.series, len(found), most, found.empty),
        drawing(drawn),
        [note for note in found.small_print if note != found.charged or found.receipt.dry_run],  # what it cost is said beside the budget
        found.explain().splitlines(),
        receipt_of(found),
        price(found.epsilon, found.delta),
        found.receipt.dry_run,
        **more,
    )


def table_of(columns: Sequence[Series], rows: int, most: int, empty: str) -> ShownTable:
    """Cells of the first rows, and of the last few."""
    head = [(series.name, not series.is_key and series.to_the_right) for series in columns]
    first, last = ([[_cell(series, row) for series in columns] for row in some] for some in shown_rows(rows, most))
    return ShownTable(head, first, not_shown(rows, most) if rows > most else "", last, empty)


def _cell(series: Series, row: int) -> ShownCell:
    value = series.values[row]
    if series.is_key or (series.low is None and series.few is None):  # as it is: 1995 may be a year
        return ShownCell(format_value(value), number=not series.is_key and series.to_the_right, missing=value is None)
    found = format_cell(series, row)
    return ShownCell(found.value, found.error, found.faint, series.to_the_right)


def receipt_of(found: Released) -> list[tuple[str, str]]:
    """The lines of a receipt."""
    receipt = found.receipt
    lines = [
        ("what", receipt.kind),
        ("price", f"ε = {short(receipt.epsilon)}, δ = {short(receipt.delta)}"),
        ("protects", f"{receipt.protected}, under {receipt.adjacency}"),
        ("version of the data", receipt.priced.version),
        ("policy", receipt.priced.policy),
        ("question", receipt.question),
    ]
    lines += [(f"ledger entry {paid.sequence}", paid.entry) for paid in receipt.payments if paid.entry is not None]
    lines += [(f"step {place}", what) for place, (what, _) in enumerate(receipt.steps, start=1)]
    return [*lines, ("hash", str(receipt.to_json()["hash"]))]


def profile_of(profile: TableProfile) -> dict[str, Any]:
    """A profile: for each column what is missing, what later questions use, and a drawing."""
    return {
        "table": profile.table,
        "rows": profile.rows,
        "units": profile.units,
        "columns": [_column(one, profile) for one in profile.columns],
    }


def _column(column: Any, profile: TableProfile) -> dict[str, Any]:
    missing = missing_share(column, profile)
    return {
        "name": column.name,
        "type": column.kind.value,
        "missing": None if missing is None else (f"{missing[0]:.1f} %", f"± {missing[1]:.1f}"),
        "used": used(column),
        "learnt": column.learnt,
        "drawn": drawing(column_drawing(column)),
    }
