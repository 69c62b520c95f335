"""The profile of a table: what was released about every column; public, and used by every later question at no further cost."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, final

from attrs import field, frozen

from discreet.ledger.price import price
from discreet.ledger.receipt import Kind as ReceiptKind
from discreet.ledger.receipt import Receipt
from discreet.plots.table import Series
from discreet.session.profile.page import html_page, missing_share, range_of, text_page, used, zero_share
from discreet.session.released import Released
from discreet.tables.bought import drafted, filled
from discreet.tables.profile import ColumnProfile, TableProfile
from discreet.tables.unit import EachRow, Link, Person, Unit


@final
@frozen(eq=False, repr=False, slots=False)
class Profile(Released):
    """Histograms, values, limits and sizes of a table, each with its error. Later questions on the same data use it at no further cost."""

    KINDS: ClassVar[tuple[ReceiptKind, ...]] = ("profile",)

    receipt: Receipt
    found: dict[str, Any]
    repeated: bool = field(default=False)

    @cached_property
    def table(self) -> TableProfile:
        """What was found, as values that plans use."""
        # without the ledger entry: accounts read this, and its number would tell how much others had asked
        return TableProfile.from_json(self.found, self.receipt.to_json()["hash"], price(self.epsilon, self.delta))

    @property
    def columns(self) -> tuple[ColumnProfile, ...]:
        """What was found about each column."""
        return self.table.columns

    def __getitem__(self, name: str) -> ColumnProfile:
        column = self.table.column(name)
        if column is None:
            raise KeyError(name)
        return column

    def __len__(self) -> int:
        return len(self.columns)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """One row for each column: its type, range, values, missing rows and shape."""
        columns, rows = self.columns, self.table.rows
        missing = [missing_share(one, self.table) for one in columns]
        zeros = [zero_share(one, rows) for one in columns]
        return (
            Series("column", [one.name for one in columns], is_key=True),
            Series("type", [one.kind.value for one in columns]),
            Series("range", [range_of(one) for one in columns]),
            Series(
                "missing %",
                [None if m is None else m[0] for m in missing],
                [None if m is None else max(m[0] - m[1], 0.0) for m in missing],
                [None if m is None else min(m[0] + m[1], 100.0) for m in missing],
            ),
            *([Series("zeros %", zeros)] if any(share is not None for share in zeros) else []),
            Series("later questions use", ["; ".join(used(one)) for one in columns]),
        )

    @property
    def accuracy_notes(self) -> list[str]:
        """What the table as a whole looks like."""
        found = self.table
        lines = [f"about {found.rows:,.0f} rows (± {1.96 * found.sd:,.0f}, 95 %)"]
        if found.limit is not None:
            lost = found.lost_rows()[0]
            lines.append(
                f"about {found.units:,.0f} units; each weighs at most as much as {found.limit} {'row' if found.limit == 1 else 'rows'}"
                + (f", and about {lost:,.0f} rows of heavier contributors are down-weighted" if lost >= 1 else "")
            )
        return lines

    def __repr__(self) -> str:
        return text_page(self.table, self.small_print)

    def _repr_html_(self) -> str:
        return html_page(self.table, self.small_print)

    def to_html(self) -> str:
        """The profile as a page of its own."""
        title = f"Profile of {self.table.table}"
        head = f'<head><meta charset="utf-8"><title>{_escaped(title)}</title></head>'
        return f'<!doctype html><html lang="en">{head}<body>{self._repr_html_()}</body></html>'

    def to_toml(self, policy: str | None = None) -> str:
        """A draft discreet.toml with the bounds, keys and limits that were found, each marked with its price; review it, then use it.

        With `policy`, the text of a discreet.toml that `discreet init` drafted, its open lines are filled in.
        """
        if policy is not None:
            return filled(policy, self.table)
        asked, about = self.receipt.priced.request, self.receipt.priced
        unit = _unit(asked["unit"])
        one_row = self.table.limit is None and isinstance(unit, Person)
        return drafted(self.table, unit, one_row, about.version, about.adjacency)

    # ── keeping it ───────────────────────────────────────────────────────────────────────────────────────────────────

    def answers(self) -> dict[str, Any]:
        """What was found, as plain values."""
        return self.found

    @classmethod
    def from_answers(cls, answers: Any, receipt: Receipt, repeated: bool) -> Profile:
        """Read back what `answers` gave."""
        made = cls(receipt, answers, repeated)
        if made.table.to_json() != answers:
            raise ValueError
        made._repr_html_()  # whatever opens can be shown
        return made


def _unit(said: str) -> Unit:
    """The unit whose description a request holds."""
    if said == str(EachRow()):
        return EachRow()
    return Person(said.removeprefix("each ")) if said.startswith("each ") else Link("", "", "")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
