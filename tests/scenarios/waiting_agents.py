"""Agents that wait for each other, so that tests know what is running without sleeping.

放行 sets the running ones free; 等开始 is answered once one of them has begun. A word names the
kind: 等 waits on the event loop, 堵 in a thread, 赖 swallows every attempt to stop it.
"""

SOURCE = '''
    import asyncio
    import threading

    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl


    BEGUN = threading.Semaphore(0)
    FREE = threading.Event()


    async def freed():
        """What a thread waits for, on the loop."""
        while not FREE.is_set():
            await asyncio.sleep(0.005)


    def note(request):
        memory = request.session.memory
        memory.set("texts", memory.get("texts") + request.text + ";")


    class Wait(Agent):
        intro = AgentIntro(id="wait", name="Wait", description="waits on the loop")
        intents = ("WAIT",)
        keywords = {"WAIT": {"等": 1.0}}

        async def handle(self, request):
            note(request)
            yield Markdown("begun ")
            BEGUN.release()
            await freed()
            yield Markdown(f"ended {request.session.memory.get('texts')}")


    class Block(Agent):
        intro = AgentIntro(id="block", name="Block", description="blocks its thread")
        intents = ("BLOCK",)
        keywords = {"BLOCK": {"堵": 1.0}}

        def handle(self, request):
            note(request)
            yield Markdown("begun ")
            BEGUN.release()
            FREE.wait(20)
            yield Markdown(f"ended {request.session.memory.get('texts')}")


    class Cling(Agent):
        intro = AgentIntro(id="cling", name="Cling", description="does not let go")
        intents = ("CLING",)
        keywords = {"CLING": {"赖": 1.0}}

        async def handle(self, request):
            note(request)
            yield Markdown("begun ")
            BEGUN.release()
            while not FREE.is_set():
                try:
                    await freed()
                except asyncio.CancelledError:
                    note(request)
            yield Markdown(f"ended {request.session.memory.get('texts')}")


    class Tell(Agent):
        intro = AgentIntro(id="tell", name="Tell", description="tells what it knows")
        intents = ("TELL",)
        keywords = {"TELL": {"说说": 1.0, "期望薪资": 1.0, "刚才说了什么": 1.0}}

        async def handle(self, request):
            note(request)
            past = [turn.text for turn in request.session.history()]
            yield Markdown(f"memory {request.session.memory.get('texts')} history {past}")


    class Warden(Agent):
        intro = AgentIntro(id="warden", name="Warden", description="frees and reports")
        intents = ("FREE", "BEGUN")
        keywords = {"FREE": {"放行": 1.0}, "BEGUN": {"等开始": 1.0}}

        async def handle(self, request):
            if request.intent == "FREE":
                FREE.set()
            while request.intent == "BEGUN" and not BEGUN.acquire(blocking=False):
                await asyncio.sleep(0.005)
            yield Markdown("done")
            request.session.release()


    @hookimpl
    def jobclaw_agents():
        return [Wait(), Block(), Cling(), Tell(), Warden()]
'''
