"""Every registered statistic passes the whole suite."""

from __future__ import annotations

import pytest
from query.statistics.suite import CHECKS

from discreet.query.statistics.registry import Entry, registered
from discreet.query.statistics.statistic import Selected


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("entry", registered(), ids=lambda entry: entry.__name__)
def test_statistic(entry: Entry, check: str) -> None:
    if check == "coverage" and issubclass(entry, Selected):
        return  # a selected value has an error in ranks or votes, which tests/mechanisms checks
    CHECKS[check](entry)
