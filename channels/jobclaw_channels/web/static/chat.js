// The chat page: wires what is shown, what is written, and what the server tells.

import { Refused, forget, history, newId, post } from "./api.js";
import { Composer } from "./composer.js";
import { Live } from "./live.js";
import { Log } from "./log.js";
import { say } from "./texts.js";

const HELLO = { client_msg_id: "hello", text: "/start" };
const LONG_MS = 15000;
const GIVEN_UP_MS = 180000;
const byId = (id) => document.getElementById(id);
const title = document.title;
const hasMouse = matchMedia("(hover: hover)").matches; // elsewhere a focus would open the keyboard
const others = new BroadcastChannel("jobclaw-chat");

class Chat {
  constructor() {
    const body = document.body.dataset;
    this.me = "";
    this.before = "";
    this.waiting = new Map();
    this.unsent = new Map();
    this.log = new Log({ log: byId("log"), scroll: byId("scroll"), below: byId("below") }, (choice) => {
      this.say({ text: choice.label, button: choice.id });
      if (hasMouse) byId("text").focus(); // the button that had the focus cannot have it any more
    });
    this.composer = new Composer(
      {
        form: byId("composer"), text: byId("text"), send: byId("send"), attach: byId("attach"),
        file: byId("file"), files: byId("files"), problem: byId("problem"),
      },
      { text: Number(body.textMost), upload: Number(body.uploadMost) },
      (text, files) => this.say({ text, files }),
    );
    this.live = new Live({
      onHello: (item) => this.welcomed(item),
      onSaid: (item) => this.heard(item),
      onPosted: (item) => this.answered(item),
      onDelta: (item) => this.growing(item),
      onState: (state) => this.state(state),
      isWaiting: () => this.waiting.size > 0,
    });
    byId("older").addEventListener("click", () => this.older());
    byId("greet").addEventListener("click", () => this.greet());
    setInterval(() => this.think(), 1000);
  }

  async start() {
    for (let failures = 0; ; failures += 1) {
      try {
        await this.load();
        return;
      } catch {
        this.state(failures > 4 ? "stopped" : "offline");
        await new Promise((done) => { setTimeout(done, Math.min(1000 * 2 ** failures, 15000)); });
      }
    }
  }

  async load() {
    const page = await history();
    this.me = page.me;
    this.before = page.before;
    this.log.merge(page.items);
    byId("older").hidden = !page.before;
    this.expectLast(page.items);
    this.talking();
    this.live.start(page.seq);
    if (!page.items.length) this.greet();
  }

  // After a gap: what other tabs said meanwhile; replies come by themselves.
  async welcomed(item) {
    if (item.me !== this.me) {
      location.reload();
      return;
    }
    this.log.dropGrowing();
    for (const message of this.unsent.values()) this.deliver(message);
    if (!this.greeted) {
      this.greeted = true;
      return;
    }
    try {
      const page = await history();
      this.log.merge(page.items);
      this.expectLast(page.items);
    } catch {
      return; // the stream will say hello again
    }
  }

  async older() {
    const button = byId("older");
    button.disabled = true;
    try {
      const page = await history(this.before);
      this.before = page.before;
      this.log.merge(page.items, { older: true });
      button.hidden = !page.before;
    } catch (error) {
      byId("problem").textContent = error.message;
    } finally {
      button.disabled = false;
    }
  }

  async greet() {
    byId("greet").hidden = true;
    try {
      await post(HELLO);
      this.wait(HELLO.client_msg_id);
    } catch {
      byId("greet").hidden = false;
    }
  }

  say({ text, button = "", files = [] }) {
    const message = { client_msg_id: newId(), text, button, attachments: files.map((file) => file.id) };
    const item = {
      type: "said", cm: message.client_msg_id, at: new Date().toISOString(), text, pressed: Boolean(button),
      files: files.map((file) => ({ ...file, href: `/chat/uploads/${file.id}` })),
    };
    this.log.add(item);
    this.log.toEnd();
    this.talking();
    this.deliver({ message, item });
  }

