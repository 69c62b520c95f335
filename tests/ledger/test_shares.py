"""Granting from outside: [budget.analysts] in a policy, and `discreet grant` and `discreet budget`."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import pytest
from ledger.shelves import Schemas, Shelf
from typer import Typer
from typer.testing import CliRunner

from discreet.cli.budget import budget
from discreet.cli.grant import grant
from discreet.cli.verify import verify
from discreet.errors import BudgetExceeded, Error, Invalid, LedgerError, PolicyError
from discreet.ledger.ledger import open_ledger
from discreet.ledger.shares import grant_share
from discreet.ledger.standing import Amount
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure
from discreet.tables.policy import AnalystShare, read_policy

TERMS = Terms(2, "1e-6", "id")
POLICY = '[budget]\nepsilon = 2\ndelta = 1e-6\n{}\n[tables.t]\nunit = "id"\n'


# ── the policy ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_policy_says_who_may_spend_how_much() -> None:
    policy = read_policy(POLICY.format('[budget.analysts]\nada = { epsilon = 0.1, delta = 1e-7 }\n"Bob B." = { epsilon = 2 }'))
    assert policy.analysts == (AnalystShare("ada", Fraction(1, 10), Fraction(1, 10**7)), AnalystShare("Bob B.", Fraction(2), Fraction(0)))
    assert read_policy(POLICY.format("")).analysts == ()
    renewing = read_policy(POLICY.format('[budget.analysts]\nada = { epsilon = 0.1, every = "month" }')).analysts[0]
    assert (renewing.epsilon, renewing.every) == (Fraction(1, 10), "month")


@pytest.mark.parametrize(
    ("analysts", "problems"),
    [
        ("analysts = 3", ["budget.analysts: must be a section"]),
        ("analysts.ada = 0.5", ["budget.analysts.ada: must be a section", "budget.analysts.ada.epsilon: is missing"]),
        ("analysts.ada.epsilom = 1", ["budget.analysts.ada.epsilom: is not a known setting", "budget.analysts.ada.epsilon: is missing"]),
        ("analysts.ada.epsilon = 0", ["budget.analysts.ada.epsilon: epsilon must be positive"]),
        ("analysts.ada.epsilon = 3", ["budget.analysts.ada: must not exceed the whole budget"]),
        ("analysts.ada = { epsilon = 1, delta = 1e-5 }", ["budget.analysts.ada: must not exceed the whole budget"]),
        ("analysts.ada = { epsilon = 1, delta = 2 }", ["budget.analysts.ada.delta: delta must be at least 0 and below 1"]),
        ('analysts.ada = { epsilon = 1, every = "day" }', ['budget.analysts.ada.every: must be "week" or "month"']),
        ("analysts.owner.epsilon = 1", ["budget.analysts.owner: an analyst needs a name"]),
        ('analysts." ada".epsilon = 1', ["budget.analysts. ada: an analyst needs a name"]),
        ("analysts.a.epsilon = -1\nanalysts.b.epsilon = -1", ["budget.analysts.a.epsilon", "budget.analysts.b.epsilon"]),
    ],
)  # fmt: skip
def test_every_problem_of_the_analysts_is_named(analysts: str, problems: list[str]) -> None:
    with pytest.raises(PolicyError) as raised:
        read_policy(POLICY.format(analysts))
    lines = str(raised.value).splitlines()
    assert len(lines) == len(problems)
    assert all(line.startswith(problem) for line, problem in zip(lines, problems, strict=True))


# ── the commands ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def run() -> Callable[..., str]:
    app = Typer()
    for command in (budget, grant, verify):
        app.command()(command)

    def command(*words: str) -> str:
        ended = CliRunner().invoke(app, list(words))
        if isinstance(ended.exception, Error):
            raise ended.exception
        assert ended.exit_code == 0, ended.output
        return ended.output

    return command


def test_grant_and_budget(shelf: Shelf, run: Callable[..., str]) -> None:
    open_ledger(shelf.at("a"), TERMS).close()
    said = run("grant", shelf.at("a"), "ada", "--epsilon", "0.5", "--delta", "1e-7")
    assert said.startswith("ada may spend ε = 0.5, δ = 1e-07 in all; remaining ε = 0.5")
    ledger = open_ledger(shelf.at("a"))
    ledger.spend(Pure(0.2), question="q", analyst="ada", note="SELECT 1")
    ledger.close()
    shown = run("budget", shelf.at("a"))
    assert [line.split() for line in shown.splitlines() if line.startswith("ada")] == [["ada", "0.5", "0.2", "0.3"]]
    told = json.loads(run("budget", shelf.at("a"), "--json"))
    assert told["analysts"]["ada"] == {
        "granted": {"epsilon": "1/2", "delta": "1/10000000"},
        "spent": {"epsilon": "1/5", "delta": "0"},
        "remaining": {"epsilon": "3/10", "delta": told["analysts"]["ada"]["remaining"]["delta"]},
        "renews": None,
    }
    assert told["history"][0]["analyst"] == "ada"
    assert "remaining ε = 0.7" in run("grant", shelf.at("a"), "ada", "--epsilon", "0.9")
    with pytest.raises(Invalid, match="has already spent more than this"):
        run("grant", shelf.at("a"), "ada", "--epsilon", "0.1")
    assert "4 entries" in run("verify", shelf.at("a"))


def test_a_grant_that_renews(shelf: Shelf, run: Callable[..., str]) -> None:
    open_ledger(shelf.at("a"), TERMS).close()
    said = run("grant", shelf.at("a"), "ada", "--epsilon", "0.5", "--every", "month")
    run("grant", shelf.at("a"), "bob", "--epsilon", "0.5")
    renews = json.loads(run("budget", shelf.at("a"), "--json"))["analysts"]["ada"]["renews"]
    assert renews["every"] == "month"
    assert f"may spend ε = 0.5, δ = 0 every month, next on {renews['next']} (UTC); remaining ε = 0.5" in " ".join(said.split())
    lines = {line.split()[0]: line.split()[4:] for line in run("budget", shelf.at("a")).splitlines() if line.startswith(("ada", "bob"))}
    assert lines == {"ada": ["every", "month,", "next", renews["next"]], "bob": ["never"]}
    with pytest.raises(Invalid, match='every "week"'):
        run("grant", shelf.at("a"), "ada", "--epsilon", "0.5", "--every", "year")


def test_without_analysts_nothing_is_said_of_them(shelf: Shelf, run: Callable[..., str]) -> None:
    open_ledger(shelf.at("a"), TERMS).close()
    assert "analyst" not in run("budget", shelf.at("a"))
    assert json.loads(run("budget", shelf.at("a"), "--json"))["analysts"] == {}


def test_a_project_that_names_its_analysts_is_changed_in_its_file(shelf: Shelf, run: Callable[..., str]) -> None:
    project = shelf.folder / "discreet.toml"
    project.write_text(POLICY.format("[budget.analysts]\nada = { epsilon = 0.1 }"))
    with pytest.raises(Invalid, match=r"change it there, under \[budget.analysts\]"):
        run("grant", str(project), "ada", "--epsilon", "0.5")


def test_no_command_tells_where_a_shared_ledger_lies(schemas: Schemas, run: Callable[..., str]) -> None:
    wrong = schemas.at("a").replace("owner_of_all:", "owner_of_all:x")
    for words in (("budget", wrong), ("verify", wrong), ("grant", wrong, "ada", "--epsilon", "1"), ("budget", schemas.at("b"))):
        with pytest.raises((LedgerError, BudgetExceeded)) as raised:
            run(*words)
        assert "127.0.0.1" not in str(raised.value)
        assert "owner_of" not in str(raised.value)


# ── shares ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_declared_share_is_granted() -> None:
    ledger = open_ledger(":memory:", Terms(2, "1e-6", "id"))
    grant_share(ledger, "ada", Amount(Fraction(1, 2), Fraction(1, 10**7)), None)
    assert ledger.allowance("ada").granted == Amount(Fraction(1, 2), Fraction(1, 10**7))
    grant_share(ledger, "ada", Amount(Fraction(1), Fraction(1, 10**7)), ledger.allowance("ada"))
    assert ledger.allowance("ada").granted.epsilon == 1


def test_a_declared_share_that_changes_its_delta_or_its_period_is_granted_anew() -> None:
    ledger = open_ledger(":memory:", Terms(2, "1e-6", "id"))
    grant_share(ledger, "ada", Amount(Fraction(1, 2), Fraction(0)), None)
    grant_share(ledger, "ada", Amount(Fraction(1, 2), Fraction(1, 10**7)), ledger.allowance("ada"))
    assert ledger.allowance("ada").granted == Amount(Fraction(1, 2), Fraction(1, 10**7))
    grant_share(ledger, "ada", Amount(Fraction(1, 2), Fraction(1, 10**7)), ledger.allowance("ada"), "week")
    period, length = ledger.allowance("ada").period, ledger.length
    assert period is not None
    assert period.every == "week"
    grant_share(ledger, "ada", Amount(Fraction(1, 2), Fraction(1, 10**7)), ledger.allowance("ada"), "week")
    assert ledger.length == length


def test_a_share_below_what_was_spent_becomes_what_was_spent() -> None:
    ledger = open_ledger(":memory:", Terms(2, 0, "id"))
    ledger.grant("ada", 1)
    ledger.spend(Pure("3/4"), question="q", analyst="ada")
    grant_share(ledger, "ada", Amount(Fraction(1, 4), Fraction(0)), ledger.allowance("ada"))
    allowance = ledger.allowance("ada")
    assert allowance.granted.epsilon == allowance.spent.epsilon == Fraction(3, 4)
