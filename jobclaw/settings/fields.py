"""The kinds of values that the configuration is made of, strict about what they take.

A number is a number and a switch is true or false: text such as "10" or "yes" is refused. Only
where `${ENV}` was filled in, which can be nothing but text, is text read as what is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError

from jobclaw.errors import ConfigError

_SWITCHES = {"true": True, "yes": True, "on": True, "1": True} | {
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


class FilledIn(str):
    """A text that `${ENV}` or `file:` gave; it may stand for a number, and is never shown."""

    __slots__ = ()


@dataclass(frozen=True)
class Origin:
    """Where settings come from: `root` is what relative paths start from."""

    root: Path = Path()
    shipped: Path = Path()
    files: tuple[Path, ...] = ()


class Section(BaseModel):
    """A frozen group of settings; an unknown key in it is an error."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        validate_default=True,
        defer_build=True,
    )
    # The fields that are one account's own and that another account never inherits.
    credentials: ClassVar[frozenset[str]] = frozenset()


def complain(problems: list[tuple[tuple[str, ...], ConfigError]]) -> None:
    """Raise what a validator found, each with the path below the section, if it is anything."""
    if problems:
        raise PydanticCustomError("settings_problems", "problems", {"problems": problems})


def _as_switch(value: object) -> object:
    if isinstance(value, FilledIn):
        return _SWITCHES.get(value.strip().lower(), value)
    return value


def _as_number(value: object) -> object:
    if not isinstance(value, FilledIn):
        return value
    for kind in (int, float):
        try:
            return kind(value.strip())
        except ValueError:
            continue
    return value


def _rooted(value: object, info: ValidationInfo) -> object:
    """A path as the user means it: relative to the folder that holds `config/`."""
    if isinstance(value, str) and value.strip():
        value = Path(value).expanduser()
    origin = cast("object", info.context)
    return (
        origin.root / value if isinstance(value, Path) and isinstance(origin, Origin) else value
    )


def _shipped(value: object, info: ValidationInfo) -> object:
    """As `_rooted`, but what is not there comes from the defaults in the package."""
    path = _rooted(value, info)
    origin = cast("object", info.context)
    if isinstance(path, Path) and isinstance(origin, Origin) and not path.exists():
        default = origin.shipped / path.name
        return default if default.is_file() else path
    return path


Switch = Annotated[bool, BeforeValidator(_as_switch)]
Number = Annotated[float, BeforeValidator(_as_number)]
Share = Annotated[float, BeforeValidator(_as_number), Field(ge=0, le=1)]
Seconds = Annotated[float, BeforeValidator(_as_number), Field(gt=0)]
Count = Annotated[int, BeforeValidator(_as_number), Field(ge=0)]
Limit = Annotated[int, BeforeValidator(_as_number), Field(ge=1)]
Strings = Annotated[tuple[str, ...], Field(strict=False)]
Secret = SecretStr
NO_SECRET = SecretStr("")
Url = Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]
OptionalUrl = Annotated[str, StringConstraints(pattern=r"^(https?://\S+)?$")]
SocketUrl = Annotated[str, StringConstraints(pattern=r"^wss?://\S+$")]
RootedPath = Annotated[Path, BeforeValidator(_rooted)]
RootedPaths = Annotated[tuple[RootedPath, ...], Field(strict=False)]
ShippedPath = Annotated[Path, BeforeValidator(_shipped)]