  async deliver(sending) {
    const { message, item } = sending;
    const shown = this.log.add(item);
    this.unsent.delete(message.client_msg_id);
    this.log.mark(shown, "sending");
    try {
      const accepted = await post(message);
      if (accepted.me !== this.me) location.reload();
      this.log.mark(shown, "sent");
      if (!accepted.duplicate) this.wait(message.client_msg_id);
      this.live.pass("said", { ...item, id: accepted.id });
    } catch (error) {
      const isFinal = error instanceof Refused && error.isFinal;
      if (!isFinal) this.unsent.set(message.client_msg_id, sending);
      this.log.mark(shown, "failed", error instanceof Refused ? error.message : "", () => this.deliver(sending));
    }
  }

  heard(item) {
    this.log.add(item);
    this.wait(item.cm);
    this.talking();
  }

  answered(item) {
    if (item.re) this.passed(item.re);
    (this.answeredTo ??= new Set()).add(item.re);
    this.log.add(item);
    this.talking();
    this.think();
    if (document.hidden) document.title = `● ${title}`;
  }

  // A conversation is handled in order: what was asked before this has been answered, or was stopped.
  passed(cm) {
    this.log.dropGrowing(cm);
    if (!this.waiting.has(cm)) return;
    for (const earlier of this.waiting.keys()) {
      this.waiting.delete(earlier);
      if (earlier === cm) return;
    }
  }

  growing(item) {
    if (item.blocks.length) {
      this.waiting.delete(item.re);
      this.log.grow(item);
      this.think();
    }
    if (item.progress) {
      this.progress = item.progress;
      this.think();
    }
  }

  expectLast(items) {
    const last = items.at(-1);
    if (last?.type === "said") this.wait(last.cm, Date.parse(last.at));
  }

  wait(cm, since = Date.now()) {
    if (this.answeredTo?.has(cm)) return; // the answer was faster than our own request
    this.waiting.set(cm, since);
    this.progress = "";
    this.think();
  }

  think() {
    const now = Date.now();
    for (const [cm, since] of this.waiting) {
      if (now - since > GIVEN_UP_MS) this.waiting.delete(cm);
    }
    const since = Math.min(...this.waiting.values());
    const wasHidden = byId("thinking").hidden;
    byId("thinking").hidden = !this.waiting.size;
    const words = this.progress || say(now - since > LONG_MS ? "thinking-long" : "thinking");
    if (byId("thinking-text").textContent !== words) byId("thinking-text").textContent = words;
    if (wasHidden && this.waiting.size && this.log.follows) this.log.toEnd();
  }

  talking() {
    const column = document.querySelector(".column");
    column.classList.toggle("talking", !this.log.isEmpty);
    column.classList.toggle("fresh", !this.log.isEmpty && !column.querySelector(".mine"));
  }

  state(state) {
    const shown = byId("state");
    if (shown.dataset.state === state) return;
    shown.dataset.state = state;
    shown.textContent = say(`state-${state}`);
  }
}

function preferences() {
  const root = document.documentElement;
  byId("theme").addEventListener("change", (event) => {
    root.dataset.theme = event.target.value;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `jobclaw_chat_theme=${event.target.value}; Path=/chat; Max-Age=34560000; SameSite=Lax${secure}`;
  });
  if (location.search) window.history.replaceState(null, "", location.pathname);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) document.title = title; });
}

function forgetting() {
  const dialog = byId("forget");
  byId("new").addEventListener("click", () => {
    dialog.returnValue = "";
    dialog.showModal();
  });
  dialog.addEventListener("close", async () => {
    if (dialog.returnValue !== "yes") return;
    try {
      await forget();
    } catch (error) {
      byId("problem").textContent = error.message || say("state-offline");
      return;
    }
    sessionStorage.clear();
    others.postMessage("forgotten");
    location.reload();
  });
  others.addEventListener("message", () => location.reload());
}

preferences();
forgetting();
const chat = new Chat();
chat.start();
if (hasMouse) byId("text").focus();
