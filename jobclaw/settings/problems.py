"""Turns what the schema finds wrong into sentences: which key, what was given, what is due.

A value that is or may be a secret is never shown, nor is one that came from the environment.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, cast, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError

from jobclaw.errors import ConfigError
from jobclaw.settings.fields import FilledIn
from jobclaw.settings.placeholders import Keys
from jobclaw.settings.schema import Settings
from jobclaw.settings.secrets import names_secret
from jobclaw.settings.sources import dotted

_HIDDEN = "***"
_SHOWN = 60
_SENTENCES = {
    "int_type": "config.not-integer",
    "float_type": "config.not-number",
    "finite_number": "config.not-number",
    "bool_type": "config.not-switch",
    "string_type": "config.not-text",
    "path_type": "config.not-text",
    "is_instance_of": "config.not-text",
    "literal_error": "config.not-one-of",
    "tuple_type": "config.not-list",
    "dict_type": "config.not-map",
    "model_type": "config.not-map",
    "model_attributes_type": "config.not-map",
    "greater_than": "config.not-above",
    "greater_than_equal": "config.too-small",
    "less_than_equal": "config.too-large",
    "string_pattern_mismatch": "config.bad-form",
}


def complaints(error: ValidationError) -> Iterator[tuple[Keys, ConfigError]]:
    """Every complaint of the schema with the path it is about."""
    for detail in error.errors(include_url=False):
        keys = tuple(key for key in detail["loc"] if key != "[key]")
        context = cast("Mapping[str, Any]", detail.get("ctx", {}))
        if detail["type"] == "settings_problems":
            for below, problem in context["problems"]:
                yield (*keys, *below), problem
        elif detail["type"] == "extra_forbidden":
            yield keys, _unknown(keys)
        else:
            text_id = _SENTENCES.get(detail["type"], "config.invalid-value")
            yield (
                keys,
                ConfigError(
                    text_id,
                    given=_shown(detail["input"], keys),
                    due=_due(context),
                    reason=detail["msg"],
                ),
            )


def _due(limits: Mapping[str, object]) -> str:
    """The bound or the choices that an error names."""
    if "expected" in limits:
        return ", ".join(re.findall(r"'([^']*)'", str(limits["expected"])))
    return ", ".join(
        str(limits[name]) for name in ("gt", "ge", "le", "pattern") if name in limits
    )


def _shown(value: object, keys: Keys) -> str:
    node = _node_at(keys)
    secret = node is SecretStr or any(names_secret(str(key)) for key in keys)
    if secret or isinstance(value, FilledIn):
        return _HIDDEN
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value).replace("\n", " ")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _unknown(keys: Keys) -> ConfigError:
    parent, name = keys[:-1], str(keys[-1])
    model = _node_at(parent)
    names = list(model.model_fields) if _is_model(model) else []
    near = difflib.get_close_matches(name, names, 1)
    if near:
        return ConfigError("config.unknown-key", near=dotted((*parent, near[0])))
    elsewhere = [path for path in _paths(Settings, ()) if path[-1] == name]
    if len(elsewhere) == 1:
        return ConfigError("config.unknown-key", near=dotted(elsewhere[0]))
    return ConfigError("config.unknown-key-of", known=", ".join(sorted(names)))


def _is_model(node: object) -> bool:
    return isinstance(node, type) and issubclass(node, BaseModel)


def _plain(annotation: object) -> object:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _node_at(keys: Keys) -> Any:  # noqa: ANN401  (a model, SecretStr, or any other annotation)
    """What the schema says stands at a path; None where it says nothing."""
    node: Any = Settings
    for key in keys:
        if _is_model(node):
            field = node.model_fields.get(key)
            node = None if field is None else _plain(field.annotation)
        elif get_origin(node) in {dict, tuple}:
            node = _plain(get_args(node)[1 if get_origin(node) is dict else 0])
        else:
            return None
    return node


def _paths(model: type[BaseModel], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Every dotted name below a model, channels apart, which all have the same ones."""
    for name, field in model.model_fields.items():
        yield (*above, name)
        node = _plain(field.annotation)
        if _is_model(node) and name != "channels":
            yield from _paths(cast("type[BaseModel]", node), (*above, name))
