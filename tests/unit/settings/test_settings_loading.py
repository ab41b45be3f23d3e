"""Settings come from the right file, overlaid and filled in; mistakes have sentences."""

import json
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from jobclaw.errors import ConfigError
from jobclaw.settings import check_channels, load_settings
from jobclaw.settings.channels import for_adapter
from jobclaw.settings.sources import defaults_folder
from jobclaw.texts import Catalogue, core_folder

CORE = Catalogue([core_folder()])
TOKEN = "123456:ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # noqa: S105


def write(folder: Path, text: str, name: str = "jobclaw.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def problems_of(path: Path, env: Mapping[str, str] | None = None) -> dict[str, ConfigError]:
    """The complaints about a file by path; every one has a sentence in both languages."""
    with pytest.raises(ConfigError) as caught:
        load_settings(path, env or {})
    assert caught.value.text_id == "config.invalid"
    assert caught.value.values["n"] == len(caught.value.problems)
    for problem in caught.value.problems:
        for locale in ("zh", "en"):
            sentence = CORE.say(locale, problem.text_id, **problem.values)
            assert str(problem.values["where"]) in sentence
            assert not re.search(r"(?<!\$)\{[a-z]+\}", sentence)
    return {str(problem.values["path"]): problem for problem in caught.value.problems}


def test_the_shipped_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    settings = load_settings(None, {})
    assert settings.root == tmp_path
    assert settings.files == (defaults_folder() / "jobclaw.yaml",)
    assert settings.workspace == tmp_path / "workspace"
    assert settings.plugins.drop_in_dirs == (tmp_path / "agents",)
    assert settings.roles.file == tmp_path / "config/roles.yaml"
    assert settings.locale.dir == tmp_path / "config/locales"
    assert list(settings.channels.enabled()) == ["console", "web"]
    assert settings.keywords_overlay == tmp_path / "config/keywords.local.yaml"


def test_the_order_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "config", "binding: {ttl_hours: 2}", "local.yaml")
    settings = load_settings(None, {})
    assert settings.binding.ttl_hours == 2, "the overlay counts without a main file"
    write(tmp_path / "config", "binding: {ttl_hours: 1, renew: fixed}")
    settings = load_settings(None, {})
    assert (settings.binding.ttl_hours, settings.binding.renew) == (2, "fixed")
    other = write(tmp_path / "other", "workspace: data\nbinding: {ttl_hours: 3}", "my.yaml")
    settings = load_settings(None, {"JOBCLAW_CONFIG": str(other)})
    assert settings.binding.ttl_hours == 3
    assert settings.workspace == tmp_path / "other/data", (
        "no folder config/: its own is the root"
    )
    third = write(tmp_path / "third/config", "binding: {ttl_hours: 4}")
    settings = load_settings(third, {"JOBCLAW_CONFIG": str(other)})
    assert (settings.binding.ttl_hours, settings.root) == (4, tmp_path / "third")


def test_a_named_file_must_exist(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"file\.unreadable"):
        load_settings(tmp_path / "absent.yaml", {})
    with pytest.raises(ConfigError, match=r"file\.unreadable"):
        load_settings(None, {"JOBCLAW_CONFIG": str(tmp_path / "absent.yaml")})


def test_maps_merge_and_lists_replace(tmp_path: Path):
    main = write(
        tmp_path,
        f"""
        router: {{required_fields: [skills, education]}}
        channels:
          telegram: {{enabled: true, accounts: {{sales: {{token: "{TOKEN}"}}}}}}
        """,
    )
    write(
        tmp_path,
        f"""
        router: {{required_fields: [skills]}}
        llm:
        channels:
          telegram: {{accounts: {{jobs: {{token: "{TOKEN}", agents: [job-search]}}}}}}
        """,
        "local.yaml",
    )
    settings = load_settings(main, {})
    assert settings.router.required_fields == ("skills",)
    assert list(settings.channels.telegram.accounts) == ["sales", "jobs"]
    assert settings.channels.telegram.accounts["jobs"].agents == ("job-search",)
    assert [path.name for path in settings.files] == ["jobclaw.yaml", "local.yaml"]


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "router:\n", "channels:\n  telegram:\n", "{}"]
)
def test_nothing_is_the_default(tmp_path: Path, text: str):
    settings = load_settings(write(tmp_path, text), {})
    assert settings.router.default_agent == "chat"
    assert settings.plugins.drop_in_dirs == (tmp_path / "agents",)


