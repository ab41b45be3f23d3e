"""Finding, loading, checking and reloading plugins, each so that its faults stay its own."""

from jobclaw.plugins.failure import PluginFailure
from jobclaw.plugins.host import PluginHost, PluginInfo

__all__ = ["PluginFailure", "PluginHost", "PluginInfo"]
