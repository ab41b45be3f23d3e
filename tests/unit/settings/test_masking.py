"""No secret is shown, wherever people put it; what is none stays readable."""

import json
from pathlib import Path

import pytest

from jobclaw.settings import load_settings
from jobclaw.settings.masking import MASK, masked

S = "hunter2-hunter2"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (f"http://user:{S}@h/p", f"http://{MASK}@h/p"),
        (f"http://{S}@h:1/p?q=1", f"http://{MASK}@h:1/p?q=1"),
        (f"http://h/p?api_key={S}&q=1", f"http://h/p?api_key={MASK}&q=1"),
        (f"https://h/?q=1&access_token={S}#x", f"https://h/?q=1&access_token={MASK}#x"),
        (["srv", f"--token={S}", "-v"], ["srv", f"--token={MASK}", "-v"]),
        (["srv", "--token", S, "x"], ["srv", "--token", MASK, "x"]),
        (["srv", "--api-key", S], ["srv", "--api-key", MASK]),
        (["srv", "--password", S], ["srv", "--password", MASK]),
        (["env", f"OPENAI_API_KEY={S}", "srv"], ["env", f"OPENAI_API_KEY={MASK}", "srv"]),
        (["sh", "-c", f"srv --token {S} -v"], ["sh", "-c", f"srv --token {MASK} -v"]),
        (
            ["curl", "-H", f"Authorization: Bearer {S}"],
            ["curl", "-H", f"Authorization: {MASK}"],
        ),
        ({"a": [{"b": f"x://u:{S}@h"}]}, {"a": [{"b": f"x://{MASK}@h"}]}),
    ],
)
def test_secrets_are_hidden(value: object, shown: object):
    assert masked(value) == shown


@pytest.mark.parametrize(
    "value",
    [
        "https://api.telegram.org",
        "http://h/a@b?q=1",
        "config/keywords.yaml",
        ["npx", "-y", "@scope/server", "--port", "80", "--name=x"],
        {"level": "info", "n": 3, "on": True, "none": None},
    ],
)
def test_the_rest_stays_as_it_is(value: object):
    assert masked(value) == value


def test_nothing_of_a_configuration_gives_a_secret_away(tmp_path: Path):
    file = tmp_path / "jobclaw.yaml"
    file.write_text(
        f"""
llm: {{api_base: "http://user:{S}@h/", fallbacks: ["x?key={S}"]}}
mcp:
  servers:
    one: {{command: [srv, "--token={S}"], env: {{ANY: "{S}"}}}}
    two: {{command: [srv, --api-key, "{S}"]}}
    three: {{url: "https://h/?token={S}", headers: {{X: "{S}"}}}}
channels:
  pigeon: {{enabled: true, nested: {{token: "{S}", list: [{{secret: "{S}"}}]}}, url: "a://{S}@h"}}
""",
        "utf-8",
    )
    settings = load_settings(file, {})
    assert S not in json.dumps(settings.show())
