"""The tests' own coins: a name decides them, a fork does not share them, and a release in a test uses them."""

from __future__ import annotations

import os

import fixed_coins
import pytest
from fixed_coins import coins_of, keys

from discreet.mechanisms import Laplace
from discreet.noise import bits


def test_a_name_decides_the_keys() -> None:
    one, again, other = keys("a"), keys("a"), keys("b")
    first = [one(48), one(48)]
    assert first == [again(48), again(48)]
    assert len({*first, other(48)}) == 3


@pytest.mark.skipif(fixed_coins.FRESH, reason="DISCREET_TEST_COINS=fresh")
def test_releases_of_a_test_repeat() -> None:
    drawn = []
    for name in ("a", "a", "b"):
        with coins_of(name):
            drawn.append([Laplace(epsilon=1e-6).release(0) for _ in range(4)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 4
    assert bits.os is not os  # this test's own coins are back


def test_a_forked_process_has_fresh_keys() -> None:
    draw = keys("a")
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writing, draw(16))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 16) != keys("a")(16)