@pytest.mark.parametrize("text", ["[]", "text", "5", "- a\n- b"])
def test_a_file_must_be_a_map(tmp_path: Path, text: str):
    with pytest.raises(ConfigError, match=r"config\.not-map"):
        load_settings(write(tmp_path, text), {})


@pytest.mark.parametrize(
    "text", ["a: [", "a: 1\na: 2", "a: &x 1\nb: *x", "a: !!python/name:os.x"]
)
def test_a_broken_file_names_the_line(tmp_path: Path, text: str):
    with pytest.raises(ConfigError, match=r"yaml\.broken"):
        load_settings(write(tmp_path, text), {})


@pytest.mark.parametrize(
    ("text", "path", "text_id", "shown"),
    [
        ("routr: {}", "routr", "unknown-key", "router"),
        (
            "router: {default_agnt: x}",
            "router.default_agnt",
            "unknown-key",
            "router.default_agent",
        ),
        ("binding: {ttl_hour: 6}", "binding.ttl_hour", "unknown-key", "binding.ttl_hours"),
        ("ttl_hours: 6", "ttl_hours", "unknown-key", "binding.ttl_hours"),
        ("intent: {clarify: {marge: 1}}", "intent.clarify.marge", "unknown-key", "margin"),
        ("zzzzzzzz: 1", "zzzzzzzz", "unknown-key-of", "binding"),
        ("logging: {zzz: 1}", "logging.zzz", "unknown-key-of", "format, level"),
        ("channels: {telegarm: {}}", "channels.telegarm", "unknown-key", "channels.telegram"),
        (
            "channels: {slack: {bottoken: x}}",
            "channels.slack.bottoken",
            "unknown-key",
            "bot_token",
        ),
        (
            "channels: {slack: {accounts: {a: {apptoken: x}}}}",
            "channels.slack.accounts.a.apptoken",
            "unknown-key",
            "channels.slack.accounts.a.app_token",
        ),
        ('web: {port: "8790"}', "web.port", "not-integer", "'8790'"),
        ("web: {port: 8790.5}", "web.port", "not-integer", "8790.5"),
        ("web: {port: true}", "web.port", "not-integer", "true"),
        ("web: {port: 70000}", "web.port", "too-large", "65535"),
        ("web: {port: -1}", "web.port", "too-small", "0"),
        ('binding: {ttl_hours: "6"}', "binding.ttl_hours", "not-number", "'6'"),
        ("binding: {ttl_hours: 0}", "binding.ttl_hours", "not-above", "0"),
        ("binding: {ttl_hours: .nan}", "binding.ttl_hours", "not-number", "nan"),
        ("binding: {ttl_hours: .inf}", "binding.ttl_hours", "not-number", "inf"),
        ('binding: {escape: "yes"}', "binding.escape", "not-switch", "'yes'"),
        ("binding: {escape: 1}", "binding.escape", "not-switch", "1"),
        ("binding: {renew: never}", "binding.renew", "not-one-of", "sliding, fixed"),
        ("router: {identity_gate: later}", "router.identity_gate", "not-one-of", "when_needed"),
        ("router: {required_fields: skills}", "router.required_fields", "not-list", "'skills'"),
        ("router: {required_fields: {a: 1}}", "router.required_fields", "not-list", "a"),
        ("router: {required_fields: [1]}", "router.required_fields[0]", "not-text", "1"),
        ("router: []", "router", "not-map", "[]"),
        ("router: on", "router", "not-map", "true"),
        ("intent: {high: 1.5}", "intent.high", "too-large", "1"),
        ("intent: {medium: 0.95}", "intent.medium", "medium-above-high", "0.9"),
        ("workspace: 5", "workspace", "not-text", "5"),
        ("llm: {api_base: ftp://x}", "llm.api_base", "bad-form", "https?"),
        (
            "channels: {telegram: {allow: [123456]}}",
            "channels.telegram.allow[0]",
            "not-text",
            "1",
        ),
        ('channels: {telegram: {allow: "123"}}', "channels.telegram.allow", "not-list", "123"),
        (
            'channels: {telegram: {allow: ["*"]}}',
            "channels.telegram.allow",
            "allow-everybody",
            "*",
        ),
        ('channels: {web: {allow: [""]}}', "channels.web.allow", "allow-everybody", "*"),
        ("mcp: {servers: {x: {}}}", "mcp.servers.x", "mcp-target", "command"),
        (
            "channels: {slack: {accounts: {Bad Name: {}}}}",
            "channels.slack.accounts.Bad Name",
            "bad-form",
            "Bad Name",
        ),
        ("web: {operator_token: short}", "web.operator_token", "secret-weak", "16"),
        ("web: {operator_token: changeme-changeme}", "web.operator_token", "secret-weak", "16"),
        (
            "web: {host: 0.0.0.0, operator_token: 0123456789abcdef}",
            "web.operator_token",
            "secret-weak",
            "32",
        ),
        (
            "router: {default_agent: '${NOBODY}'}",
            "router.default_agent",
            "env-missing",
            "NOBODY",
        ),
        ("llm: {api_key: 'file:absent'}", "llm.api_key", "file-unreadable", "absent"),
        ("llm: {api_key: 'file:'}", "llm.api_key", "file-unreadable", ""),
        (
            "router: {required_fields: ['${NOBODY}']}",
            "router.required_fields[0]",
            "env-missing",
            "",
        ),
    ],
)
def test_a_mistake_has_its_path_and_sentence(
    tmp_path: Path, text: str, path: str, text_id: str, shown: str
):
    file = write(tmp_path, f"# a comment\n{text}\n")
    found = problems_of(file)
    assert list(found) == [path]
    problem = found[path]
    assert problem.text_id == f"config.{text_id}"
    assert problem.values["where"] == f"{file}:2"
    assert shown in CORE.say("en", problem.text_id, **problem.values)


