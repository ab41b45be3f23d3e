"""The composition root: the only place that knows every part and wires them.

`core` wires what decides, `engine` adds what accepts, answers and delivers, `chat` and `daemon`
are the two processes made of them. Nothing here decides anything.
"""
