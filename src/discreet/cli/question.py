"""The question that is asked, its price, and who pays it."""

from __future__ import annotations

import sys
from typing import Annotated, final

from attrs import Factory, frozen
from typer import Argument, Option

from discreet.cli.typed import goal, target_errors
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.session.query import Query
from discreet.session.session import Session

QuestionDelta = Annotated[str | None, Option(metavar="NUMBER", help="The δ to spend now (default: 1/32 of the budget's δ).")]
Analyst = Annotated[str | None, Option(metavar="NAME", help="Who asks and pays, if analysts have budgets of their own.")]


@final
@frozen
class QuestionOptions:
    """A question in SQL, and its price: an ε, or the error that it must reach."""

    sql: Annotated[str, Argument(metavar="SQL", help="The question; - reads it from stdin.")]
    epsilon: Annotated[str | None, Option(metavar="NUMBER", help="The price: the ε to spend on this question.")] = None
    question_delta: QuestionDelta = None
    error: Annotated[
        list[str], Option(metavar="COLUMN=5", help="Instead of --epsilon: spend the least ε that reaches this error. Repeatable.")
    ] = Factory(list)
    size: Annotated[int | None, Option(metavar="ROWS", help="The size of the groups that --error is about.")] = None
    confidence: Annotated[str, Option(metavar="NUMBER", help="The confidence level of intervals and of --error.")] = "0.95"
    other: Annotated[bool, Option("--other", metavar="", help="Add one group for the rows of all groups that are not shown.")] = False
    sample: Annotated[str | None, Option(metavar="SHARE", help="Read a random sample of the units, such as 0.01 for 1 % of them.")] = None
    minimise: Annotated[
        list[str], Option(metavar="GOAL", help="With grouping sets: total, worst, or weights of sets, such as sex=2. Repeatable.")
    ] = Factory(list)
    analyst: Analyst = None

    def query(self, db: Session) -> Query:
        """The question as a query of a session."""
        return db.sql(sys.stdin.read() if self.sql == "-" else self.sql, other=self.other, sample=self.sample, minimise=goal(self.minimise))

    def price(self, query: Query) -> Number | None:
        """The ε that was given, or the least for the target errors; None leaves it to the question's own text."""
        targets = target_errors(self.error)
        if targets is None:
            if self.epsilon is None and not query.is_priced:
                raise Invalid("this question has no price: add --epsilon 0.1, or the error it must reach, as in --error COLUMN=5")
            return self.epsilon
        if self.epsilon is not None:
            raise Invalid("--epsilon and --error exclude each other, because one follows from the other: leave out one of them")
        try:
            return query.price(targets, size=self.size, confidence=self.confidence, delta=self.question_delta)
        except Invalid as error:
            raise Invalid(str(error).replace("size=1000", "--size 1000")) from None
