"""How `jobclaw init` sets a model up: from options, or by asking on a terminal."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from jobclaw.cli.doctor_run import probe_lines
from jobclaw.cli.terminal import Terminal
from jobclaw.errors import UsageError
from jobclaw.llm.presets import PRESETS, Preset, find_preset
from jobclaw.llm.targets import is_local
from jobclaw.settings import load_settings
from jobclaw.settings.overlay import set_section

NO = frozenset({"n", "no", "否", "不"})


@dataclass(frozen=True)
class ModelOptions:
    """What the command line says of the model; empty: the preset's own."""

    preset: str = ""
    model: str = ""
    api_base: str = ""
    key_env: str = ""

    @property
    def is_given(self) -> bool:
        """Whether anything was said."""
        return any((self.preset, self.model, self.api_base, self.key_env))


def check_options(options: ModelOptions) -> None:
    """Refuse options that name no model, before anything is written.

    Raises:
        UsageError: there is no such preset, or it lacks something.
    """
    if options.is_given:
        _preset(options)


def set_up_model(terminal: Terminal, config: Path, options: ModelOptions) -> int:
    """Write the model into `local.yaml` beside `config` and offer to ask it; 1 if that fails.

    Without options it asks on a terminal, where no answer means no model, and elsewhere does
    nothing.

    Raises:
        UsageError: there is no such preset, or it lacks something.
    """
    asks = not options.is_given
    if asks and not (terminal.is_screen() and sys.stdin.isatty()):
        return 0
    chosen = _asked(terminal) if asks else options
    if not chosen.preset:
        terminal.show(terminal.say("init.no-model"))
        return 0
    preset = _preset(chosen)
    base = chosen.api_base or preset.api_base
    key_env = chosen.key_env or _key_env(preset, base)
    section = {
        "model": preset.qualified(chosen.model),
        "api_base": base,
        "api_key": f"${{{key_env}}}" if key_env else "",
    }
    local = config.with_name("local.yaml")
    set_section(local, "llm", section)
    terminal.show(terminal.say("init.model", file=str(local), model=section["model"]))
    if key_env and not os.environ.get(key_env):
        terminal.show(terminal.say("init.key-missing", name=key_env))
        return 0
    if asks and _line(terminal.say("init.probe-now")).lower() not in NO:
        return _probed(terminal, config)
    terminal.show(terminal.say("init.probe-later"))
    return 0


def _key_env(preset: Preset, api_base: str) -> str:
    """The variable that usually holds the key; a server of one's own needs none."""
    own = preset.ask_base and is_local(preset.qualified("any"), api_base)
    return "" if own else preset.key_env


def _preset(options: ModelOptions) -> Preset:
    preset = find_preset(options.preset or "compatible")
    if preset is None:
        raise UsageError("init.no-such-preset", name=options.preset, known=_known())
    if not (options.model or preset.model):
        raise UsageError("init.model-needed", name=preset.name)
    if preset.ask_base and not options.api_base:
        raise UsageError("init.base-needed", name=preset.name)
    return preset


def _asked(terminal: Terminal) -> ModelOptions:
    """Ask what the options would say; Enter takes what stands in brackets."""
    terminal.show(terminal.say("init.which-model"))
    for number, one in enumerate(PRESETS, 1):
        terminal.show(f"  {number}. {one.title} ({one.name})")
    preset = _asked_preset(terminal)
    if preset is None:
        return ModelOptions()
    base = preset.api_base
    if preset.ask_base or preset.local:
        base = _line(terminal.say("init.ask-base", default=base)) or base
    model = _line(terminal.say("init.ask-model", default=preset.model))
    key_env = _key_env(preset, base)
    if key_env:
        key_env = _line(terminal.say("init.ask-key", default=key_env)) or key_env
    return ModelOptions(preset=preset.name, model=model, api_base=base, key_env=key_env)


def _asked_preset(terminal: Terminal) -> Preset | None:
    """The provider that is chosen, None for no model; a slip is asked again."""
    while said := _line(terminal.say("init.ask-preset")):
        if said.isdecimal() and 1 <= int(said) <= len(PRESETS):
            return PRESETS[int(said) - 1]
        preset = find_preset(said)
        if preset is not None:
            return preset
        terminal.show(terminal.say("init.no-such-preset", name=said, known=_known()))
    return None


def _known() -> str:
    return ", ".join(one.name for one in PRESETS)


def _line(question: str) -> str:
    """What is typed in answer; the end of input is Enter."""
    try:
        return input(f"{question} ").strip()
    except EOFError:
        return ""


def _probed(terminal: Terminal, config: Path) -> int:
    lines = probe_lines(terminal, load_settings(config, os.environ))
    for line in lines:
        terminal.show(line.shown)
    return 1 if any(line.state == "error" for line in lines) else 0
