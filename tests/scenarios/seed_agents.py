"""The agents of the seed's router cases, as a drop-in file."""

SOURCE = """
from collections.abc import AsyncIterator

from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, hookimpl


def _agent(agent_id, intents, **more):
    class Seed(Agent):
        intro = AgentIntro(id=agent_id, name=agent_id.title(), description="seed " + agent_id)

        async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
            args = "none" if request.args is None else repr(request.args)
            yield Markdown(f"{agent_id} got {request.text!r} args {args}")

    Seed.intents = intents
    for name, value in more.items():
        setattr(Seed, name, value)
    return Seed()


@hookimpl
def jobclaw_agents():
    return [
        _agent("default", ("DEFAULT",), priority=-1000),
        _agent("fetch", ("COLLECT",), role="admin"),
        _agent("recommend", ("RECOMMEND",)),
        _agent("job-recommend", ("JOBS",)),
        _agent("talk", ("TALK",)),
        _agent("plan", ("PLAN",), role="vip"),
        _agent("prefs", ("PROFILE",)),
    ]
"""
CONFIG = """
router: {identity_gate: "off", default_agent: default}
intent: {keywords_file: config/keywords.yaml}
plugins:
  disabled: [agent-identity, agent-chat, agent-job-recommend, agent-job-search, agent-progress]
"""
