"""The history of query release in numbers: the error bound of each algorithm for |Q| queries, |D| values, n records, ε and δ."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Literal, NamedTuple, final

from attrs import frozen

from discreet import exact, parameter
from discreet.algorithms.classical.nested import Nested
from discreet.algorithms.classical.small import blr_accuracy, blr_textbook
from discreet.errors import Invalid
from discreet.exact import Number

Kind = Literal["proved", "rate"]
_HEAD = ("algorithm", "year", "price", "bound", "error", "of n", "", "applies when")
_NOTE = (
    "proved: with probability 1 − β no count has a larger error, constants included. rate: the growth of the error in |Q| and n only; "
    "the constant, |D| and δ are left out (taken as 1), so compare rates with rates, not with proved bounds."
)


@final
@frozen(kw_only=True)
class Bound:
    """One algorithm's bound on the largest error over all queries, in counts."""

    algorithm: str
    year: int
    price: Literal["pure", "approximate"]
    formula: str
    error: float
    share: float
    kind: Kind
    applies_when: str
    applies: bool


@final
@frozen(kw_only=True)
class Bounds:
    """The bounds side by side, in the order of their years; displayed as a table."""

    queries: int
    domain: int
    records: int
    rows: tuple[Bound, ...]
    title: str

    def __getitem__(self, algorithm: str) -> Bound:
        """The bound of one algorithm, by its name."""
        for row in self.rows:
            if row.algorithm == algorithm:
                return row
        raise Invalid(f"there is no such algorithm: use one of {', '.join(row.algorithm for row in self.rows)}")

    def _cells(self) -> list[tuple[str, ...]]:
        return [(b.algorithm, str(b.year), b.price, b.formula, _short(b.error), _percent(b), b.kind, b.applies_when) for b in self.rows]

    def __repr__(self) -> str:
        cells = [_HEAD, *self._cells()]
        widths = [max(len(row[i]) for row in cells) for i in range(len(_HEAD))]
        lines = []
        for row in cells:
            padded = [c.rjust(w) if i in (4, 5) else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
            lines.append("  ".join(padded).rstrip())
        rule = "─" * max(map(len, lines))
        return "\n".join([self.title, rule, lines[0], rule, *lines[1:], rule, _NOTE])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(c)}</th>" for c in _HEAD)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self._cells())
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table><p>{escape(_NOTE)}</p>"
        )


def _short(error: float) -> str:
    return f"{error:,.0f}" if error < 10**9 else f"{error:.1e}"


def _percent(bound: Bound) -> str:
    return "says nothing" if bound.share >= 1 else f"{100 * bound.share:.2g} %"


def error_bounds(*, queries: int, domain: int, records: int, epsilon: Number, delta: Number = "1e-9", beta: Number = "0.05") -> Bounds:
    """The bound of each algorithm on the largest error over |Q| counting queries, with probability 1 − β.

    Proved, constants included: Laplace noise (a union bound), BLR with the best m and in the textbook's closed form (`small`), DNRRV with
    its best parts (`dnrrv`), MWEM (`mwem`, `mwem_gaussian`, best number of rounds). Rates, constant 1: DNRRV, DRV, HR. The |Q|^o(1) of
    DNRRV has no value at one |Q|; it is shown as 2^√log₂|Q|. The power of DRV's logarithm is that of Dwork & Roth 2014, section 6.

    >>> error_bounds(queries=10**6, domain=2**16, records=10**6, epsilon=1)
    10⁶ queries, 65,536 values, 10⁶ records, ε = 1, δ = 1e-09, β = 0.05
    ─...
    algorithm             year  price        bound...
    ─...
    Laplace               2006  pure         |Q|·ln(|Q|/β)/ε                           16,811,243  says nothing  proved  always
    BLR, closed form      2008  pure         ((16·ln|D|·ln|Q| + 4·ln(1/β))/(εn))^⅓·n ...
    ...
    """
    size, n = exact.whole(domain, "domain"), exact.whole(records, "records")
    count = exact.whole(queries, "queries")
    eps, tail = float(parameter.some_epsilon(epsilon)), float(parameter.some_delta(delta))
    miss = float(exact.confidence_level(beta, "beta"))
    logs = math.log(count)
    closed = blr_textbook(count, size, n, epsilon, beta)
    root = math.sqrt(n) / eps

    def row(
        name: str, year: int, price: Literal["pure", "approximate"], formula: str, error: float, kind: Kind, when: str, holds: bool = True
    ) -> Bound:
        share = error / n
        return Bound(
            algorithm=name, year=year, price=price, formula=formula, error=error, share=share, kind=kind, applies_when=when, applies=holds
        )

    few = 2 ** math.sqrt(math.log2(count)) if count > 1 else 1.0
    rows = (
        row("Laplace", 2006, "pure", "|Q|·ln(|Q|/β)/ε", count * (logs - math.log(miss)) / eps, "proved", "always"),
        row(
            "BLR, closed form", 2008, "pure", "((16·ln|D|·ln|Q| + 4·ln(1/β))/(εn))^⅓·n", closed * n, "proved",
            "|Q| ≥ 4, error ≤ n", count >= 4 and closed <= 1,
        ),
        row(
            "BLR, best m", 2008, "pure", "min over m: n·√(ln(2|Q|)/2m) + 1 + (2/ε)·ln(C(|D|+m−1, m)/β)",
            n * blr_accuracy(count, size, n, epsilon, beta).share + 1, "proved", "always",
        ),
        row("DNRRV", 2009, "approximate", "|Q|^o(1)·√n/ε", few * root, "rate", "offline"),
        row(
            "DNRRV, best parts", 2009, "approximate", "min over parts and m: 2a + 2t + n·√(2·ln(2|Q|)/m) on each level, a below it",
            dnrrv(count, size, n, epsilon, delta, beta), "proved", "offline, n public",
        ),
        row("DRV (boosting)", 2010, "approximate", "ln^1.5|Q|·√n/ε", logs**1.5 * root, "rate", "offline, any query"),
        row("HR (PMW)", 2010, "approximate", "ln|Q|·√n/ε", logs * root, "rate", "queries one by one"),
        row(
            "HLM (MWEM)", 2012, "pure", "min over T: 2n·√(ln|D|/T) + (T/ε)·(4·ln(2T|Q|/β) + 2·ln(2T/β))",
            mwem(count, size, n, eps, miss).error, "proved", "n public",
        ),
        row(
            "HLM, Gaussian noise", 2012, "approximate", "min over T: 2n·√(ln|D|/T) + √(T/ρ)·(ln(2T|Q|/β) + √(2·ln(4T/β)))",
            mwem_gaussian(count, size, n, eps, tail, miss).error, "proved", "n public",
        ),
    )  # fmt: skip
    title = f"{_big(count)} queries, {_big(size)} values, {_big(n)} records, ε = {eps:g}, δ = {tail:g}, β = {miss:g}"
    return Bounds(queries=count, domain=size, records=n, rows=rows, title=title)