def test_all_mistakes_at_once_with_file_and_line(tmp_path: Path):
    main = write(
        tmp_path,
        "web:\n  port: '1'\nchannels:\n"
        "  telegram: {enabled: true}\n  slack:\n    enabled: true\n",
    )
    local = write(tmp_path, "llm:\n  modle: x\nbus: {max_parallel: 0}\n", "local.yaml")
    found = problems_of(main)
    assert {path: problem.values["where"] for path, problem in found.items()} == {
        "web.port": f"{main}:2",
        "channels.telegram.token": f"{main}:4",
        "channels.slack.bot_token": f"{main}:5",
        "channels.slack.app_token": f"{main}:5",
        "llm.modle": f"{local}:2",
        "bus.max_parallel": f"{local}:3",
    }


def test_a_key_that_is_no_text(tmp_path: Path):
    found = problems_of(write(tmp_path, "channels:\n  telegram:\n    5: x\n"))
    assert {path: problem.text_id for path, problem in found.items()} == {
        "channels.telegram": "config.key-not-text"
    }


@pytest.mark.parametrize(
    ("channel", "text", "lacking"),
    [
        ("telegram", "{}", ["token"]),
        ("telegram", "{mode: webhook}", ["token", "webhook_secret"]),
        ("slack", "{}", ["bot_token", "app_token"]),
        ("slack", "{mode: http}", ["bot_token", "signing_secret"]),
        ("feishu", "{}", ["app_id", "app_secret"]),
        ("feishu", "{mode: webhook}", ["app_id", "app_secret", "encrypt_key"]),
        ("dingtalk", "{}", ["client_id", "client_secret"]),
        ("wechat", "{mode: wecom}", ["wecom.bot_id", "wecom.secret"]),
        ("wechat", "{mode: mp}", ["mp.app_id", "mp.app_secret", "mp.token"]),
        ("telegram", "{accounts: {a: {}}}", ["accounts.a.token"]),
        ("telegram", f"{{token: '{TOKEN}', accounts: {{a: {{}}}}}}", ["accounts.a.token"]),
    ],
)
def test_an_enabled_channel_needs_its_credentials(
    tmp_path: Path, channel: str, text: str, lacking: list[str]
):
    body = text[1:-1]
    tail = f", {body}" if body else ""
    enabled = write(tmp_path, f"channels: {{{channel}: {{enabled: true{tail}}}}}")
    found = problems_of(enabled)
    assert list(found) == [f"channels.{channel}.{name}" for name in lacking]
    assert {problem.text_id for problem in found.values()} == {"config.channel-needs"}
    disabled = write(tmp_path, f"channels: {{{channel}: {text}}}", "disabled.yaml")
    assert channel not in load_settings(disabled, {}).channels.enabled()


