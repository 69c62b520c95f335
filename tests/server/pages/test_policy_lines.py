"""Every line of a policy has a meaning, and none shows a password."""

from __future__ import annotations

from server.clinic import POLICY

from discreet.server.pages.policy_lines import policy_lines
from discreet.tables.draft import draft
from discreet.tables.kind import Kind


def test_every_line_has_a_meaning() -> None:
    drafted = draft({"visits": {"patient": Kind.INTEGER, "cost": Kind.REAL, "day": Kind.DATE, "dept": Kind.TEXT}}, {"visits": "v.parquet"})
    for text in (POLICY, drafted):
        without = [line.text for line in policy_lines(text) if "=" in line.text and not line.meaning]
        assert without == []


def test_decisions_that_wait_are_marked() -> None:
    drafted = policy_lines(draft({"t": {"a": Kind.TEXT}}, {}))
    assert any(line.check for line in drafted)
    assert any(line.meaning.startswith("Not decided here") for line in drafted)


def test_passwords_in_addresses_are_masked() -> None:
    for address in (
        "postgresql://me:hunter2@host/db",
        "postgresql://hunter2@host/db",
        "postgresql://host/db?user=me&password=hunter2",
        "postgresql://me:hunter2/x@host/db",
        "postgres://me:it's@hunter2@host/db",
    ):
        assert "hunter2" not in policy_lines(f'source = "{address}"')[0].text
    assert policy_lines('source = "s3://bucket/a.parquet"')[0].text == 'source = "s3://bucket/a.parquet"'