def dnrrv(queries: int, domain: int, n: int, epsilon: Number, delta: Number, beta: Number) -> float:
    """DNRRV's bound with the best parts that `Nested.best` finds, in counts.

    Without parts it is Gaussian noise on each query. Up to 10⁶ queries that was best wherever we looked (2 to 64 values, 100 to 10⁶
    records, ε of 0.1 and 1). With very many more, parts are better than plain noise, and MWEM or BLR is better than both.

    >>> round(dnrrv(1000, 16, 10**5, 1, "1e-9", "0.05"))
    770
    """
    shape = Nested(size=queries, domain=domain, rows=1, epsilon=epsilon, delta=delta, beta=beta, records=n)
    return shape.best(n, 2**30).top_level(1 - shape.beta, n).answers


class BestRounds(NamedTuple):
    """A bound on every query's error in counts, and the number of rounds that achieves it."""

    error: float
    rounds: int


def mwem(queries: int, domain: int, n: int, epsilon: float, beta: float) -> BestRounds:
    """MWEM's bound for the average of its T distributions, with the best T, in counts.

    Theorem (Hardt, Ligett & McSherry 2012, theorem 2.2, for any β).
        2n·√(ln|D|/T) + (4T/ε)·ln(2T|Q|/β) + (2T/ε)·ln(2T/β), with probability 1 − β; n is public.

    Proof.
        In round i let a be the chosen query's error and e its Laplace error, both in counts. With step η = (a + e)/(2n) Hoeffding's lemma
        gives ln E[e^(ηq)] ≤ ηE[q] + η²/8, so the divergence from the data falls by at least ηa/n − η² = (a² − e²)/(4n²). It starts at most
        at ln|D|, so Σa² ≤ 4n²·ln|D| + Σe², and the mean of |a| is at most 2n·√(ln|D|/T) + max|e|. Each choice, at ε/(2T), is within
        (4T/ε)·ln(2T|Q|/β) of the worst query except with probability β/(2T), and each |e| ≤ (2T/ε)·ln(2T/β) except with probability β/(2T).
    """
    return _best_rounds(
        lambda t: (
            2 * n * math.sqrt(math.log(domain) / t) + t / epsilon * (4 * math.log(2 * t * queries / beta) + 2 * math.log(2 * t / beta))
        )
    )


def mwem_gaussian(queries: int, domain: int, n: int, epsilon: float, delta: float, beta: float) -> BestRounds:
    """The same with Gaussian noise and concentrated privacy: the √n of DRV and HR, with constants.

    Theorem (Hardt, Ligett & McSherry 2012, accounted for as Bun & Steinke 2016 do).
        ρ = (√(ln(1/δ) + ε) − √ln(1/δ))² of zCDP is (ε, δ). Half of ρ/T for each choice, at ε² = 4ρ/T, half for each Gaussian answer, σ² =
        T/ρ: the error is at most 2n·√(ln|D|/T) + √(T/ρ)·(ln(2T|Q|/β) + √(2·ln(4T/β))), with probability 1 − β.
    """
    tail = math.log(1 / delta)
    rho = (epsilon / (math.sqrt(tail + epsilon) + math.sqrt(tail))) ** 2
    return _best_rounds(
        lambda t: (
            2 * n * math.sqrt(math.log(domain) / t)
            + math.sqrt(t / rho) * (math.log(2 * t * queries / beta) + math.sqrt(2 * math.log(4 * t / beta)))
        )
    )


def _best_rounds(error: Callable[[int], float]) -> BestRounds:
    """The minimum over whole T of a decreasing plus an increasing convex term, approximately; any T gives a valid bound."""
    tried = sorted({*range(1, 200), *(round(200 * 1.02**k) for k in range(1900))})
    best = min(tried, key=error)
    return BestRounds(error(best), best)


def _big(number: int) -> str:
    power = round(math.log10(number))
    if number >= 10**5 and number == 10**power:
        return "10" + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{number:,}" if number < 10**12 else f"{number:.3g}"
