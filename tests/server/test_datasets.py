"""Data sets: who may use which, names, reloading, and policies that would not add up."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from server.clinic import POLICY, Served, write_clinic

from discreet.errors import Invalid, PolicyError
from discreet.server.datasets import DataSets, named, require_apart


def test_analysts_need_a_grant(served: Served) -> None:
    server = served.server
    new = server.accounts.add("new", "analyst", "owner")
    messages = set()
    for name in ("clinic", "nothing", "../clinic", ""):
        with pytest.raises(Invalid) as error:
            server.datasets.get(name, new)
        messages.add(str(error.value))
    assert len(messages) == 1  # whether it exists is not told
    assert server.datasets.of(new) == []
    next(iter(server.datasets)).ledger.grant("new", 1)
    assert server.datasets.get("clinic", new).name == "clinic"


def test_each_account_has_a_session_of_its_own(served: Served) -> None:
    data = next(iter(served.server.datasets))
    ann, bob, owner, eve = (served.server.accounts.get(name) for name in ("ann", "bob", "owner", "eve"))
    assert ann is not None
    assert bob is not None
    assert owner is not None
    assert eve is not None
    assert data.session(ann) is data.session(ann)
    assert len({id(data.session(one)) for one in (ann, bob, owner)}) == 3
    with pytest.raises(Invalid, match="auditor"):
        data.session(eve)


def test_names_come_from_folders_and_files(tmp_path: Path) -> None:
    clinic = write_clinic(tmp_path / "clinic")
    school = tmp_path / "clinic" / "school.toml"
    school.write_text(POLICY)
    assert named([clinic, school]) == {"clinic": clinic, "school": school}
    assert named([tmp_path / "clinic"]) == {"clinic": clinic}
    with pytest.raises(Invalid, match="name of its own"):
        named([clinic, clinic])
    odd = write_clinic(tmp_path / "a-b")
    with pytest.raises(Invalid, match="letters and digits"):
        named([odd])


def test_reloading_reads_the_policy_again(served: Served) -> None:
    data = served.server.datasets
    owner = served.server.accounts.get("owner")
    assert owner is not None
    before, path = data.get("clinic", owner), served.folder / "clinic" / "discreet.toml"
    path.write_text(POLICY.replace("[0, 500]", "[0, 900]"))
    data.reload("clinic")
    after = data.get("clinic", owner)
    assert after is not before
    assert [str(end) for column in after.catalog.tables[0].columns if column.bounds for end in column.bounds] == ["0", "900"]
    before.session(owner).sql("SELECT COUNT(*) AS n FROM visits").release(epsilon=0.1)  # what was begun goes on
    path.write_text("[budget]\nepsilon = 10\n")
    with pytest.raises(PolicyError):
        data.reload("clinic")
    assert data.get("clinic", owner) is after  # the old one goes on


# ── policies that would not add up ───────────────────────────────────────────────────────────────────────────────────


def second(folder: Path, source: str, more: str = "") -> dict[str, Path]:
    """Two policies: one of the clinic, and one that reads this source and has a ledger of its own."""
    first = write_clinic(folder / "clinic")
    other = folder / "clinic" / "other.toml"
    other.write_text(POLICY.replace("visits.parquet", source) + more)
    return {"clinic": first, "other": other}


@pytest.mark.parametrize(
    "source", ["visits.parquet", "../clinic/visits.parquet", "./visits.parquet", "visit*.parquet", "link.parquet", "parts"]
)
def test_two_ledgers_for_one_table_are_refused(tmp_path: Path, source: str) -> None:
    policies = second(tmp_path, source)
    (tmp_path / "clinic" / "link.parquet").symlink_to(tmp_path / "clinic" / "visits.parquet")
    (tmp_path / "clinic" / "parts").mkdir()
    (tmp_path / "clinic" / "parts" / "visits.parquet").symlink_to(tmp_path / "clinic" / "visits.parquet")
    with pytest.raises(Invalid, match="different ledgers"):
        require_apart(policies)


@pytest.mark.parametrize("name", ["visits.parquet", ".visits.parquet"])
def test_patterns_match_what_the_engine_reads(tmp_path: Path, name: str) -> None:
    policies, deep = second(tmp_path, "years/**/*.parquet"), tmp_path / "clinic" / "years" / "2024" / "01"
    deep.mkdir(parents=True)
    (tmp_path / "clinic" / "visits.parquet").rename(deep / name)
    policies["clinic"].write_text(POLICY.replace("visits.parquet", f"years/2024/01/{name}"))
    with pytest.raises(Invalid, match="different ledgers"):
        require_apart(policies)


def test_a_policy_that_is_read_again_declares_something_of_its_own(tmp_path: Path) -> None:
    policies = second(tmp_path, "others.parquet", '\n[ledger]\npath = "discreet.ledger"\n')
    polars.read_parquet(tmp_path / "clinic" / "visits.parquet").head(100).write_parquet(tmp_path / "clinic" / "others.parquet")
    same = policies["other"].read_text()
    policies["other"].write_text('version = "2"\n' + same)
    served = DataSets(policies)
    before = list(served)
    policies["other"].write_text(same)  # now a question to one would find the answer of the other
    with pytest.raises(Invalid, match="declare the same"):
        served.reload("other")
    assert list(served) == before
    served.close()


def test_one_ledger_for_both_is_fine(tmp_path: Path) -> None:
    require_apart(second(tmp_path, "visits.parquet", '\n[ledger]\npath = "../clinic/discreet.ledger"\n'))


def test_other_tables_are_fine(tmp_path: Path) -> None:
    policies = second(tmp_path, "others.parquet")
    polars.read_parquet(tmp_path / "clinic" / "visits.parquet").write_parquet(tmp_path / "clinic" / "others.parquet")
    require_apart(policies)


def test_databases_are_told_apart_whoever_logs_in(tmp_path: Path) -> None:
    place = "postgresql://{}db.example/clinic#public.visits"
    policies = second(tmp_path, place.format("ann:secret@"))
    policies["clinic"].write_text(POLICY.replace("visits.parquet", place.format("")))
    with pytest.raises(Invalid, match="different ledgers") as error:
        require_apart(policies)
    assert "secret" not in str(error.value)


def test_a_ledger_in_memory_is_refused(tmp_path: Path) -> None:
    policy = write_clinic(tmp_path / "clinic", policy=POLICY + '\n[ledger]\npath = ":memory:"\n')
    with pytest.raises(Invalid, match="in memory"):
        DataSets({"clinic": policy})
