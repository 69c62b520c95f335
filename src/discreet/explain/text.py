"""Explain a plan: as text, as plain values, and as an HTML page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, final

from attrs import frozen

from discreet.engines.dialect import Dialect
from discreet.explain.facts import facts
from discreet.explain.forecast import assumption
from discreet.explain.html import page
from discreet.explain.layout import laid_out
from discreet.explain.sample import sample_lines
from discreet.explain.tables import by_keys
from discreet.plan.steps import Steps

WIDTH = 110
ROUTES = {
    "basic": "basic composition",
    "advanced": "advanced composition",
    "zcdp": "zero-concentrated privacy",
    "renyi": "Rényi curve",
    "gdp": "Gaussian privacy",
    "pld": "privacy loss distribution",
}
Section = tuple[str, list[str]]  # a title and its lines
_OTHERS = "all other rows are counted in rows marked (other): every total counts every row, and is the sum of its parts"


@final
@frozen(repr=False)
class Explanation:
    """Who is protected, what is done, what it costs and why that is so; printed as text, rendered as HTML in a notebook."""

    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        return self.facts

    def to_html(self) -> str:
        """A standalone HTML page."""
        return f'<!doctype html><meta charset="utf-8"><title>A private plan</title>{self._repr_html_()}\n'

    def __str__(self) -> str:
        return "\n\n".join(f"{title}\n" + "\n".join(_wrapped(lines)) for title, lines in sections(self.facts))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return page(list(sections(self.facts)))


def explain(plan: Steps, dialect: Dialect) -> Explanation:
    """Explain a plan, with the SQL of a dialect; nothing is read or spent."""
    return Explanation(facts(plan, dialect))


def _wrapped(lines: list[str]) -> Iterator[str]:
    for line in lines:
        inner = "".join(c if c.isprintable() else " " for c in line)
        blank = len(inner) - len(inner.lstrip())
        yield from textwrap.wrap(inner, WIDTH, initial_indent="  ", subsequent_indent="  " + " " * (blank + 4), break_on_hyphens=False) or [
            ""
        ]


def sections(told: dict[str, Any]) -> Iterator[Section]:
    """The sections in their order; empty ones are left out."""
    yield "Who is protected", _protected(told)
    yield "Contribution bounds", [f"{told['bounding']['how']} ({told['bounding']['why']})"]
    if told["groups"]["kind"] != "none":
        yield "Which groups are shown", _groups(told["groups"])
    if told["sample"]:
        yield "Sample", sample_lines(told["sample"])
    if told["discoveries"]:
        yield "What is discovered first, privately", [_discovery(one) for one in told["discoveries"]]
    if told["tables"]:
        yield "Tables that add up", list(_tables(told["tables"]))
    yield "Statistics", [f"{name}: {what}" for name, what in told["statistics"].items()]
    if told["totals"]:
        yield "Totals", [_together(told["together"]), *(line for total in told["totals"] for line in _total(total))]
    if told["choices"]:
        yield "Selected values", [_choice(choice) for choice in told["choices"]]
    yield "Expected error", _forecast(told["forecast"])
    yield "Not known without spending", [*told["unknown"]] or ["nothing: no bound or limit biases this answer"]
    if told["notes"]:
        yield "Notes", list(told["notes"])
    yield "What it costs", list(_loss(told["loss"]))
    yield "Why this is private", [f"{name}. {text}" for name, text in told["theorems"].items() if text]
    yield f"What will run: {_work(told)}", _statements(told["statements"])


def _protected(told: dict[str, Any]) -> list[str]:
    who, price = told["protected"], told["price"]
    cost = f"ε = {short(price['epsilon'])}" + (f", δ = {short(price['delta'])}" if Fraction(price["delta"]) else "")
    lines = [f"{who['unit']}; neighbours are {who['neighbours']}", cost]
    if price["odds"] is None:
        return [*lines, "at this ε a unit has almost no protection: an attacker's odds may grow more than e^700-fold"]
    lines.append(f"whatever an attacker already knows, this answer changes their odds about one unit at most {price['odds']:.3g}-fold")
    if Fraction(price["delta"]):
        lines[-1] += f", except with probability {short(price['delta'])}"
    return lines


def _groups(told: dict[str, Any]) -> list[str]:
    keys = ", ".join(told["keys"])
    if told["kind"] == "public":
        first = ", ".join(" · ".join("NULL" if part is None else part for part in group) for group in told["first"])
        more = f", … ({told['count']:,} in all)" if told["count"] > len(told["first"]) else ""
        lines = [f"by {keys}: {_listed(told)}, so every group is shown, including empty ones: {first}{more}"]
        if told.get("sets") and told["other"]:
            return [*lines, _OTHERS]
    elif told["kind"] == "searched":
        return _searches(told)
    else:
        lines = [f"by {keys}: discovered privately, so small groups are suppressed ({told['assumed']})", *_sizes(told)]
    return lines + (["all other rows are counted in one more group, (other)"] if told["other"] else [])


def _listed(told: dict[str, Any]) -> str:
    """Where listed values come from: what a profile found is not declared."""
    if not told.get("profiled"):
        return "a public list"
    if len(told["profiled"]) == len(told["keys"]):
        return "the values that a profile found"
    return f"the values that a profile found of {', '.join(told['profiled'])}, and a public list of the others"


def _searches(told: dict[str, Any]) -> list[str]:
    """The searches for keys of grouping sets, the coarse levels first."""
    lines = [f"the values of {', '.join(told['declared'])} are declared"] if told["declared"] else []
    lines += [f"a profile found the values of {', '.join(told['profiled'])}"] if told.get("profiled") else []
    for one in told["searches"]:
        *above, last = one["of"]
        where = f" within each {', '.join(above)} that is known" if above else ""
        lines += [f"{last}: values are discovered privately{where} ({one['assumed']})", *(f"  {line}" for line in _sizes(one))]
    return [*lines, _OTHERS]


def _sizes(told: dict[str, Any]) -> list[str]:
    chances = ", ".join(f"{size:,} {'unit' if size == 1 else 'units'} {_chance(chance)}" for size, chance in told["chances"])
    return [f"shown with probability 50 % from {told['half']:,} units, 95 % from {told['most']:,} units", f"probabilities: {chances}"]


def _chance(chance: float) -> str:
    return f"{chance:.1g}" if chance < 0.001 else f"{chance:.1%}".replace("%", " %") if chance < 0.9995 else "≈ 1"


def _discovery(told: dict[str, str]) -> str:
    paid = f"ε = {short(told['epsilon'])}" + (f", δ = {short(told['delta'])}" if "delta" in told else "")
    return f"{told['what']}, by {told['mechanism']} with {paid}"


def _together(told: dict[str, str]) -> str:
    paid = f"ε = {short(told['epsilon'])}" + (f", δ = {short(told['delta'])}" if Fraction(told["delta"]) else "")
    return f"noisy sums, together with {paid}; the statistics are computed from them"


def _choice(told: dict[str, str]) -> str:
    by = f", by {told['mechanism']}" if "mechanism" in told else ""
    return f"{told['name']}: {told['what']}{by} with ε = {short(told['epsilon'])}"


def _total(told: dict[str, Any]) -> Iterator[str]:
    if "scale" not in told:
        yield f"Σ {told['adds']}: {told['noise'].capitalize()} noise; its scale {told['why']}"
        return
    share = f" and ε = {short(told['epsilon'])}" if "epsilon" in told else ""
    yield f"Σ {told['adds']}: {told['mechanism']} noise of scale {told['scale']:,.4g}{share}"
    yield f"  sensitivity at most {told['sensitivity']:,.6g}: {told['why']}"


def _forecast(told: dict[str, Any]) -> list[str]:
    drawn = "the noise and the sampling error" if told["sampled"] else "the noise"
    bias = " and the correction of clipping" if told["corrected"] else "; bias from clipping and contribution bounds is excluded"
    for_what = f"{drawn}{bias}"
    lines = [f"{100 * told['confidence']:.3g} % intervals for {for_what}:"]
    for keys, widths in told.get("sets", {}).items():
        lines += [f"{by_keys([keys] if keys else [])}:", *(f"  {line}" for line in _half_widths(widths, told))]
    if "sets" not in told:
        lines += _half_widths(told["half_widths"], told)
    lines += [assumption(what, value) for what, value in told["assumed"].items()]
    return lines


def _half_widths(widths: dict[str, Any], told: dict[str, Any]) -> Iterator[str]:
    for name, width in widths.items():
        unit = " ranks or votes" if name in told["ranks"] else ""
        match width:
            case None:
                text = "unknown until its bounds are discovered; plan.error(assume=…) takes assumed bounds"
            case dict():
                text = ", ".join(f"± {half:,.3g}{unit} in a group of {int(size):,}" for size, half in width.items())
            case _:
                text = f"± {width:,.4g}{unit}"
        yield f"{name}: {text}{told['profiled'].get(name, '')}"


def _tables(told: dict[str, Any]) -> Iterator[str]:
    sets = ", ".join(f"{by_keys(one['keys'])} ({one['groups']:,})" for one in told["sets"])
    if told["supposed"]:
        yield f"what follows is for {', '.join(map(_values, told['supposed']))}; the shares that are used follow from what is found"
    yield f"{len(told['sets'])} grouping sets with their numbers of groups, answered together: {sets}"
    measured = ", ".join(f"{by_keys(one['keys'])} {_chance(one['share'])}" for one in told["measured"])
    yield f"measured with these shares of the budget, for the least of {told['minimised']}: {measured}"
    yield "all tables are estimated from these by weighted least squares, so every count and sum of a total is the sum of its parts"
    if told["separately"] is not None:
        searched = ", and each its own search for keys" if told["supposed"] else ""
        price = f"ε = {told['separately']:.4g} instead of {told['together']:.4g}"
        what = "largest" if told["minimised"].startswith("the largest") else "total"
        yield f"asked one by one, the same {what} variance would cost {price}{searched}"
    if told["apart"]:
        yield f"measured for each set by itself, because they do not add up: {', '.join(told['apart'])}"


def _values(told: dict[str, Any]) -> str:
    within = f" within each {', '.join(told['within'])}" if told["within"] else ""
    return f"{told['values']:,} values of {told['key']}{within}"


def _loss(told: dict[str, Any]) -> Iterator[str]:
    yield told["term"]
    for at in told["routes"]:
        best = min((e for e in at["epsilons"].values() if e is not None), default=None)
        shown = [f"{ROUTES[name]} ε = {e:.4g}{' ←' if e == best else ''}" for name, e in at["epsilons"].items() if e is not None]
        yield f"at δ = {short(at['delta'])}: {', '.join(shown) or 'no theorem applies'}"
    for group in told["people"]:
        delta = f" and δ = {group['delta']:.2g}" if group["delta"] else ""
        cost = "no guarantee" if group["epsilon"] is None else f"ε = {group['epsilon']:.4g}{delta}"
        yield f"for {group['units']} units together: {cost}"


def _work(told: dict[str, Any]) -> str:
    """How often private rows are read, and how often rows or sums are shuffled by unit or group."""
    return ", ".join(f"{told[what]} {what if told[what] != 1 else what[:-1]}" for what in ("scans", "shuffles"))


def _statements(told: list[dict[str, Any]]) -> list[str]:
    return [line for of in told for line in (f"{of['for']} ({_work(of)}):", *(f"  {part}" for part in laid_out(of["sql"]).splitlines()))]


def short(amount: str) -> str:
    """An exact amount in a few digits.

    >>> short("1/2"), short("0"), short("1/64000000")
    ('0.5', '0', '1.6e-08')
    """
    value = Fraction(amount)
    return f"{float(value):.2g}" if 0 < value < Fraction(1, 1000) else f"{float(value):.4g}"
