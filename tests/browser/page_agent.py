"""An agent, dropped into a deployment, that answers whatever a test of the page needs."""

import time
from collections.abc import Iterator
from pathlib import Path

from jobclaw.spi import (
    Agent,
    AgentIntro,
    AgentRequest,
    Button,
    Buttons,
    File,
    Markdown,
    ReplyPart,
    hookimpl,
)

RICH = """## 题目

| 公司 | 城市 | 说明 |
|---|---|---|
| 甲 | 杭州 | 一家名字和说明都非常非常非常非常非常非常长的公司 |

```python
print("一行很长很长的代码，长到在手机上必须横着滚动才能看完，页面却不能跟着变宽")
```

[去看看](https://example.com/job) <b>不是粗体</b>
"""


class PageAgent(Agent):
    """Says back, grows, asks, describes files."""

    intro = AgentIntro(id="page", name="页面", description="For tests", examples=("回声 你好",))
    intents = ("PAGE",)
    keywords = {"PAGE": dict.fromkeys(("回声", "排版", "慢慢", "选择", "文件"), 1.0)}  # noqa: RUF012 - as in the contract of agents
    priority = 90
    holds = True

    def handle(self, request: AgentRequest) -> Iterator[ReplyPart]:
        """See `Agent`."""
        word, _, rest = request.text.partition(" ")
        if word == "慢慢":
            yield from _slowly(rest)
        elif word == "选择":
            yield Buttons((Button("a", "甲方案"), Button("b", "乙方案")), "选哪个？")
        elif word == "文件":
            Path("workspace/exports").mkdir(exist_ok=True)
            Path("workspace/exports/计划.csv").write_text("a,b\n", "utf-8")
            yield File("exports/计划.csv", name="计划.csv")
        elif word == "排版":
            yield Markdown(RICH)
        else:
            files = [f"{one.kind}:{one.name}:{one.size}" for one in request.message.attachments]
            yield Markdown(" ".join(["听到：", rest or request.text, *files]))


def _slowly(name: str) -> Iterator[Markdown]:
    yield Markdown("先写**一半")
    while not Path(name).exists():  # another process lets it
        time.sleep(0.02)
    yield Markdown("**，再写完")


@hookimpl
def jobclaw_agents() -> list[Agent]:
    """Provide it."""
    return [PageAgent()]
