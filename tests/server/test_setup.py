"""Setting up a data set: which folders wait for a policy, and which places a policy may name that a browser wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from server.clinic import Served, write_clinic
from server.pages.new_clinic import new_clinic

from discreet.errors import Error, Invalid, PolicyError
from discreet.server.setup import check, file_below, files_below, named_or_new, save
from discreet.session.project import draft_policy, sources_named
from discreet.tables.draft import Decided


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return new_clinic(tmp_path)


def policy_for(served: Served) -> str:
    folder = served.folder / "clinic"
    return draft_policy(sources_named([folder / "visits.parquet"]), folder, Decided("1", "1e-6", {"visits": "patient_id"}))


def test_a_folder_without_a_policy_waits_for_one(tmp_path: Path) -> None:
    clinic = write_clinic(tmp_path / "clinic")
    (tmp_path / "school").mkdir()
    assert named_or_new([tmp_path / "clinic", tmp_path / "school"]) == ({"clinic": clinic}, {"school": tmp_path / "school"})
    with pytest.raises(PolicyError, match=r"no discreet\.toml"):
        named_or_new([tmp_path / "nowhere"])
    (tmp_path / "a-b").mkdir()
    with pytest.raises(Invalid, match="letters and digits"):
        named_or_new([tmp_path / "a-b"])
    (tmp_path / "school" / "discreet.ledger").write_text("")  # something was spent: the policy was lost
    with pytest.raises(PolicyError, match=r"no discreet\.toml"):
        named_or_new([tmp_path / "school"])


def test_files_are_listed_from_the_folder(served: Served) -> None:
    folder = served.folder / "clinic"
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "a.csv").write_text("a\n")
    assert files_below(folder) == ["visits.parquet", "more/rooms.csv"]
    assert file_below(folder, "more/../visits.parquet") == folder / "visits.parquet"
    assert file_below(folder, str(folder / "more" / "rooms.csv")) == folder / "more" / "rooms.csv"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"visits.parquet"', '"../elsewhere.csv"'),
        ('"visits.parquet"', '"/etc/passwd"'),
        ('"visits.parquet"', '"../nothing-there.csv"'),
        ('"visits.parquet"', '"*/../../elsewhere.csv"'),
        ('"visits.parquet"', '"link*.csv"'),
        ('"visits.parquet"', '"~/elsewhere.csv"'),
        ('"visits.parquet"', '"discreet.server"'),
        ('"visits.parquet"', '"postgresql://host/base#visits"'),
        ('"visits.parquet"', '"file:///etc/passwd"'),
        ('version = "1"', 'version = "1"\nengine = "spark"'),
        ("[tables.visits]", '[ledger]\npath = "/tmp/discreet-elsewhere.ledger"\n[tables.visits]'),
        ("[tables.visits]", '[ledger]\nwitness = "../witness"\n[tables.visits]'),
        ("[tables.visits]", '[ledger]\npath = "postgresql://host/base"\n[tables.visits]'),
    ],
)
def test_a_policy_from_a_browser_names_no_other_place(served: Served, old: str, new: str) -> None:
    folder, text = served.folder / "clinic", policy_for(served)
    (folder / "link1.csv").symlink_to(served.folder / "elsewhere.csv")
    assert old in text
    check(text, folder)
    with pytest.raises(PolicyError, match="in the console this is"):
        check(text.replace(old, new), folder)


def test_a_witness_does_not_overwrite_a_file(served: Served) -> None:
    text = policy_for(served).replace("[tables.visits]", '[ledger]\nwitness = "more/rooms.csv"\n[tables.visits]')
    with pytest.raises(PolicyError, match="such a file already"):
        check(text, served.folder / "clinic")


def test_what_cannot_be_served_is_not_left_behind(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, folder = served.server.accounts.get("owner"), served.folder / "clinic"
    assert owner is not None

    def broken(name: str, path: Path) -> None:
        raise Invalid("it cannot be opened")

    with monkeypatch.context() as patch:
        patch.setattr(served.server.datasets, "add", broken)
        with pytest.raises(Error):
            save(served.server, "clinic", policy_for(served), owner)
    assert not (folder / "discreet.toml").exists()
    save(served.server, "clinic", policy_for(served), owner)
    assert named_or_new([folder]) == ({"clinic": folder / "discreet.toml"}, {})
    assert served.server.folders == {}
