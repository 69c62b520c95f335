"""What is printed."""

from __future__ import annotations

from discreet.cli.screen import gauge


def test_the_gauge_fills_with_what_is_spent() -> None:
    assert str(gauge(0, 1, 10)) == "░" * 10
    assert str(gauge(1, 1, 10)) == "█" * 10
    assert str(gauge(0.5, 1, 10)) == "█████░░░░░"
    assert len(str(gauge(0.123, 1, 10))) == 10
    assert str(gauge(5, 1, 4)) == "█" * 4
