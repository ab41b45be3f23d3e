"""The providers that `jobclaw init --llm NAME` knows, by litellm's names for them."""

from __future__ import annotations

from jobclaw.model import Value


class Preset(Value, frozen=True):
    """A provider: `prefix` is litellm's, `key_env` the variable that holds its key.

    `api_base` empty: litellm knows the address. `ask_base`: only the user knows it. A `local`
    one needs no key.
    """

    name: str
    title: str
    prefix: str
    model: str
    key_env: str = ""
    api_base: str = ""
    ask_base: bool = False
    local: bool = False

    def qualified(self, model: str = "") -> str:
        """The model's full name; one that has the prefix already keeps it."""
        name = model or self.model
        return name if name.startswith(f"{self.prefix}/") else f"{self.prefix}/{name}"


# Moonshot's and Zhipu's addresses are those of mainland China, where most users' keys are from;
# litellm's own are the international ones, whose keys are others.
PRESETS: tuple[Preset, ...] = (
    Preset(
        name="deepseek",
        title="DeepSeek",
        prefix="deepseek",
        model="deepseek-chat",
        key_env="DEEPSEEK_API_KEY",
        api_base="https://api.deepseek.com",
    ),
    Preset(
        name="qwen",
        title="通义千问 Qwen (DashScope)",
        prefix="dashscope",
        model="qwen-plus",
        key_env="DASHSCOPE_API_KEY",
        api_base="https://dashscope.aliyuncs.com/compatible-mode/v1",
    ),
    Preset(
        name="kimi",
        title="Kimi (Moonshot)",
        prefix="moonshot",
        model="moonshot-v1-8k",
        key_env="MOONSHOT_API_KEY",
        api_base="https://api.moonshot.cn/v1",
    ),
    Preset(
        name="glm",
        title="智谱 GLM",
        prefix="zai",
        model="glm-4.5-flash",
        key_env="ZAI_API_KEY",
        api_base="https://open.bigmodel.cn/api/paas/v4",
    ),
    Preset(
        name="ollama",
        title="Ollama",
        prefix="ollama_chat",
        model="qwen2.5:7b",
        api_base="http://127.0.0.1:11434",
        local=True,
    ),
    Preset(
        name="openai",
        title="OpenAI",
        prefix="openai",
        model="gpt-4o-mini",
        key_env="OPENAI_API_KEY",
    ),
    Preset(
        name="compatible",
        title="OpenAI-compatible",
        prefix="openai",
        model="",
        key_env="LLM_API_KEY",
        ask_base=True,
    ),
)


def find_preset(name: str) -> Preset | None:
    """The preset of a name."""
    return next((preset for preset in PRESETS if preset.name == name.strip().lower()), None)
