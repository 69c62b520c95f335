"""The section [oidc]: what it needs, and all its problems at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from server.clinic import write_clinic

from discreet.errors import PolicyError
from discreet.server.provider import KNOWN, SECRET, is_safe
from discreet.server.settings import Settings, made, read_settings

FILE = """
[server]
policies = ["clinic/discreet.toml"]
url = "https://dp.example.org"

[oidc]
issuer = "https://login.example.org/realm"
client_id = "discreet"
"""


def read(folder: Path, more: str = "", environment: dict[str, str] | None = None, file: str = FILE) -> Settings:
    write_clinic(folder / "clinic")
    (folder / "serve.toml").write_text(file + more)
    found = read_settings(folder / "serve.toml", {}, {} if environment is None else environment)
    return made(found, {"clinic": folder / "clinic" / "discreet.toml"})[0]


def test_a_secret_in_a_file_or_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the file\n")
    of_file = read(tmp_path, 'client_secret_file = "secret"').provider
    assert of_file is not None
    assert (of_file.issuer, of_file.client, of_file.secret) == ("https://login.example.org/realm", "discreet", "of the file")
    assert of_file.back == "https://dp.example.org/login/oidc/back"
    assert (of_file.claim, of_file.create, of_file.owners, of_file.host) == ("email", False, False, "login.example.org")
    of_environment = read(tmp_path, 'client_secret_file = "secret"', {SECRET: "of the environment"}).provider
    assert of_environment is not None
    assert of_environment.secret == "of the environment"


def test_who_may_come(tmp_path: Path) -> None:
    more = 'claim = "sub"\ncreate = true\ndomains = ["Example.org"]\nrequire = { groups = "analysts" }\nowners = true\n'
    found = read(tmp_path, more, {SECRET: "x"}).provider
    assert found is not None
    assert (found.claim, found.create, found.owners) == ("sub", True, True)
    assert (found.domains, found.require) == (("example.org",), (("groups", "analysts"),))


def test_all_problems_at_once(tmp_path: Path) -> None:
    section = (
        '[oidc]\nissuer = "http://login.example.org"\nclient_id = ""\nsecret = "x"\nclient_secret_file = "none"\n'
        'domains = "example.org"\nrequire = ["x"]\ncreate = "yes"\n'
    )
    with pytest.raises(PolicyError) as error:
        read(tmp_path, file='[server]\npolicies = ["clinic"]\n' + section)
    for problem in (
        "url: is missing",
        "oidc.issuer: must begin with https://",
        "oidc.client_id: must be a non-empty text",
        "oidc.secret: is not a known setting",
        "oidc.client_secret_file: cannot be read",
        "oidc.domains: must be a list",
        "oidc.require: must be claims",
        "oidc.create: must be true or false",
    ):
        assert problem in str(error.value), str(error.value)


@pytest.mark.parametrize(
    ("more", "problem"),
    [("", "client_secret_file: is missing"), ("create = true", "create: would give everybody")],
)
def test_what_is_missing(tmp_path: Path, more: str, problem: str) -> None:
    with pytest.raises(PolicyError, match=problem):
        read(tmp_path, more)


def test_addresses_that_are_safe() -> None:
    assert is_safe("https://login.example.org")
    assert is_safe("http://localhost:8080/realm")
    assert not any(map(is_safe, ("http://login.example.org", "https://", "ftp://localhost", "https://[", "localhost")))


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serving" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `oidc\.(\w+)` \|", page, re.MULTILINE)) == set(KNOWN)
