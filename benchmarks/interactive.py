"""Interactive questions: 10⁴ random conjunctions of up to three columns, our engine beside vanilla private multiplicative weights.

    python benchmarks/interactive.py --data /path/to/nltcs.csv

All promise the same: every answer within so many records with probability 0.95. Multiplicative weights is shown twice: with as many rounds
as its theorem asks for (a formula; it could not be run), and favourably: it runs, is told beforehand about how few rounds it will need,
hears each question once, and is charged only for the rounds that it opened. Gaussian noise on each different question, or on each marginal
that is asked about, is a formula too.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import frozen
from report import Table, duration, progress, times

from discreet.algorithms.classical.pmw import PMW
from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.interactive import Interactive
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.loss.leaves import GaussianLoss
from discreet.loss.loss import Loss, compose

BETA, DELTA, SEED = 0.05, "1e-9", 20_261_115  # the seed is that of the questions only
ACCURACIES = (0.1, 0.05, 0.02, 0.01)
RUN_FROM = 0.05  # below, multiplicative weights needs thousands of rounds


@frozen
class Outcome:
    """How one engine did."""

    name: str
    accuracy: float
    worst: float | None
    mean: float | None
    paid: int
    loss: Loss | None
    rho: float
    seconds: float | None = None
    sources: str = ""


@frozen(eq=False)
class Questions:
    """A table of codes, questions about it, and their answers."""

    domain: Domain
    codes: np.ndarray[Any, Any]
    asked: list[dict[str, int]]
    answers: np.ndarray[Any, Any]

    @classmethod
    def read(cls, path: Path, number: int) -> Questions:
        """Random conjunctions of one to three columns."""
        names, *rows = csv.reader(path.read_text().splitlines())
        codes = np.array(rows, np.int64)
        domain = Domain.of({name: int(column.max()) + 1 for name, column in zip(names, codes.T, strict=True)})
        generator = np.random.default_rng(SEED)
        asked = []
        for _ in range(number):
            columns = generator.choice(len(names), generator.integers(1, 4), replace=False)
            asked.append({names[i]: int(generator.integers(domain.sizes[i])) for i in columns})
        answers = [np.all([codes[:, names.index(name)] == code for name, code in one.items()], axis=0).sum() for one in asked]
        return cls(domain, codes, asked, np.array(answers, np.float64))

    def ours(self, accuracy: float) -> Outcome:
        """Our engine."""
        table = CodedTable(self.domain, dict(zip(self.domain.names, self.codes.T, strict=True)))
        begin = time.perf_counter()
        run = Interactive(share=accuracy, beta=BETA, questions=len(self.asked)).open(table, lambda what, loss: None)
        told = [run.ask(LinearQuery.where(self.domain, one)) for one in self.asked]
        seconds = time.perf_counter() - begin
        errors = np.abs(np.array([one.value for one in told]) - self.answers)
        loss = compose(loss for _, loss in run.losses)
        sources = ", ".join(f"{k:,} {source}" for source, k in Counter(one.source for one in told).most_common())
        rho = float(loss.rho or 0)
        return Outcome("ours", accuracy, errors.max(), errors.mean(), len(run.losses), loss, rho, seconds, sources)

    def vanilla(self, accuracy: float) -> Outcome:
        """Multiplicative weights with as few rounds as it turns out to need, charged for those it opens."""
        shape, updates = self.domain.sizes, 32
        histogram = np.bincount(np.ravel_multi_index(tuple(self.codes.T), shape), minlength=self.domain.size)
        begin = time.perf_counter()
        places = {tuple(sorted(one.items())): i for i, one in enumerate(self.asked)}
        while True:
            mechanism = self._priced(accuracy, updates)
            run, errors = mechanism.open(histogram), []
            for question, i in places.items():
                row = np.zeros(shape, np.int64)
                row[tuple(dict(question).get(name, slice(None)) for name in self.domain.names)] = 1
                errors.append(abs(run.ask(row.ravel()).value - self.answers[i]))
                if run.spent:
                    break
            if not run.spent:
                break
            updates *= 2
        loss = compose(run.losses)
        seconds, rho = time.perf_counter() - begin, float(loss.rho or 0)
        return Outcome("PMW, favourably", accuracy, max(errors), float(np.mean(errors)), run.hits, loss, rho, seconds)

    def formula(self, accuracy: float) -> Outcome:
        """Multiplicative weights as its theorem sets it."""
        mechanism = self._priced(accuracy, None)
        return Outcome("PMW, by its theorem", accuracy, None, None, mechanism.most_updates, None, float(mechanism.rho or 0))

    def gaussian(self, accuracy: float, whole_marginals: bool) -> Outcome:
        """Noise on each different question, or on each marginal that holds one; known at once."""
        different = {tuple(sorted(one if whole_marginals else one.items())) for one in self.asked}
        width = NormalDist().inv_cdf(1 - BETA / (2 * len(self.asked))) / (accuracy * len(self.codes))
        loss = len(different) * GaussianLoss(Fraction(width**2))
        name = "Gaussian, each marginal" if whole_marginals else "Gaussian, each question"
        return Outcome(name, accuracy, None, None, len(different), loss, float(loss.rho or 0))

    def _priced(self, accuracy: float, updates: int | None) -> PMW:
        """The least ρ with which the accuracy statement holds for so many records."""
        low, high = 1e-9, 1e12
        while high / low > 1.001:
            middle = float((low * high) ** 0.5)
            found = self._pmw(accuracy, middle, updates)
            low, high = (low, middle) if found.needs() <= len(self.codes) else (middle, high)
        return self._pmw(accuracy, high, updates)

    def _pmw(self, accuracy: float, rho: float, updates: int | None) -> PMW:
        return PMW(domain=self.domain.size, rho=rho, accuracy=accuracy, queries_expected=len(self.asked), beta=BETA, updates=updates)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="a table of codes 0, 1, … with a line of names")
    parser.add_argument("--questions", type=int, default=10_000)
    arguments = parser.parse_args()
    questions, say, rows, notes = Questions.read(arguments.data, arguments.questions), progress("interactive"), [], []
    for accuracy in ACCURACIES:
        ours = questions.ours(accuracy)
        others = [
            *(questions.gaussian(accuracy, whole) for whole in (False, True)),
            questions.formula(accuracy),
            *([questions.vanilla(accuracy)] if accuracy >= RUN_FROM else []),
        ]
        say(f"accuracy {accuracy:g}: ours {ours.seconds:.1f} s")
        rows += [_row(one, ours, len(questions.codes)) for one in (ours, *others)]
        notes.append(f"accuracy {accuracy:g}: {ours.sources}")
    columns = ["", "accuracy", "worst error", "mean error", "paid steps", "ρ", f"ε at δ={DELTA}", "ours/this, ρ", "time"]
    print(Table(f"{len(questions.asked):,} random conjunctions of up to 3 columns, {arguments.data.name}", columns, rows, notes))


def _row(one: Outcome, ours: Outcome, records: int) -> list[str]:
    share = [f"{error / records:.4f}" if error is not None else "–" for error in (one.worst, one.mean)]
    epsilon = f"{one.loss.epsilon_at(DELTA):.4g}" if one.loss is not None else "–"
    ratio = times(ours.rho / one.rho) if ours.rho / one.rho >= 1e-3 else f"{ours.rho / one.rho:.1e}×"
    return [one.name, f"{one.accuracy:g}", *share, f"{one.paid:,}", f"{one.rho:.4g}", epsilon, ratio, duration(one.seconds)]


if __name__ == "__main__":
    main()