@pytest.mark.parametrize(
    "token", ["short", "changeme", "YOUR_TOKEN", "<token>", "xxxxxxxxxxxxxxxx"]
)
def test_a_weak_secret_is_refused_and_never_shown(tmp_path: Path, token: str):
    file = write(tmp_path, "channels: {telegram: {enabled: true, token: '${T}'}}")
    found = problems_of(file, {"T": token})
    problem = found["channels.telegram.token"]
    assert problem.text_id == "config.secret-weak"
    assert token not in CORE.say("zh", problem.text_id, **problem.values)


@pytest.mark.parametrize("text", ["llm: {api_key: 123456789}", "web: {port: '${SECRET}'}"])
def test_a_secret_of_the_wrong_kind_is_not_shown(tmp_path: Path, text: str):
    (problem,) = problems_of(write(tmp_path, text), {"SECRET": "123456789x"}).values()
    assert "123456789" not in CORE.say("en", problem.text_id, **problem.values)


def test_wechat_by_ilink_logs_in_later(tmp_path: Path):
    settings = load_settings(write(tmp_path, "channels: {wechat: {enabled: true}}"), {})
    assert list(settings.channels.enabled()) == ["console", "web", "wechat"]


def test_accounts_take_over_all_but_credentials(tmp_path: Path):
    file = write(
        tmp_path,
        f"""
        channels:
          telegram:
            enabled: true
            api_base: http://127.0.0.1:9/
            access: open
            bot_username: mainbot
            token: "{TOKEN}"
            accounts:
              sales: {{token: "999999:SALESSALESSALES", access: allowlist, allow: ["7"]}}
          wechat:
            enabled: true
            mode: mp
            mp: {{api_base: "http://127.0.0.1:8"}}
            accounts:
              a: {{mp: {{app_id: wx1, app_secret: 0123456789ab, token: token-abcdef}}}}
        """,
    )
    channels = load_settings(file, {}).channels
    accounts = channels.telegram.by_account()
    assert list(accounts) == ["default", "sales"]
    sales = for_adapter(accounts["sales"])
    assert (sales["api_base"], sales["access"]) == ("http://127.0.0.1:9/", "allowlist")
    assert (sales["token"], sales["bot_username"]) == ("999999:SALESSALESSALES", "")
    wechat = channels.enabled()["wechat"]
    assert list(wechat) == ["a"], "without credentials of its own the channel is no account"
    plain = for_adapter(wechat["a"])
    assert plain["mode"] == "mp"
    assert plain["mp"] == {
        "app_id": "wx1",
        "app_secret": "0123456789ab",
        "token": "token-abcdef",
        "encoding_aes_key": "",
        "api_base": "http://127.0.0.1:8",
    }


def test_the_account_default_may_be_spelt_out(tmp_path: Path):
    file = write(
        tmp_path,
        "channels: {dingtalk: {enabled: true, client_id: id, client_secret: 0123456789ab,"
        " accounts: {default: {client_id: other}}}}",
    )
    accounts = load_settings(file, {}).channels.dingtalk.by_account()
    assert list(accounts) == ["default"]
    assert for_adapter(accounts["default"])["client_id"] == "other"
    assert for_adapter(accounts["default"])["client_secret"] == "0123456789ab"  # noqa: S105


