"""Speed and size of the keyword table (P5): `python bench/keywords.py [--json] [--peer PY]`.

The table is made up, always the same: 90 000 words of 2 to 5 of the 6 763 characters of
GB 2312 (frequent ones more often) and 10 000 Latin ones. `--peer` names a Python that has
pyahocorasick, in an environment of its own; it gets the same keywords and texts.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

from harness import Figure, at_least, at_most, cpu_us, parser, report, resident_mb

from jobclaw.intent.cascade import Cascade
from jobclaw.intent.keyword_table import KeywordTable
from jobclaw.intent.normalise import normalise

SIZE = 100_000
LATIN_SIZE = 10_000
INTENTS = ("COLLECT", "PROFILE", "QUERY", "RECOMMEND", "SEARCH")
WEIGHTS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SHORT = "帮我看看有没有合适的 java 岗位推荐"
PEER = """
import json, sys, time, statistics, ahocorasick
keywords, texts = json.load(sys.stdin)
automaton = ahocorasick.Automaton()
for number, keyword in enumerate(keywords):
    automaton.add_word(keyword, number)
automaton.make_automaton()
def one(text, repeat):
    started = time.process_time_ns()
    for _ in range(repeat):
        list(automaton.iter(text))
    return (time.process_time_ns() - started) / repeat / 1000
print(json.dumps([statistics.median(one(t, 20000 // len(t)) for _ in range(7)) for t in texts]))
"""


def make_keywords(size: int) -> list[str]:
    """The same keywords every time."""
    rng = random.Random(1)  # noqa: S311 (no secret)
    rows = ((high, low) for high in range(0xB0, 0xF8) for low in range(0xA1, 0xFF))
    chars = [bytes(row).decode("gb2312") for row in rows if row[0] != 0xD7 or row[1] < 0xFA]
    rng.shuffle(chars)
    weights = [1 / (rank + 20) for rank in range(len(chars))]
    syllables = [a + b for a in "bcdfghklmnprst" for b in ("a", "e", "i", "o", "u", "er", "in")]
    latin = size * LATIN_SIZE // SIZE
    found: set[str] = set()
    while len(found) < size - latin:
        length = rng.choice((2, 2, 2, 3, 3, 4, 4, 5))
        found.add("".join(rng.choices(chars, weights, k=length)))
    while len(found) < size:
        words = ["".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(2)]
        found.add(" ".join(words[: rng.randint(1, 2)]))
    return sorted(found)


def as_intents(keywords: list[str]) -> dict[str, dict[str, float]]:
    """The keywords dealt out to intents and weights."""
    return {
        intent: {
            word: WEIGHTS[number % len(WEIGHTS)]
            for number, word in enumerate(keywords[offset :: len(INTENTS)])
        }
        for offset, intent in enumerate(INTENTS)
    }


def long_text(keywords: list[str]) -> str:
    """Two thousand characters with a keyword every forty."""
    words = keywords[:: len(keywords) // 60]
    filled = "".join(f"{SHORT}今天天气很好大家一起出去走走，{word}。" for word in words)
    return filled[:2000]


def measure_memory(keywords: list[str]) -> float:
    """What a built table adds to this process, its source not counted."""
    KeywordTable.build({"A": {"推薦": 1.0}}, {})  # what is loaded once
    intents = as_intents(keywords)
    before = resident_mb()
    table = KeywordTable.build(intents, {})
    grown = resident_mb() - before
    return grown if len(table) else 0.0


def naive(keywords: list[str], text: str) -> list[str]:
    """What a router without an automaton does."""
    return [word for word in keywords if word in text]


def peer_figures(python: Path, keywords: list[str], texts: dict[str, float]) -> list[Figure]:
    """The same scans by pyahocorasick; `texts` with our own times."""
    output = subprocess.run(
        [str(python), "-c", PEER],
        input=json.dumps([keywords, list(texts)]).encode(),
        capture_output=True,
        check=True,
    ).stdout
    figures: list[Figure] = []
    for (text, ours), theirs in zip(texts.items(), json.loads(output), strict=True):
        name = f"pyahocorasick, {len(text)} characters"
        figures += [
            Figure(name, round(theirs, 3), "µs"),
            at_least(f"{name}, times ours", theirs / ours, 5, "x"),
        ]
    return figures


def table_figures(keywords: list[str]) -> tuple[list[Figure], dict[str, float]]:
    """Build and scan; also our time for each text."""
    intents = as_intents(keywords)
    table = KeywordTable.build(intents, {})
    short, long = normalise(SHORT), normalise(long_text(keywords))
    short_us = cpu_us(lambda: table.scan(short), repeat=20_000)
    long_us = cpu_us(lambda: table.scan(long), repeat=500)
    build_ms = cpu_us(lambda: KeywordTable.build(intents, {}), repeat=1, rounds=5) / 1000
    naive_us = cpu_us(lambda: naive(keywords, short.text), repeat=1)
    figures = [
        at_most("rebuild", build_ms, 300, "ms"),
        at_most(f"scan {len(short.text)} characters", short_us, 2, "µs"),
        at_most(f"scan {len(long.text)} characters", long_us, 100, "µs"),
        Figure("hits in the long text", len(table.scan(long)), ""),
        Figure("naive loop", round(naive_us, 1), "µs"),
        at_least("naive loop, times ours", naive_us / short_us, 1000, "x"),
    ]
    return figures, {short.text: short_us, long.text: long_us}


def classify_figures() -> list[Figure]:
    """The whole judgement with 10 000 keywords, on texts with hits."""
    own = {"RECOMMEND": {"推荐": 1.0, "有没有合适的": 0.9}, "SEARCH": {"岗位": 0.8}}
    cascade = Cascade(KeywordTable.build(as_intents(make_keywords(10_000)) | own, {}))
    texts = {
        "classify, 20 characters, hits and a question": SHORT,
        "classify, 20 characters, hits": "给我推荐几个上海的 java 后端岗位看看",
        "classify, 20 characters, nothing found": "今天的天气真的很不错我们一起出去走走吧",
    }
    return [
        at_most(name, cpu_us(lambda text=text: cascade.classify(text), repeat=5000), 15, "µs")
        for name, text in texts.items()
    ] + [
        Figure(
            "normalise, 20 characters",
            round(cpu_us(lambda: normalise(SHORT), repeat=20_000), 3),
            "µs",
        )
    ]


def own_memory() -> float:
    """Memory in a fresh process: earlier tables leave free memory that hides a new one."""
    output = subprocess.run(
        [sys.executable, __file__, "--memory"], capture_output=True, check=True
    ).stdout
    return float(output)


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--peer", type=Path, help="a Python that has pyahocorasick")
    options.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    keywords = make_keywords(SIZE)
    if chosen.memory:
        print(measure_memory(keywords))
        return
    figures, texts = table_figures(keywords)
    figures.append(at_most("memory", own_memory(), 20, "MB"))
    figures += classify_figures()
    if chosen.peer:
        figures += peer_figures(chosen.peer, keywords, texts)
    report(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
