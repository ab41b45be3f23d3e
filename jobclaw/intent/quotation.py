"""Where a text quotes instead of speaking: quotation marks, code, addresses, names of files.

A keyword there says what the message mentions, not what its sender wants. All patterns are for
normalised text (lower case, half-width punctuation) and take linear time, since the text comes
from strangers.
"""

from __future__ import annotations

import re

import msgspec

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = "a-z0-9"
_EXTENSIONS = (
    "pdf|docx?|xlsx?|pptx?|txt|md|csv|tsv|jsonl?|ya?ml|xml|html?|zip|rar|7z|tar|gz|png|jpe?g|gif|webp"
    "|svg|mp[34]|wav|mov|pyc?|java|jsx?|tsx?|go|rs|cpp|php|sh|bat|log|ini|cfg|conf|toml|sql|db|exe|apk"
)
_DOMAINS = (
    "com|cn|org|net|io|co|ai|dev|app|me|edu|gov|info|example|test|local|jobs|hk|tw|uk|de|jp"
)

# Marks without a partner count for nothing.
_QUOTES = re.compile(
    r'"[^"\n]*"|[“„][^“”„]*[”“]|‘(?:[^‘’]|(?<=[a-z])’(?=[a-z]))*+’|「[^「」]*」|『[^『』]*』'
    r"|《[^《》]*》|〈[^〈〉]*〉|«[^«»]*»|‹[^‹›]*›"
    rf"|(?<![{_WORD}])'(?=\S)(?:[^'\n]|(?<=[a-z])'(?=[a-z]))*+'(?![{_WORD}])"
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
# Chinese is part of an address after a sign that leads on to something: /推荐岗位, ?q=推荐.
# After a letter or a full-width ，。？ (half-width by now) the sender goes on speaking.
_ON = rf"(?:(?<=[/=&_+-])[{_CJK}]++[!-~]*+)*+"
_URL = re.compile(
    rf"(?:[a-z][a-z0-9+.-]{{1,20}}://|(?<![{_WORD}])www\.)[!-~]++{_ON}"
    rf"|(?<![{_WORD}.-])(?:[a-z0-9-]+\.)+(?:{_DOMAINS})(?![{_WORD}-])(?:[/:?][!-~]*+{_ON})?"
    r"|(?<![!-~])(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]*)+|(?<![a-z0-9])[a-z]:\\[!-~]+"
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+", re.ASCII)
_FILE = re.compile(
    rf"(?:(?<![{_WORD}])[{_WORD}]++|(?<![{_CJK}])[{_CJK}]++)"
    rf"(?:[-_.+()]+(?:[{_WORD}]++|[{_CJK}]++))*?\.(?:{_EXTENSIONS})(?![{_WORD}])"
)
# foo_bar, 查询_进度, job-search, 003-查询进度, 查询进度-003
_IDENTIFIER = re.compile(
    rf"(?:(?<![{_WORD}])[{_WORD}]++|(?<![{_CJK}])[{_CJK}]++)(?:_+(?:[{_WORD}]++|[{_CJK}]++))+"
    rf"|(?<![{_WORD}-])[{_WORD}]++(?:[-_.][{_WORD}]++)*-(?:[{_WORD}]++|(?<=\d\d-)[{_CJK}]++)"
    rf"|(?<![{_CJK}])[{_CJK}]++-[a-z]{{0,6}}\d\d[a-z0-9-]*+(?![{_CJK}])"
)
# What a pattern cannot do without, the pattern, and whether it matches a token.
_PATTERNS = (
    ("\"'“„‘「『《〈«‹", _QUOTES, False),
    ("`", _CODE, False),
    ("@", _EMAIL, True),
    ("/\\.", _URL, True),
    (".", _FILE, True),
    ("-_", _IDENTIFIER, True),
)
_SIGN = re.compile("[\"'“„‘「『《〈«‹`@/\\\\._-]")


class Quotation(msgspec.Struct, frozen=True, gc=False):
    """A stretch `start:end`; a `token` may be a keyword itself, unlike what stands in marks."""

    start: int
    end: int
    token: bool

    def covers(self, start: int, end: int) -> bool:
        """Whether what stands at `start:end` is quoted, at least with a part of it."""
        if start >= self.end or end <= self.start:
            return False
        return not (self.token and start <= self.start and end >= self.end)


def find_quotations(text: str) -> list[Quotation]:
    """All quotations of a normalised text; they may overlap."""
    signs = set(_SIGN.findall(text))
    if not signs:
        return []
    return [
        Quotation(found.start(), found.end(), token)
        for needed, pattern, token in _PATTERNS
        if not signs.isdisjoint(needed)
        for found in pattern.finditer(text)
    ]
