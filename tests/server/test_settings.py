"""Settings: a file, the environment, options; all problems at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from server.clinic import write_clinic

from discreet.errors import Invalid, PolicyError
from discreet.server.settings import KNOWN, Listening, Settings, made, read_settings

FILE = """
[server]
policies = ["clinic/discreet.toml"]
port = 9000
url = "https://dp.example.org/"
database = "server.db"
slot = 0.5
seats = 4
proxies = ["10.0.0.7"]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    write_clinic(tmp_path / "clinic")
    (tmp_path / "serve.toml").write_text(FILE)
    return tmp_path / "serve.toml"


def read(config: Path | None, environment: dict[str, str] | None = None, **given: Any) -> dict[str, Any]:
    return read_settings(config, given, environment or {})


def test_a_file(config: Path) -> None:
    found = read(config)
    settings, listening = made(found, {"clinic": config.parent / "clinic" / "discreet.toml"})
    assert found["policies"] == (str(config.parent / "clinic" / "discreet.toml"),)  # from the folder of the file
    assert settings.database == str(config.parent / "server.db")
    assert settings.failures == Path(f"{settings.database}.failures")
    assert (settings.address, settings.is_secure) == ("https://dp.example.org", True)
    assert (settings.clock.first, settings.seats, settings.proxies) == (0.5, 4, ("10.0.0.7",))
    assert listening == Listening("127.0.0.1", 9000)


def test_postgresql_has_a_port_and_prices(config: Path) -> None:
    found = read(config, {"DISCREET_PG_PRICES": "ann=0.05,*=1/10"}, pg_port=5433)
    settings, listening = made(found, {"clinic": config})
    assert (listening.pg_port, settings.pg_prices) == (5433, {"ann": "0.05", "*": "1/10"})
    for wrong in ("ann", "=0.1", "ann=much", "ann=-1", "ann="):
        with pytest.raises(PolicyError, match="pg_prices"):
            read(config, pg_prices=[wrong])


def test_options_override_the_environment_which_overrides_the_file(config: Path) -> None:
    environment = {"DISCREET_PORT": "9001", "DISCREET_SEATS": "5", "DISCREET_SLOTS": "false", "DISCREET_PROXIES": "10.0.0.8,10.0.0.9"}
    found = read(config, environment, port=9002, host=None)
    assert (found["port"], found["seats"], found["slots"], found["slot"]) == (9002, 5, False, 0.5)
    assert found["proxies"] == ("10.0.0.8", "10.0.0.9")
    assert made(found, {"clinic": config})[0].clock.off


def test_without_a_file(tmp_path: Path) -> None:
    found = read(None, policies=["clinic"])
    settings, listening = made(found, {"clinic": tmp_path / "clinic.toml"})
    assert settings == Settings({"clinic": tmp_path / "clinic.toml"}, str(tmp_path / "clinic.server"), failures=settings.failures)
    assert listening == Listening()
    assert not settings.is_secure


def test_all_problems_at_once(config: Path) -> None:
    config.write_text(
        '[server]\npolicies = "clinic"\nport = "x"\nseat = 3\nslot = -1\nslots = "yes"\nlargest_body = 1.5\n'
        'certificate = "none.pem"\nproxies = ["example.org"]\nurl = "dp.example.org"\n[serve]\n'
    )
    with pytest.raises(PolicyError) as error:
        read(config)
    said = str(error.value)
    for problem in (
        "server.seat: is not a known setting; did you mean seats?",
        "serve: is not a known setting",
        "policies: must be a list",
        "port: must be a whole number",
        "slot: must be a number of at least 0.001",
        "slots: must be true or false",
        "largest_body: must be a whole number of at least 1000",
        "certificate: there is no such file",
        "key: is missing",
        "proxies: are addresses",
        "url: begins with",
    ):
        assert problem in said, said


@pytest.mark.parametrize("text", ["[server", "server = 3\n", "\ufffe"])
def test_files_that_are_none(config: Path, text: str) -> None:
    config.write_text(text)
    with pytest.raises(Invalid):
        read(config)
    with pytest.raises(Invalid, match="cannot be read"):
        read(config.with_name("nothing.toml"))


def test_policies_are_needed() -> None:
    with pytest.raises(PolicyError, match="policies: is missing"):
        read(None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "dp.example.org"])
def test_no_network_without_tls(config: Path, host: str) -> None:
    with pytest.raises(PolicyError, match="without TLS"):
        read(None, policies=["clinic"], host=host)
    assert read(None, policies=["clinic"], host=host, url="https://dp.example.org")["host"] == host
    assert read(None, policies=["clinic"], host=host, certificate=config, key=config)["host"] == host


def test_limits_of_an_answer() -> None:
    found = read(None, {"DISCREET_MEMORY": "1.5 GiB"}, policies=["clinic"], largest_answer=10, longest_statement=2.5)
    limits = made(found, {"clinic": Path("clinic.toml")})[0].limits
    assert (limits.values, limits.engine.memory, limits.engine.seconds) == (10, "1.5 GiB", 2.5)
    for wrong in ("8", "much", "-1GB", "8GB'; SELECT 1"):
        with pytest.raises(PolicyError, match="memory: must be a size"):
            read(None, policies=["clinic"], memory=wrong)


@pytest.mark.parametrize("proxy", ["0.0.0.0/0", "::/0"])
def test_nobody_believes_everybody(proxy: str) -> None:
    with pytest.raises(PolicyError, match="would include everybody"):
        read(None, policies=["clinic"], proxies=[proxy])


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_this_machine_needs_no_tls(host: str) -> None:
    assert read(None, policies=["clinic"], host=host)["host"] == host


def test_addresses() -> None:
    assert Listening("::1", 8000).address == "http://[::1]:8000"
    assert Listening(certificate=Path("a"), key=Path("b")).address == "https://127.0.0.1:8000"


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "serving" / "index.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert named == set(KNOWN)