def test_a_plugins_channel(tmp_path: Path):
    text = "channels: {matrix: {enabled: true, homeserver: 'https://m', access_token: '${T}'}}"
    settings = load_settings(write(tmp_path, text), {"T": "tok-123456"})
    account = settings.channels.enabled()["matrix"]["default"]
    assert for_adapter(account)["access_token"] == "tok-123456"  # noqa: S105
    assert "tok-123456" not in json.dumps(settings.show())
    check_channels(settings, ["console", "web", "matrix"])
    with pytest.raises(ConfigError) as caught:
        check_channels(settings, ["console", "web"])
    assert [problem.values["channel"] for problem in caught.value.problems] == ["matrix"]


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ("first", "first"),
        ("when_needed", "when_needed"),
        ("off", "off"),
        ("'off'", "off"),
        ("true", "first"),
        ("false", "off"),
    ],
)
def test_the_modes_of_the_gate(tmp_path: Path, given: str, mode: str):
    settings = load_settings(write(tmp_path, f"router: {{identity_gate: {given}}}"), {})
    assert settings.router.identity_gate == mode


@pytest.mark.parametrize(
    ("text", "env", "value"),
    [
        ("${A}", {"A": "x"}, "x"),
        ("${A:-d}", {}, "d"),
        ("${A:-d}", {"A": ""}, "d"),
        ("${A:-}", {}, ""),
        ("${A}", {"A": ""}, ""),
        ("${A}-${B:-b}", {"A": "a"}, "a-b"),
        ("${A}", {"A": "${B}"}, "${B}"),
        ("$${A}", {}, "${A}"),
        ("$A {A} $ {A}", {"A": "x"}, "$A {A} $ {A}"),
        ("file:secret.txt", {}, "from a file"),
        ("file:${NAME}", {"NAME": "secret.txt"}, "from a file"),
        ("a file:secret.txt", {}, "a file:secret.txt"),
    ],
)
def test_texts_are_filled_in(tmp_path: Path, text: str, env: dict[str, str], value: str):
    (tmp_path / "secret.txt").write_text("from a file\n")
    settings = load_settings(write(tmp_path, f"llm: {{model: '{text}'}}"), env)
    assert settings.llm.model == value


def test_the_environment_may_fill_numbers_and_switches(tmp_path: Path):
    text = "web: {port: '${P}'}\nbinding: {escape: '${E}', ttl_hours: '${T:-1.5}'}"
    settings = load_settings(write(tmp_path, text), {"P": "0", "E": "No"})
    assert (settings.web.port, settings.binding.escape) == (0, False)
    assert settings.binding.ttl_hours == 1.5
    assert list(problems_of(write(tmp_path, text), {"P": "x", "E": "maybe", "T": "0"})) == [
        "web.port",
        "binding.ttl_hours",
        "binding.escape",
    ]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * 70_000])
def test_a_file_that_is_no_text_or_too_large(tmp_path: Path, data: bytes):
    (tmp_path / "secret").write_bytes(data)
    found = problems_of(write(tmp_path, "llm: {api_key: 'file:secret'}"))
    assert found["llm.api_key"].text_id == "config.file-unreadable"


def test_secrets_are_masked_and_known(tmp_path: Path):
    text = f"""
    channels: {{telegram: {{enabled: true, token: "{TOKEN}"}}}}
    llm: {{api_key: "file:key"}}
    database: {{url: "postgresql+asyncpg://u:pw@h/db"}}
    mcp: {{servers: {{x: {{command: [x], env: {{KEY: abc-def}}}}}}}}
    """
    key = write(tmp_path, "sk-0123456789\n", "key")
    key.chmod(stat.S_IRUSR)
    settings = load_settings(write(tmp_path, text), {})
    assert settings.secrets() == {
        TOKEN,
        "sk-0123456789",
        "postgresql+asyncpg://u:pw@h/db",
        "abc-def",
    }
    shown = json.dumps(settings.show())
    for secret in settings.secrets():
        assert secret not in shown
        assert secret not in repr(settings)


def test_the_revision_is_of_settings_not_of_secrets(tmp_path: Path):
    file = write(tmp_path, "llm: {api_key: '${K:-}', model: '${M:-a}'}")
    first = load_settings(file, {"K": "one-secret"})
    assert first.revision == load_settings(file, {"K": "other-secret"}).revision
    assert first.revision != load_settings(file, {"K": "one-secret", "M": "b"}).revision
    assert re.fullmatch(r"[0-9a-f]{10}", first.revision)


def test_settings_are_frozen(tmp_path: Path):
    settings = load_settings(write(tmp_path, ""), {})
    with pytest.raises(ValueError, match="frozen"):
        settings.workspace = Path("elsewhere")
