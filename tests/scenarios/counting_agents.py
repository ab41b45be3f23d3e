"""A drop-in with an agent that counts the messages of its session, and one that costs money."""

COUNTER = """
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Counter(Agent):
        intro = AgentIntro(id="counter", name="Counter", description="counts")
        intents = ("COUNT",)
        keywords = {"COUNT": {"数一数": 1.0}}

        async def handle(self, request):
            count = int(request.session.memory.get("count", "0")) + 1
            request.session.memory.set("count", str(count))
            yield Markdown(f"{count}")

    class Paid(Agent):
        intro = AgentIntro(id="paid", name="Paid", description="costs money")
        intents = ("PAID",)
        keywords = {"PAID": {"付费": 1.0}}
        role = "vip"

        async def handle(self, request):
            yield Markdown("paid")

    @hookimpl
    def jobclaw_agents():
        return [Counter(), Paid()]
"""
