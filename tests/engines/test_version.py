"""Only tested versions are opened, whatever follows the first two numbers."""

from __future__ import annotations

import pytest

from discreet.engines.version import require_tested
from discreet.errors import EngineError


@pytest.mark.parametrize("version", ["2.0", "2.0.0", "2.9.9", "2.1.0.dev3", "2.10"])
def test_versions_in_the_range(version: str) -> None:
    require_tested("X", version, (2, 0), (3, 0), "install x")


@pytest.mark.parametrize("version", ["1.9.9", "3.0", "3.0.0rc1", "0.1", "x", ""])
def test_versions_outside_the_range(version: str) -> None:
    with pytest.raises(EngineError) as caught:
        require_tested("X", version, (2, 0), (3, 0), "install x")
    assert str(caught.value) == f"engine version outside the tested range: X {version}; install x"
