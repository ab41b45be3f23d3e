"""Explains a decision to the person it concerns: a plain sentence, then the figures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from jobclaw.model import KeywordHit, Locale, RouteDecision
from jobclaw.texts import Catalogue

TEXT_SHOWN = 60
REASONING_SHOWN = 200


class Explainer:
    """Puts a decision into words; `name` gives an agent's name in a language."""

    def __init__(self, texts: Catalogue, name: Callable[[Locale, str], str]) -> None:
        self._texts = texts
        self._name = name

    def explain(self, decision: RouteDecision, locale: Locale) -> str:
        """The explanation as Markdown; its first line is one plain sentence."""
        lines = [self.sentence(decision, locale), ""]
        lines += self._details(decision, locale)
        return "\n".join(lines).strip()

    def sentence(self, decision: RouteDecision, locale: Locale) -> str:
        """Why this agent answered, in one sentence."""
        values: dict[str, object] = {
            "agent": self._name(locale, decision.agent) if decision.agent else "",
            "keywords": self._quoted(locale, _counted(decision)),
            "command": decision.detail,
            "reason": decision.detail,
            "from": self._name(locale, decision.escaped_from) if decision.escaped_from else "",
            "intent": decision.intent,
            "confidence": f"{decision.confidence:g}",
        }
        return self._texts.say(locale, _sentence_id(decision), **values)

    def _quoted(self, locale: Locale, hits: list[KeywordHit]) -> str:
        words = dict.fromkeys(hit.keyword for hit in hits)
        joined = [self._texts.say(locale, "why.quoted", keyword=word) for word in words]
        return self._texts.say(locale, "why.separator").join(joined)

    def _details(self, decision: RouteDecision, locale: Locale) -> list[str]:
        say = self._texts.say
        lines = [say(locale, "why.message", text=_short(decision.text), id=decision.message)]
        if decision.replayed:
            lines.append(say(locale, "why.replayed", id=decision.replayed))
        for hit in decision.keywords:
            text_id = f"why.keyword-{hit.why}" if hit.why else "why.keyword"
            lines.append(
                say(
                    locale,
                    text_id,
                    keyword=hit.keyword,
                    intent=hit.intent,
                    weight=f"{hit.weight:g}",
                    start=hit.start + 1,
                )
            )
        if decision.runner_up is not None:
            lines.append(
                say(
                    locale,
                    "why.runner-up",
                    intent=decision.runner_up.intent,
                    confidence=f"{decision.runner_up.confidence:g}",
                    margin=f"{decision.margin or 0:g}",
                )
            )
        lines += [
            say(locale, f"why.removed-{gone.why}", agent=self._name(locale, gone.agent))
            for gone in decision.removed
        ]
        lines += self._model(decision, locale)
        lines += self._state(decision, locale)
        return [f"- {line}" for line in lines]

    def _model(self, decision: RouteDecision, locale: Locale) -> list[str]:
        """What the model said, at which price, or why it did not count."""
        say = self._texts.say
        lines = [
            say(locale, f"why.model-{tier.outcome}")
            for tier in decision.tiers
            if tier.tier == "llm" and tier.outcome != "hit"
        ]
        llm = decision.llm
        if llm is not None:
            cost = f"{llm.cost_usd:.6f}".rstrip("0").rstrip(".")
            lines.append(
                say(locale, "why.model", model=llm.model, tokens=llm.tokens, cost=cost)
            )
            if llm.reasoning:
                reason = _short(llm.reasoning, REASONING_SHOWN)
                lines.append(say(locale, "why.model-reasoning", reasoning=reason))
        return lines

    def _state(self, decision: RouteDecision, locale: Locale) -> list[str]:
        say = self._texts.say
        lines: list[str] = []
        if decision.tiers:
            tried = ", ".join(
                f"{tier.tier} {tier.outcome} {tier.ms:.2f} ms" for tier in decision.tiers
            )
            lines.append(say(locale, "why.tiers", tiers=tried))
        binding = decision.binding
        if binding is not None and binding.agent:
            lines.append(
                say(
                    locale,
                    "why.binding",
                    agent=self._name(locale, binding.agent),
                    since=_time(binding.bound_at),
                    until=_time(binding.expires_at),
                )
            )
        lines.append(
            say(locale, "why.step", step=decision.step, tier=decision.tier, role=decision.role)
        )
        lines.append(say(locale, "why.revision", revision=decision.revision))
        return lines


def _counted(decision: RouteDecision) -> list[KeywordHit]:
    """The keywords that spoke for the chosen intent, strongest first."""
    hits = [hit for hit in decision.keywords if hit.counted and hit.intent == decision.intent]
    return sorted(hits, key=lambda hit: -hit.weight)


_BY_OUTCOME = {"dropped", "superseded", "refused", "clarify", "failed"}
_BY_DETAIL = {"gate", "gate-put-off", "escape", "pick-clarify", "pick-wrong", "attachment"}


def _sentence_id(decision: RouteDecision) -> str:
    if decision.outcome in _BY_OUTCOME:
        return f"why.because-{decision.outcome}"
    if decision.detail in _BY_DETAIL and decision.step != "classify":
        return f"why.because-{decision.detail}"
    if decision.step == "classify":
        if decision.tier == "fallback":
            return "why.because-guess" if decision.detail == "guess" else "why.because-default"
        return f"why.because-{decision.tier}"
    if decision.step == "command" and decision.outcome == "hint":
        return "why.because-hint"
    return f"why.because-{decision.step}"


def _short(text: str, most: int = TEXT_SHOWN) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _time(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC") if at is not None else "-"
