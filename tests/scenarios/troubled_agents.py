"""Agents that do wrong whatever an agent can, as one drop-in; each is named after it."""

SOURCE = r'''
    import asyncio
    import sys
    import time

    from jobclaw.spi import (
        Agent, AgentIntro, Button, Buttons, File, Image, Markdown, Progress, hookimpl
    )


    class Troubled(Agent):
        """Does what its `work` does."""


    def agent(work):
        name = work.__name__.replace("_", "-")
        intro = AgentIntro(id=name, name=name.title(), description="does wrong")
        return type(work.__name__, (Troubled,), {"intro": intro, "handle": work})()


    async def raises(self, request):
        raise ValueError("secret detail")
        yield


    def raises_in_thread(self, request):
        raise ValueError("secret detail")
        yield


    async def raises_late(self, request):
        request.session.memory.set("kept", "no")
        yield Markdown("half an answer")
        raise ValueError("secret detail")


    async def says_nothing(self, request):
        return
        yield


    async def says_empty(self, request):
        yield Markdown("")


    async def says_blank(self, request):
        yield Markdown(" \n\u200b\ufeff ")


    async def only_thinks(self, request):
        yield Markdown("<think>secret detail</think> ")


    async def never_stops_thinking(self, request):
        yield Markdown("<think>secret ")
        yield Markdown("detail")


    async def only_progress(self, request):
        yield Progress("working")


    async def no_buttons(self, request):
        yield Buttons(())


    async def yields_text(self, request):
        yield "text"


    async def yields_none(self, request):
        yield None


    async def yields_number_text(self, request):
        yield Markdown(5)


    async def yields_none_text(self, request):
        yield Markdown(None)


    async def yields_bad_button(self, request):
        yield Buttons((Button(id=1, label="one"),))


    async def yields_text_button(self, request):
        yield Buttons(["one"])


    async def yields_none_buttons(self, request):
        yield Buttons(None)


    async def yields_bad_image(self, request):
        yield Image(ref=5)


    async def yields_bad_file(self, request):
        yield File(ref="a.txt", name=None)


    def returns_none(self, request):
        return None


    def returns_text(self, request):
        return "text"


    def returns_list(self, request):
        return [Markdown("text")]


    def returns_coroutine(self, request):
        return asyncio.sleep(0)


    async def keeps_list(self, request):
        request.session.memory.set("n", [1])
        yield Markdown("kept")


    async def keeps_object(self, request):
        request.tools.profile.set("n", object())
        yield Markdown("kept")


    async def exits(self, request):
        sys.exit(3)
        yield


    def exits_in_thread(self, request):
        sys.exit(3)
        yield


    async def interrupts(self, request):
        raise KeyboardInterrupt
        yield


    async def leaves_generator(self, request):
        raise GeneratorExit
        yield


    async def cancels_itself(self, request):
        raise asyncio.CancelledError
        yield


    async def stops_iteration(self, request):
        raise StopAsyncIteration
        yield


    def stops_iteration_in_thread(self, request):
        raise StopIteration
        yield


    async def recurses(self, request):
        def again():
            again()
        again()
        yield


    async def hangs(self, request):
        await asyncio.Event().wait()
        yield


    def hangs_in_thread(self, request):
        time.sleep(30)
        yield


    async def swallows_cancellation(self, request):
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass
        yield


    async def good_ten_thousand_parts(self, request):
        for number in range(10_000):
            yield Markdown("x")


    def good_ten_thousand_parts_in_thread(self, request):
        for number in range(10_000):
            yield Markdown("x")


    async def good_one_megabyte(self, request):
        yield Markdown("字" * 350_000)


    async def good_surrogates(self, request):
        request.session.memory.set("\ud800", "\udc00")
        yield Markdown("a\ud800b \ud83d\ude00")


    async def good_controls(self, request):
        yield Markdown("a\0b\u202ec")


    async def good_numbers_kept(self, request):
        count = int(request.session.memory.get("count", 0)) + 1
        request.session.memory.set("count", count)
        request.tools.profile.set("count", 1.5)
        yield Markdown(f"{count}")


    def good_returned_generator(self, request):
        return said(request)


    async def said(request):
        yield Markdown("said on the loop")


    async def good_last_word(self, request):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            yield Markdown("as far as I got")


    async def good_thought(self, request):
        yield Markdown("<think>secret detail</think>\n\nHello")


    @hookimpl
    def jobclaw_agents():
        works = [
            value
            for value in globals().values()
            if getattr(value, "__module__", "") == __name__
            and getattr(value, "__code__", None) is not None
            and value.__code__.co_varnames[:2] == ("self", "request")
        ]
        return [agent(work) for work in works]
'''
CONFIG = """
    router: {identity_gate: "off"}
    agents: {timeout_s: 1}
    plugins: {watch: false}
"""


def names() -> list[str]:
    """The ids of the agents."""
    return [
        line.split("def ")[1].split("(")[0].replace("_", "-")
        for line in SOURCE.splitlines()
        if "(self, request):" in line
    ]
