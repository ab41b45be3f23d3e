"""jobclaw: a message-router daemon for IM that knows no channel, no agent and no job."""

__version__ = "0.1.0"
