"""Cut a text into statements, and tell by its first word what each one is; comments may state a price."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, final

from attrs import frozen

from discreet.errors import Refused
from discreet.exact import short
from discreet.query.sql.written_price import price_in_comments
from discreet.server.postgres_wire.sqlstates import INVALID_VALUE, NOT_SUPPORTED, Failure

Sort: TypeAlias = Literal["empty", "transaction", "setting", "explain", "copy", "query"]
_PIECES = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|$))
      | (?P<quoted>[eE]'(?:\\.|''|[^'\\])*(?:'|$)|'(?:''|[^'])*(?:'|$)|"(?:""|[^"])*(?:"|$)|\$(?P<tag>[A-Za-z_]?\w*)\$.*?(?:\$(?P=tag)\$|$))
      | (?P<end>;)
      | (?P<plain>[^-/;'"$eE]+|.)""",
    re.DOTALL | re.VERBOSE,
)
_SORTS: dict[str, Sort] = {
    **dict.fromkeys(("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"), "transaction"),
    **dict.fromkeys(("SET", "RESET", "SHOW", "DISCARD", "DEALLOCATE", "UNLISTEN", "CLOSE"), "setting"),
    **dict.fromkeys(("SELECT", "WITH", "VALUES", "TABLE", "FROM"), "query"),
    "EXPLAIN": "explain",
    "COPY": "copy",
}


@final
@frozen
class Statement:
    """One statement: as it was written, without its comments, and the comments."""

    text: str
    bare: str
    comments: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """Its first words, in capitals."""
        return [word.upper() for word in self.bare.split(None, 4)[:4]]

    @property
    def sort(self) -> Sort:
        """What kind of statement it is; a Failure if there is no such kind here."""
        if not self.bare:
            return "empty"
        if self.bare.startswith("("):
            return "query"
        word = re.split(r"\W", self.bare, maxsplit=1)[0].upper()
        if word not in _SORTS:
            said = f"{word[:30]}: only" if word else "only"
            raise Failure(NOT_SUPPORTED, f"{said} questions are answered here, and nothing can be changed", "write SELECT … FROM …")
        return _SORTS[word]

    def price(self, clause: frozenset[str] = frozenset()) -> dict[str, str]:
        """The price that its comments state, as in /* epsilon=0.1 */.

        A Failure if it cannot be read, or `clause` states it too: another price would be paid instead.
        """
        inside = (comment.removeprefix("--").removeprefix("/*").removesuffix("*/") for comment in self.comments)
        try:
            return {name: short(amount) for name, amount in price_in_comments(inside, clause).items()}
        except Refused as error:
            raise Failure(INVALID_VALUE, str(error)) from None


def split(text: str) -> list[Statement]:
    """The statements of a text; at least one, which may be empty. Comments after a semicolon are about the statement before it."""
    found: list[tuple[str, str, list[str]]] = []
    written, bare, comments = list[str](), list[str](), list[str]()

    def end() -> None:
        said = "".join(bare).strip()
        if not said and found:
            found[-1][2].extend(comments)
        else:
            found.append(("".join(written), said, list(comments)))
        written.clear()
        bare.clear()
        comments.clear()

    for piece in _PIECES.finditer(text):
        if piece["end"]:
            end()
            continue
        written.append(piece[0])
        bare.append(" " if piece["comment"] else piece[0])
        if piece["comment"]:
            comments.append(piece["comment"])
    end()
    statements = [Statement(one, without, tuple(said)) for one, without, said in found]
    return [one for one in statements if one.bare] or statements[:1]
