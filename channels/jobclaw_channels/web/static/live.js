// Hears what the server tells, going on after the last reply that was seen. A browser has few connections
// for all tabs of a site, so one tab at a time holds the stream and passes on what it hears: the one that
// was looked at last, because a tab in the background may be put to sleep. Without https the browser has
// no locks; then each tab has a stream of its own, and lets go of it while nobody looks.

const LOCK = "jobclaw-chat-live";
const PAUSES_MS = [1000, 2000, 4000, 8000, 15000];
const HIDDEN_MS = 5000;

export class Live {
  constructor({ onHello, onSaid, onPosted, onDelta, onState, isWaiting }) {
    this.told = { hello: onHello, said: onSaid, posted: onPosted, delta: onDelta, state: onState };
    this.isWaiting = isWaiting;
    this.after = 0;
    this.source = null;
    this.failures = 0;
    this.timer = 0;
    this.leads = false;
    this.queue = new AbortController();
    this.resign = () => {};
    this.others = new BroadcastChannel(LOCK);
  }

  start(after) {
    this.after = after;
    this.others.addEventListener("message", ({ data }) => this.hear(data.name, data.item));
    document.addEventListener("visibilitychange", () => (document.hidden ? this.rest() : this.lead()));
    addEventListener("online", () => { if (this.source || this.timer) this.open(); });
    addEventListener("pagehide", () => {
      this.close();
      this.resign();
    });
    addEventListener("pageshow", (event) => { if (event.persisted) this.lead(); });
    this.lead();
  }

  // What this tab knows and the others should.
  pass(name, item) {
    this.others.postMessage({ name, item });
  }

  hear(name, item) {
    if (name === "posted") this.after = Math.max(this.after, item.seq);
    this.told[name](item);
  }

  lead() {
    if (!navigator.locks) {
      if (!this.source) this.open();
    } else if (!this.leads) {
      this.leads = true;
      this.hold(true);
    }
  }

  // Holds the lock until the page is left or another tab takes it: `now`, or when it is this tab's turn.
  async hold(now) {
    this.queue.abort(); // of a tab only one request stands
    this.queue = new AbortController();
    const { signal } = this.queue;
    const until = new Promise((done) => { this.resign = done; });
    try {
      await navigator.locks.request(LOCK, now ? { steal: true } : { signal }, () => {
        this.leads = true;
        this.open();
        return until;
      });
      this.leads = false; // the page is being left
    } catch (error) {
      if (signal.aborted) return;
      this.leads = false;
      this.close();
      if (error.name === "AbortError") this.hold(false); // another tab leads now, until it goes
      else this.open();
    }
  }

  rest() {
    if (navigator.locks) return;
    setTimeout(() => {
      if (!document.hidden) return;
      if (this.isWaiting()) this.rest();
      else this.close();
    }, HIDDEN_MS);
  }

  open() {
    this.close();
    const source = new EventSource(`/chat/api/stream?after=${this.after}`);
    this.source = source;
    source.addEventListener("hello", (event) => this.opened(JSON.parse(event.data)));
    for (const name of ["said", "posted", "delta"]) {
      source.addEventListener(name, (event) => this.share(name, JSON.parse(event.data)));
    }
    source.addEventListener("error", () => this.lost(source));
  }

  opened(item) {
    this.share("state", "online");
    if (this.failures) this.share("hello", item);
    else this.hear("hello", item);
    this.failures = 0;
  }

  share(name, item) {
    this.hear(name, item);
    if (this.leads) this.pass(name, item);
  }

  close() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.source?.close();
    this.source = null;
  }

  lost(source) {
    if (source !== this.source) return;
    this.failures += 1;
    this.share("state", this.failures > PAUSES_MS.length ? "stopped" : "offline");
    this.close(); // its own retries end at the first refusal; ours do not
    const pause = PAUSES_MS[Math.min(this.failures, PAUSES_MS.length) - 1];
    this.timer = setTimeout(() => this.open(), pause * (0.75 + Math.random() / 2));
  }
}
