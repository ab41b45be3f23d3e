"""Language models: the one place that knows litellm, which is imported only when needed.

`client.open_client` makes the client of a configuration, `scripted.ScriptedLlm` stands in for
a model in tests.
"""
