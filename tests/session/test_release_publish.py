"""A release as a folder of files to publish."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from session.publishing.reading import sheets
from session.tables import CUBE, session

from discreet.errors import Invalid
from discreet.session.release import Release

FILES = ["index.html", "answers.csv", "answers.csv-metadata.json", "answers.xlsx", "answers.json", "release.json"]


def test_everything_is_there_and_says_the_same(tmp_path: Path) -> None:
    with session() as db:
        found = db.ask(CUBE, epsilon=0.2)
        written = found.publish(tmp_path / "cube" / "2026", tidy=True)
        Release.open(written[-1]).verify(db.ledger)
    assert [path.name for path in written] == FILES
    assert sorted(path.name for path in (tmp_path / "cube" / "2026").iterdir()) == sorted(FILES)
    names = list(found.to_columns(tidy=True))
    assert written[1].read_text("utf-8").splitlines()[0].split(",") == names
    assert sheets(written[3].read_bytes())["dept × sex"][0] == names
    assert json.loads(written[4].read_text("utf-8"))["dimension"]["measure"]["category"]["index"] == names[2:]
    assert "Numbers in large type are tidy" in written[0].read_text("utf-8")
    again = [path.read_bytes() for path in found.publish(tmp_path / "again", tidy=True)]
    assert again == [path.read_bytes() for path in written], "the same release gives the same files"


def test_any_question_can_be_published(tmp_path: Path) -> None:
    with session() as db:
        written = db.ask("SELECT dept, AVG(cost) AS m, MODE(sex) AS most FROM people GROUP BY dept", epsilon=1).publish(tmp_path)
    assert all(path.stat().st_size for path in written)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with session() as db:
        found = db.ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    with pytest.raises(Invalid, match="cannot be made"):
        found.publish(tmp_path / "file")
    for write in (found.to_xlsx, found.to_html, found.to_jsonstat):
        with pytest.raises(Invalid, match="cannot be written"):
            write(tmp_path / "none" / "x")


def test_grouping_bits_are_not_printed() -> None:
    with session() as db:
        found = db.ask("SELECT dept, GROUPING(dept) AS bit, COUNT(*) AS n FROM people GROUP BY ROLLUP (dept)", epsilon=1)
    assert "bit" not in (found.to_html() or "bit").split("</table>")[0].split("<body>")[1]
    assert "bit" in found.to_columns()
