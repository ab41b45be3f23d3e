"""Which models are asked, with which key; and the presets, against the installed library."""

from typing import Any, cast

import pytest

from jobclaw.llm.library import Library
from jobclaw.llm.presets import PRESETS, Preset, find_preset
from jobclaw.llm.targets import is_local, targets_of
from jobclaw.settings.services import LlmSettings


def settings_of(**given: object) -> LlmSettings:
    return LlmSettings.model_validate(given)


def test_a_key_is_never_shown_to_another_provider():
    targets = targets_of(
        settings_of(
            model="deepseek/deepseek-chat",
            api_base="https://api.deepseek.com",
            api_key="secret-of-deepseek",
            fallbacks=["deepseek/deepseek-reasoner", "openai/gpt-4o-mini", "gpt-4o-mini"],
        )
    )
    assert [target.api_key for target in targets] == ["secret-of-deepseek"] * 2 + [""] * 2
    assert [target.api_base for target in targets] == ["https://api.deepseek.com"] * 2 + [
        ""
    ] * 2
    assert "secret-of-deepseek" not in repr(targets)


def test_a_model_is_asked_once_however_often_it_is_named():
    targets = targets_of(settings_of(model="openai/a", fallbacks=["openai/a", "openai/b"]))
    assert [target.model for target in targets] == ["openai/a", "openai/b"]


@pytest.mark.parametrize(
    ("model", "base", "local"),
    [
        ("ollama_chat/qwen2.5", "", True),
        ("openai/test", "http://127.0.0.1:1/v1", True),
        ("openai/test", "http://[::1]:1/v1", True),
        ("openai/test", "http://192.168.1.7:11434", True),
        ("openai/test", "http://localhost:8000/v1", True),
        ("openai/test", "https://8.8.8.8/v1", False),
        ("openai/test", "https://api.example.com/v1", False),
        ("openai/test", "", False),
    ],
)
def test_what_is_local(model: str, base: str, local: bool):
    assert is_local(model, base) is local


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_makes_a_valid_section(preset: Preset):
    section = settings_of(
        model=preset.qualified("some-model"), api_base=preset.api_base, api_key="k" * 20
    )
    [target] = targets_of(section)
    assert target.model == f"{preset.prefix}/some-model"
    assert preset.qualified(target.model) == target.model
    assert target.local is preset.local
    assert bool(preset.key_env) is not preset.local
    assert find_preset(preset.name.upper()) == preset


async def test_the_library_knows_every_preset():
    litellm = cast("Any", await Library().load())
    known = {str(getattr(one, "value", one)) for one in litellm.provider_list}
    for preset in PRESETS:
        model = preset.qualified(preset.model or "some-model")
        _, provider, _, _ = litellm.get_llm_provider(model)
        assert provider == preset.prefix
        assert provider in known
