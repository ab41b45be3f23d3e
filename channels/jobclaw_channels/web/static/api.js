// What the page asks the server.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }

  get isFinal() {
    return this.status >= 400 && this.status < 500 && this.status !== 429;
  }
}

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, body.message ?? "");
  return body;
}

export async function history(before = "") {
  const query = before ? `?before=${encodeURIComponent(before)}` : "";
  return answer(await fetch(`/chat/api/history${query}`, { cache: "no-store" }));
}

export async function post(message) {
  return answer(await fetch("/chat/api/messages", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(message),
  }));
}

export async function upload(file) {
  const form = new FormData();
  form.append("file", file, file.name);
  return answer(await fetch("/chat/api/uploads", { method: "POST", body: form }));
}

export async function forget() {
  return answer(await fetch("/chat/api/forget", { method: "POST" }));
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
