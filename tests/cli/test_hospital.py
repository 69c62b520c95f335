"""The demonstration's hospitals: a policy that can be read, and prices that leave too little for the last question."""

from __future__ import annotations

from fractions import Fraction

from discreet.cli.hospital import POLICY, QUESTIONS, TABLES, TOO_MUCH
from discreet.tables.policy import read_policy


def test_the_policy_declares_every_table() -> None:
    policy = read_policy(POLICY)
    assert {table.name for table in policy.tables} == set(TABLES)


def test_all_questions_fit_the_budget_and_the_last_one_does_not() -> None:
    budget = read_policy(POLICY).epsilon
    spent = sum(Fraction(asked.epsilon) for asked in QUESTIONS)
    assert spent <= budget < spent + Fraction(TOO_MUCH[1])
