"""With every mechanism's output replayed, a question looks the same on neighbouring tables, and no unit moves more than is paid for."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction

import pytest
from gauntlet import world
from gauntlet.questions import OTHERS, Asked, question
from gauntlet.replay import Trace, differences, excesses, run, underpaid

QUESTIONS, NEIGHBOURS, PARTS = 500, 5, 10
QUICK = 1  # parts that `make test` runs; the slow suite has the others


def neighbours(number: int, asked: Asked) -> list[tuple[str, str]]:
    """Five pairs of tables: people who come, one who goes, an empty table and one person; or people who are replaced."""
    rng = random.Random(number)
    if asked.adjacency == "replace-one":  # from two tables, each of which is recorded once
        starts = rng.sample([who for who in world.WILD if who != "nobody"], 2)
        ends = {start: rng.sample([who for who in world.WILD if who != start], NEIGHBOURS) for start in starts}
        return [(f"base+{starts[i % 2]}", f"base+{ends[starts[i % 2]][i]}") for i in range(NEIGHBOURS)]
    alone = [pair for pair in world.PAIRS if pair[0] == "empty"]
    return [*rng.sample(world.ADDED, NEIGHBOURS - 2), ("base", "fewer"), rng.choice(alone)]


def problems(number: int, asked: Asked, pairs: Iterable[tuple[str, str]], sample: Fraction | None = None) -> tuple[int, int, list[str]]:
    """How many pairs ran, how many of them to an answer, and all that is wrong; of a sample, its rate is needed for its price."""
    recorded: dict[str, Trace] = {}
    found, ran, answered = [], 0, 0
    for before, after in pairs:
        if before not in recorded:
            recorded[before] = run(world.session(before, asked.adjacency), asked, seed=number)
            found += [f"{number}: {before}: {what}\n    {asked}" for what in underpaid(recorded[before], sample)]
        first = recorded[before]
        second = run(world.session(after, asked.adjacency), asked, script=first.calls)
        wrong = differences(first, second) + excesses(first, second, asked.adjacency == "add/remove")
        found += [f"{number}: {before} / {after}: {what}\n    {asked}" for what in wrong]
        ran, answered = ran + 1, answered + (first.text is not None)
    return ran, answered, found


def check(numbers: range) -> None:
    pairs, answers, wrong = 0, 0, []
    for number in numbers:
        asked = question(number)
        ran, answered, found = problems(number, asked, neighbours(number, asked))
        pairs, answers, wrong = pairs + ran, answers + answered, wrong + found
    print(f"\nfrozen-noise replay: {len(numbers)} questions, {pairs} pairs, {answers} answered, {len(wrong)} problems")
    assert not wrong, "\n".join(wrong[:40])
    assert pairs == NEIGHBOURS * len(numbers)
    assert answers > 0.8 * pairs  # what is refused shows nothing, and small tables stop where a range is not declared


@pytest.mark.parametrize("part", [pytest.param(part, marks=[pytest.mark.slow] if part >= QUICK else []) for part in range(PARTS)])
def test_neighbours_look_the_same(part: int) -> None:
    check(range(part * QUESTIONS // PARTS, (part + 1) * QUESTIONS // PARTS))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_neighbours_look_the_same_at_length(part: int) -> None:
    each = 1500 // PARTS
    check(range(1000 + part * each, 1000 + (part + 1) * each))


def test_the_questions_differ() -> None:
    texts = {repr(question(number)) for number in range(QUESTIONS)}
    assert len(texts) >= QUESTIONS
    assert any(question(number).other for number in range(QUESTIONS))
    assert len(OTHERS) >= 30


CROWDED = [
    "SELECT COUNT(*) AS n, SUM(cost) AS s, COUNT(DISTINCT town) AS d, COUNT(DISTINCT pid) AS p FROM visits",
    "SELECT dept, AVG(cost) AS m, VARIANCE(age) AS v FROM visits GROUP BY dept",
    "SELECT town, COUNT(*) AS n, AVG(free) AS m FROM visits GROUP BY town",
    "SELECT site, MEDIAN(cost) AS q, MODE(code) AS m FROM visits GROUP BY site",
    "SELECT code % 3 AS k, SUM(cost * qty) AS s FROM visits GROUP BY k",
]


QUICK_LIMITS: list[dict[str, int] | None] = [None, {"rows": 1}, {"groups": 2, "per_group": 3}]
OTHER_LIMITS = [{"rows": 64}, {"groups": 64, "per_group": 64}]


@pytest.mark.parametrize("contributions", [*QUICK_LIMITS, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHER_LIMITS)], ids=str)
@pytest.mark.parametrize("who", ["crowd", pytest.param("exact", marks=pytest.mark.slow)])
def test_a_person_with_thousands_of_rows(who: str, contributions: dict[str, int] | None) -> None:
    wrong = []
    for number, text in enumerate(CROWDED):
        for delta in ("0.01",) if "town" in text or "MODE" in text else ("0", "0.01"):
            for other in (False, True) if "GROUP" in text else (False,):
                asked = Asked(text, contributions, delta, "add/remove", other)
                wrong += problems(number, asked, [("base", f"base+{who}"), (f"base+{who}", "base")])[2]
    assert not wrong, "\n".join(wrong[:20])
