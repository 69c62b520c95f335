"""Questions that go on over time."""
