"""Addresses: what may be written down of them."""

from __future__ import annotations

import pytest

from discreet.address import credentials, is_address, without_credentials

SECRETS = ["hunter2", "hun#ter2", "hun?ter2", "h[u]nter2", "p＃ss", "a%2Fb", "a:b", "a b", "%40"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "rest", ["db.example/clinic", "db.example:5432,other:5433/clinic?sslmode=require", "/clinic", "db.example", "[::1]/x"]
)
def test_no_part_of_a_password_is_written_down(secret: str, rest: str) -> None:
    assert without_credentials(f"postgresql://ana:{secret}@{rest}") == f"postgresql://{rest}"


def test_parameters_are_kept_only_if_they_say_where() -> None:
    address = "postgresql://h/d?user=ana&password=x&sslmode=verify-full&scram_client_key=k&passfile=%2Ff&options=-c%20x&ledger=clinic&new_secret=1"
    assert without_credentials(address) == "postgresql://h/d?sslmode=verify-full&options=-c%20x&ledger=clinic"
    assert credentials(address) == {"PGUSER": "ana", "PGPASSWORD": "x"}


def test_credentials_as_the_client_reads_them() -> None:
    assert credentials("postgresql://a%40b:p%23q@h/d") == {"PGUSER": "a@b", "PGPASSWORD": "p#q"}
    assert credentials("postgresql://ana@h/d") == {"PGUSER": "ana"}
    assert credentials("postgresql://h/d") == {}
    assert [is_address(place) for place in ("postgres://h", "postgresql://h", "visits.parquet", None, 7)] == [
        True,
        True,
        False,
        False,
        False,
    ]
