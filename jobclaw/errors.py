"""What can go wrong in jobclaw, and who may catch it.

Policy: an error names a sentence of the message catalogue (`text_id`) and its values, so that
whoever shows it does so in the reader's language. Broad catching is for the
places where other people's code is called (agents, subscribers, plugins, adapters), for the
lane that must outlive a turn, and for the command line's last line; each logs the traceback.

    JobclawError
    ├── ConfigError      a setting, table or file is wrong; the command line shows it, exit 78
    ├── PluginError      one plugin cannot be used; everything else goes on
    ├── ChannelError     a platform call failed
    │   ├── RetryableChannelError   the outbox tries again, after `retry_after` seconds if given
    │   └── PermanentChannelError   the outbox gives up and records why
    ├── AgentError       an agent failed; the user gets a neutral sentence with an error id
    ├── IntentError      a classifier tier failed; the cascade goes on with the next one
    ├── StorageError     the store cannot be used (exit 65 damaged, 73 held, 74 I/O)
    └── UsageError       a command line asks for something that does not exist; exit 2
"""

from __future__ import annotations

from collections.abc import Sequence


class JobclawError(Exception):
    """Base of all; `text_id` names the catalogue sentence, `values` fill its placeholders."""

    exit_code = 1

    def __init__(self, text_id: str, /, **values: object) -> None:
        self.text_id = text_id
        self.values = values
        super().__init__(text_id)

    def __str__(self) -> str:
        """A form for logs; people see the catalogue's sentence instead."""
        detail = " ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.text_id} {detail}".rstrip()


class ConfigError(JobclawError):
    """A setting, a table or a file of the deployment is wrong.

    `problems`: all that was found, a sentence each, when there may be several.
    """

    exit_code = 78

    def __init__(
        self, text_id: str, /, *, problems: Sequence[ConfigError] = (), **values: object
    ) -> None:
        super().__init__(text_id, **values)
        self.problems = tuple(problems)


class PluginError(JobclawError):
    """One plugin cannot be used."""


class ChannelError(JobclawError):
    """A platform call failed."""


class RetryableChannelError(ChannelError):
    """Trying again may help; `retry_after` is in seconds, None if unknown."""

    def __init__(
        self, text_id: str, /, *, retry_after: float | None = None, **values: object
    ) -> None:
        super().__init__(text_id, **values)
        self.retry_after = retry_after


class PermanentChannelError(ChannelError):
    """Trying again cannot help."""


class AgentError(JobclawError):
    """An agent could not answer."""


class IntentError(JobclawError):
    """A classifier tier failed."""


class StorageError(JobclawError):
    """The store cannot be used; `exit_code` says how a command ends (65, 73 or 74)."""

    def __init__(self, text_id: str, /, *, exit_code: int = 74, **values: object) -> None:
        super().__init__(text_id, **values)
        self.exit_code = exit_code


class UsageError(JobclawError):
    """A command line names something that does not exist or cannot be combined."""

    exit_code = 2
