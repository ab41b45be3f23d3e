"""The way in, the way out, and the events between: inbox, ordered lanes, outbox, event bus."""
