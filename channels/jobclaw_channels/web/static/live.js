// Keeps one stream of events open and goes on after the last reply that was seen. A page that nobody
// looks at lets go of it, because a browser has few connections for all tabs of a site.

const PAUSES_MS = [1000, 2000, 4000, 8000, 15000];
const HIDDEN_MS = 5000;

export class Live {
  constructor({ onHello, onSaid, onPosted, onDelta, onState, isWaiting }) {
    this.on = { onHello, onSaid, onPosted, onDelta, onState, isWaiting };
    this.after = 0;
    this.source = null;
    this.failures = 0;
    this.timer = 0;
    document.addEventListener("visibilitychange", () => this.looked());
    addEventListener("online", () => this.open());
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", (event) => { if (event.persisted) this.open(); });
  }

  start(after) {
    this.after = after;
    this.open();
  }

  open() {
    this.close();
    const source = new EventSource(`/chat/api/stream?after=${this.after}`);
    this.source = source;
    const hear = (name, told) => {
      source.addEventListener(name, (event) => told(JSON.parse(event.data)));
    };
    hear("hello", (item) => {
      this.failures = 0;
      this.on.onState("online");
      this.on.onHello(item);
    });
    hear("said", (item) => this.on.onSaid(item));
    hear("delta", (item) => this.on.onDelta(item));
    hear("posted", (item) => {
      this.after = Math.max(this.after, item.seq);
      this.on.onPosted(item);
    });
    source.addEventListener("error", () => this.lost(source));
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  lost(source) {
    if (source !== this.source) return;
    this.failures += 1;
    this.on.onState(this.failures > PAUSES_MS.length ? "stopped" : "offline");
    this.close(); // its own retries end at the first refusal; ours do not
    const pause = PAUSES_MS[Math.min(this.failures, PAUSES_MS.length) - 1];
    this.timer = setTimeout(() => this.open(), pause * (0.75 + Math.random() / 2));
  }

  looked() {
    if (!document.hidden) {
      if (!this.source) this.open();
      return;
    }
    setTimeout(() => {
      if (!document.hidden) return;
      if (this.on.isWaiting()) this.looked();
      else this.close();
    }, HIDDEN_MS);
  }
}
