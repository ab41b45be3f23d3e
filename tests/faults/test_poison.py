"""A message that kills the process keeps nobody else from an answer, and is buried at last."""

from driver import Chat, Deployment, JsonLine, replies

DEADLY = """
    import os

    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Deadly(Agent):
        intro = AgentIntro(id="deadly", name="Deadly", description="ends the process")
        intents = ("DIE",)
        keywords = {"DIE": {"炸掉": 1.0}}

        async def handle(self, request):
            os._exit(9)
            yield Markdown("never")

    @hookimpl
    def jobclaw_agents():
        return [Deadly()]
"""


INNOCENTS = {f"i{number}" for number in range(10)}


def put_all(chat: Chat) -> None:
    chat.put(id="p0", user="poison", text="炸掉")
    chat.put(id="p1", user="poison", text="谢谢")
    for innocent in sorted(INNOCENTS):
        chat.put(id=innocent, user=innocent, text="谢谢")


def test_innocents_are_answered_and_the_poison_is_buried(deployment: Deployment):
    deployment.drop_in("deadly", DEADLY)
    answers: dict[str, JsonLine] = {}
    for start in range(15):
        with deployment.chat() as chat:
            if start < 2:  # the second time as a platform does: what was not acknowledged
                put_all(chat)
            assert chat.process.stdin is not None
            chat.process.stdin.close()
            for reply in replies(list(chat.read())):
                known = answers.setdefault(reply["in_reply_to"], reply)
                assert known == reply  # twice only as the same message, in the crash window
        if start == 3:
            assert set(answers) >= INNOCENTS
        if "p1" in answers:
            break
    assert "抱歉" in answers["p0"]["text"]
    assert "不客气" in answers["p1"]["text"]
    assert all("不客气" in answers[innocent]["text"] for innocent in INNOCENTS)
