"""Notes below an answer: what was discovered privately, and nothing where there is nothing to say."""

from __future__ import annotations

import pytest

from discreet.plots.notes import notes_of


@pytest.mark.parametrize(
    ("receipt", "said"),
    [
        ({}, []),
        ({"found": {}, "notes": []}, []),
        ({"found": None, "notes": None}, []),
        ({"found": {"bounds": {"cost": {"low": "0", "high": "1000000"}}}}, ["discovered privately: cost clipped to 0 … 1,000,000"]),
        (
            {"found": {"limits": {"rows": 1}}},
            ["discovered privately: at most 1 row per unit; rows of heavier contributors are down-weighted"],
        ),
        ({"found": {"bounds": {"cost": {"high": "7/2"}}}}, ["discovered privately: cost clipped to at most 3.5"]),
        (
            {"found": {"bounds": {"day": {"low": "2020-01-01", "high": "2020-02-01"}}}},
            ["discovered privately: day clipped to 2020-01-01 … 2020-02-01"],
        ),
        (
            {"found": {"limits": {"groups": 3, "per_group": 2}}},
            [
                "discovered privately: at most 3 groups per unit; at most 2 rows per unit and group; "
                "rows of heavier contributors are down-weighted"
            ],
        ),
    ],
)
def test_notes(receipt: dict[str, object], said: list[str]) -> None:
    assert notes_of(receipt) == said
