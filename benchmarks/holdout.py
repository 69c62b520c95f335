"""How a holdout that is looked at again and again deceives, and one that is asked through Thresholdout does not.

`python benchmarks/holdout.py [--records 10000] [--features 10000] [--plot PATH]`, after Freedman (1983) and Dwork et al. (2015):
labels are coin flips and so are all features. The analyst keeps features that agree with the label in the same direction on the training
data and on the holdout, lets them vote, and reports the vote's accuracy on the holdout. In a second world some features do know something.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.adaptive.thresholdout import Thresholdout, ThresholdoutRun
from discreet.algorithms.adaptive.transfer import population_error
from discreet.private import Private

Bools = NDArray[np.bool_]
SIGNAL, STRENGTH = 20, 6  # so many features agree with the label in a share of ½ + strength/(2√n)


class Sample(NamedTuple):
    """Records: a row for each feature, and the labels."""

    features: Bools
    labels: Bools

    @property
    def agrees(self) -> Bools:
        """Where each feature is the label."""
        return self.features == self.labels


class Reported(NamedTuple):
    """What an analyst reports of a vote of so many features, and what is true."""

    kept: int
    train: float
    holdout: float
    fresh: float


def sample(coin: np.random.Generator, records: int, features: int, strength: float = 0.0) -> Sample:
    labels = coin.random(records) < 0.5
    found = coin.integers(0, 2, (features, records), np.uint8).astype(np.bool_)
    if strength:
        agrees = coin.random((SIGNAL, records)) < 0.5 + strength / (2 * records**0.5)
        found[:SIGNAL] = agrees == labels
    return Sample(found, labels)


class Naive:
    """A holdout that says what it is asked."""

    def __init__(self, holdout: Sample) -> None:
        self.holdout = holdout

    def shares(self, train: Sample) -> NDArray[Any]:
        return self.holdout.agrees.mean(1)

    def accuracy(self, train: Bools, holdout: Bools) -> float:
        return float(holdout.mean())


class Reusable:
    """The same through Thresholdout."""

    def __init__(self, rule: Thresholdout) -> None:
        self.talk: ThresholdoutRun = rule.open([0], Private([0] * rule.size))
        self.holdout: Sample | None = None

    def shares(self, train: Sample) -> NDArray[Any]:
        assert self.holdout is not None
        pairs = zip(train.agrees, self.holdout.agrees, strict=True)
        return np.array([self.talk.values(a, Private(b)).value for a, b in pairs])

    def accuracy(self, train: Bools, holdout: Bools) -> float:
        return self.talk.values(train, Private(holdout)).value


def vote(chosen: NDArray[np.int64], signs: NDArray[Any], of: Sample) -> Bools:
    """Where the vote of the chosen features, each turned as the training data says, is the label."""
    for_true = (of.features[chosen] == (signs[chosen, None] > 0)).sum(0)
    return (2 * for_true >= len(chosen)) == of.labels


def analyse(train: Sample, holdout: Sample, fresh: Sample, asked: Naive | Reusable, sizes: list[int | None]) -> list[Reported]:
    """The analyst: keep what agrees on both sets by at least one standard deviation, the best on the training data first."""
    ours, theirs = train.agrees.mean(1) - 0.5, asked.shares(train) - 0.5
    least = 0.5 / len(train.labels) ** 0.5
    kept = np.flatnonzero((ours * theirs > 0) & (np.minimum(np.abs(ours), np.abs(theirs)) >= least))
    kept = kept[np.argsort(-np.abs(ours[kept]), kind="stable")]
    said = []
    for size in sizes:
        chosen = kept[:size]
        right = [vote(chosen, ours, of) for of in (train, holdout, fresh)]
        said.append(Reported(len(chosen), float(right[0].mean()), asked.accuracy(right[0], right[1]), float(right[2].mean())))
    return said


def experiment(
    coin: np.random.Generator, records: int, features: int, rule: Thresholdout, sizes: list[int | None], strength: float = 0.0
) -> dict[str, list[Reported]]:
    """One world, two analysts."""
    train, holdout, fresh = (sample(coin, records, features, strength) for _ in range(3))
    reusable = Reusable(rule)
    reusable.holdout = holdout
    return {
        "naive": analyse(train, holdout, fresh, Naive(holdout), sizes),
        "reusable": analyse(train, holdout, fresh, reusable, sizes),
    }


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--records", type=int, default=10_000)
    read.add_argument("--features", type=int, default=10_000)
    read.add_argument("--rounds", type=int, default=5)
    read.add_argument("--plot", type=Path)
    said = read.parse_args()
    sizes: list[int | None] = [50, 500, None]
    rule = Thresholdout(size=said.records, threshold=0.05, sigma=0.0025, hits=len(sizes) + 2)
    coin = np.random.default_rng()
    print(f"{said.records:,} records each for training, holdout and truth; {said.features:,} features; {said.rounds} rounds; {rule}")
    questions = said.features + len(sizes)
    print(f"ε = {float(rule.epsilon):.3g}; answers within {rule.error(0.95):.3f} of the holdout's", end=" ")
    print(f"and {population_error(rule, said.records, questions):.3f} of the truth, with 95 % confidence\n")
    drawn: dict[str, dict[str, NDArray[Any]]] = {}
    for name, strength in (("pure noise", 0.0), (f"{SIGNAL} features know something", STRENGTH)):
        began = time.perf_counter()
        worlds = [experiment(coin, said.records, said.features, rule, sizes, strength) for _ in range(said.rounds)]
        drawn[name] = {way: np.array([world[way] for world in worlds]) for way in ("naive", "reusable")}
        print(f"**{name}** ({(time.perf_counter() - began) / said.rounds:.0f} s a round)\n")
        print("| holdout | features in the vote | on the training data | reported by the holdout | truth (fresh data) |")
        print("|---|---|---|---|---|")
        for way, found in drawn[name].items():
            for place, size in enumerate(sizes):
                kept, *shares = found[:, place].mean(0)
                told = " | ".join(f"{share:.1%}" for share in shares)
                print(f"| {way} | {'all kept, ' if size is None else ''}{kept:,.0f} | {told} |")
        print()
    if said.plot is not None:
        draw(drawn, sizes, said.plot)


def draw(found: dict[str, dict[str, NDArray[Any]]], sizes: list[int | None], path: Path) -> None:
    """Reported against true, by how many features vote."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(found), 2, figsize=(9, 3.4 * len(found)), sharey="row", squeeze=False, layout="constrained")
    labels = ["all" if size is None else str(size) for size in sizes]
    for row, (name, ways) in zip(axes, found.items(), strict=True):
        for place, (way, shares) in zip(row, ways.items(), strict=True):
            for column, what in ((1, "training data"), (2, "holdout, as reported"), (3, "fresh data: the truth")):
                place.errorbar(labels, shares[:, :, column].mean(0), shares[:, :, column].std(0), marker="o", capsize=3, label=what)
            place.axhline(0.5, color="grey", linewidth=0.8)
            place.set_title(f"{name}: {way} holdout")
            place.set_xlabel("features in the vote")
        row[0].set_ylabel("accuracy")
    axes[0, 0].legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
