"""Messages in the words of the console: they are written for programs too, and name arguments where a page has fields."""

from __future__ import annotations

import re

_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"give size=1000, for the size of", "fill in “Rows in a group” with the size of"),
        (r"; other=True gives them a category", ""),
        (r"connect with delta=1e-6, or pass delta=", "ask the owner for a budget with a δ"),
        (r"declare its keys and pass delta=0", "ask the owner to declare its groups, or for more δ"),
        (r"declare them with keys=\{[^}]*\}", "ask the owner to declare them as keys"),
        (r"give epsilon=0\.1, or in SQL", "type an ε, or write"),
        (r"^(release|plan)\(\) does not take these: .*", "This price does not suit this question: type another ε."),
        (r"(^|\b(?:an?|larger|give) )epsilon\b(?!\s*=)", r"\1ε"),
        (r"(^|\b(?:a|its|larger|or|and) )delta\b(?!\s*=)", r"\1δ"),
        (r"^ε must be positive$", "ε must be positive: type a number above 0, such as 0.1"),
    )
)


def plain(text: str) -> str:
    """A message as a person reads it.

    >>> plain("epsilon must be positive")
    'ε must be positive: type a number above 0, such as 0.1'
    >>> plain("the error of m depends on the group size: give size=1000, for the size of the groups you care about")
    'the error of m depends on the group size: fill in “Rows in a group” with the size of the groups you care about'
    >>> plain("SELECT epsilon FROM t: there is no column epsilon")
    'SELECT epsilon FROM t: there is no column epsilon'
    """
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text
