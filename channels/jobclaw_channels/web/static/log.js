// The conversation as it is shown: every message once, in order, however often it is told.

import { button, element } from "./elements.js";
import { Choices } from "./choices.js";
import { files, parts } from "./parts.js";
import { draw } from "./tree.js";
import { language, say } from "./texts.js";

const HELLO = "hello";
const NEAR_PX = 96;
const clock = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" });
const calendar = new Intl.DateTimeFormat(language, { dateStyle: "long" });

export class Log {
  constructor({ log, scroll, below }, onChoice) {
    this.place = log;
    this.scroll = scroll;
    this.below = below;
    this.shown = new Map();
    this.choices = new Choices(log, onChoice);
    below.addEventListener("click", () => this.toEnd("smooth"));
    scroll.addEventListener("scroll", () => { if (this.isNearEnd()) below.hidden = true; }, { passive: true });
    new ResizeObserver(() => { if (this.follows) this.toEnd(); }).observe(log);
    new ResizeObserver(() => { if (this.follows) this.toEnd(); }).observe(scroll);
    scroll.addEventListener("scroll", () => { this.follows = this.isNearEnd(); }, { passive: true });
    this.follows = true;
  }

  get isEmpty() {
    return this.shown.size === 0;
  }

  has(key) {
    return this.shown.has(key);
  }

  // A page of history: what is there stays, what is missing goes where it belongs.
  merge(items, { older = false } = {}) {
    this.place.setAttribute("aria-busy", "true");
    const height = this.scroll.scrollHeight;
    let at = older ? null : undefined;
    for (const item of items) {
      const key = keyOf(item);
      if (item.cm === HELLO) continue;
      const known = this.shown.get(key);
      if (known) {
        this.fill(known, item);
        at = known;
        continue;
      }
      const made = this.made(key, item);
      if (at === null) this.place.prepend(made);
      else if (at === undefined) this.place.append(made);
      else at.after(made);
      at = made;
    }
    this.settle();
    this.place.removeAttribute("aria-busy");
    if (older) this.scroll.scrollTop += this.scroll.scrollHeight - height;
    else this.toEnd();
  }

  add(item) {
    if (item.cm === HELLO) return null;
    const key = keyOf(item);
    let shown = this.shown.get(key);
    if (shown) {
      this.fill(shown, item);
    } else {
      shown = this.made(key, item);
      this.place.append(shown);
    }
    this.settle();
    this.arrived(item.type === "said");
    return shown;
  }

  // A reply as far as it is written.
  grow(item) {
    const key = keyOf({ ...item, type: "posted" });
    let shown = this.shown.get(key);
    if (shown && !shown.classList.contains("growing")) return;
    if (!shown) {
      shown = this.made(key, { ...item, type: "posted", at: new Date().toISOString() });
      shown.classList.add("growing");
      shown.dataset.re = item.re;
      shown.setAttribute("aria-busy", "true");
      this.place.append(shown);
    } else {
      for (const block of item.blocks) draw(shown.querySelector(".text"), block.c);
    }
    this.arrived(false);
  }

  // What was begun and will not be finished; `but` the answer to that message.
  dropGrowing(but) {
    for (const [key, shown] of this.shown) {
      if (shown.classList.contains("growing") && shown.dataset.re !== but) {
        shown.remove();
        this.shown.delete(key);
      }
    }
  }

  mark(shown, state, reason = "", onRetry = null) {
    shown.classList.toggle("failed", state === "failed");
    const meta = shown.querySelector(".meta");
    if (state === "sent") {
      meta.replaceChildren(timeOf(shown.dataset.at));
    } else if (state === "sending") {
      meta.replaceChildren(say("sending"));
    } else {
      const why = element("span", { class: "reason", role: "alert" }, reason ? `${say("failed")} · ${reason}` : say("failed"));
      meta.replaceChildren(why, button(say("retry"), "retry", onRetry));
    }
    this.choices.settle();
  }

  made(key, item) {
    const who = item.type === "said" ? say("you") : item.speaker || item.agent || say("bot");
    const shown = element(
      "article",
      { class: `message ${item.type === "said" ? "mine" : "theirs"}`, "data-key": key, "data-at": item.at },
      element("span", { class: "unseen" }, who),
      element("div", { class: "bubble" }),
      element("div", { class: "meta" }),
    );
    this.shown.set(key, shown);
    this.fill(shown, item);
    return shown;
  }

  fill(shown, item) {
    if (shown.dataset.whole) return;
    const bubble = shown.querySelector(".bubble");
    if (item.type === "said") {
      shown.classList.toggle("pressed", Boolean(item.pressed));
      shown.dataset.text = item.text;
      const text = item.text ? [element("span", {}, item.text)] : [];
      bubble.replaceChildren(...text, ...files(item.files ?? []));
    } else if (item.seq && shown.classList.contains("growing")) {
      shown.classList.remove("growing");
      shown.removeAttribute("aria-busy");
      const text = bubble.querySelector(".text");
      const made = parts(item.blocks, (choice) => this.choices.take(choice));
      if (text && item.blocks[0]?.t === "text") {
        draw(text, item.blocks[0].c);
        bubble.replaceChildren(text, ...made.slice(1));
      } else {
        bubble.replaceChildren(...made);
      }
    } else {
      bubble.replaceChildren(...parts(item.blocks, (choice) => this.choices.take(choice)));
    }
    shown.dataset.at = item.at ?? shown.dataset.at;
    if (item.seq || (item.type === "said" && item.id)) shown.dataset.whole = "1";
    if (!shown.classList.contains("growing")) shown.querySelector(".meta").replaceChildren(...metaOf(item, shown.dataset.at));
  }

  settle() {
    this.choices.settle();
    for (const day of this.place.querySelectorAll(".day")) day.remove();
    let last = new Date().toDateString();
    for (const shown of this.place.querySelectorAll(".message")) {
      const day = new Date(shown.dataset.at);
      if (day.toDateString() !== last) shown.before(element("p", { class: "day" }, dayOf(day)));
      last = day.toDateString();
    }
  }

  arrived(isMine) {
    if (isMine || this.follows) this.toEnd();
    else this.below.hidden = false;
  }

  isNearEnd() {
    return this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight < NEAR_PX;
  }

  toEnd(behavior = "auto") {
    this.follows = true;
    this.below.hidden = true;
    this.scroll.scrollTo({ top: this.scroll.scrollHeight, behavior });
  }
}

function keyOf(item) {
  return item.type === "said" ? `said ${item.cm}` : `posted ${item.id}`;
}

function metaOf(item, at) {
  const who = item.speaker || item.agent;
  return who ? [element("span", { class: "agent" }, who), timeOf(at)] : [timeOf(at)];
}

function timeOf(at) {
  const when = new Date(at);
  return element("time", { datetime: at, title: calendar.format(when) }, clock.format(when));
}

function dayOf(day) {
  const now = new Date();
  if (day.toDateString() === now.toDateString()) return say("today");
  now.setDate(now.getDate() - 1);
  return day.toDateString() === now.toDateString() ? say("yesterday") : calendar.format(day);
}
