// The box where people write: text, files, and what sends them.

import { upload } from "./api.js";
import { button, element } from "./elements.js";
import { say } from "./texts.js";

const DRAFT = "jobclaw-chat-draft";
const FILES_MOST = 10;

export class Composer {
  constructor(parts, limits, onSend) {
    Object.assign(this, parts);
    this.limits = limits;
    this.onSend = onSend;
    this.attached = [];
    this.text.value = sessionStorage.getItem(DRAFT) ?? "";
    this.text.addEventListener("input", () => this.changed());
    this.text.addEventListener("keydown", (event) => this.typed(event));
    this.text.addEventListener("paste", (event) => this.pasted(event));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.attach.addEventListener("click", () => this.file.click());
    this.file.addEventListener("change", () => {
      this.take(this.file.files);
      this.file.value = "";
    });
    this.dropping();
    this.changed();
  }

  typed(event) {
    if (event.key !== "Enter" || event.shiftKey) return;
    if (event.isComposing || event.keyCode === 229) return; // Enter picks a candidate of the input method
    event.preventDefault();
    this.submit();
  }

  pasted(event) {
    if (event.clipboardData?.files.length) {
      event.preventDefault();
      this.take(event.clipboardData.files);
    }
  }

  dropping() {
    const over = (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      this.form.classList.add("dropping");
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", () => this.form.classList.remove("dropping"));
    addEventListener("drop", (event) => {
      this.form.classList.remove("dropping");
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.take(event.dataTransfer.files);
    });
  }

  changed() {
    sessionStorage.setItem(DRAFT, this.text.value);
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight}px`;
    this.problem.textContent = [...this.text.value].length > this.limits.text ? say("text-too-long") : "";
    const uploading = this.attached.some((one) => !one.id);
    const something = this.text.value.trim() || this.attached.length;
    this.send.disabled = !something || uploading || Boolean(this.problem.textContent);
  }

  submit() {
    if (this.send.disabled) return;
    const files = this.attached.map((one) => one.stored);
    this.onSend(this.text.value.trim(), files);
    this.attached = [];
    this.files.replaceChildren();
    this.files.hidden = true;
    this.text.value = "";
    this.changed();
    this.text.focus();
  }

  take(list) {
    for (const file of [...list].slice(0, FILES_MOST - this.attached.length)) this.add(file);
  }

  async add(file) {
    const state = element("small", {}, say("uploading"));
    const row = element("li", {}, element("span", {}, file.name), state);
    const one = { id: "", stored: null };
    const remove = button("×", "", () => this.remove(one, row));
    remove.setAttribute("aria-label", `${say("remove-file")} ${file.name}`);
    row.append(remove);
    this.files.hidden = false;
    this.files.append(row);
    if (file.size > this.limits.upload) {
      this.refuse(row, state, say("file-too-large"));
      return;
    }
    this.attached.push(one);
    this.changed();
    try {
      one.stored = await upload(file);
      one.id = one.stored.id;
      state.textContent = sizeOf(file.size);
    } catch (error) {
      this.attached = this.attached.filter((other) => other !== one);
      this.refuse(row, state, error.message || say("upload-failed"));
    }
    this.changed();
  }

  refuse(row, state, why) {
    row.classList.add("failed");
    state.textContent = why;
    state.setAttribute("role", "alert");
  }

  remove(one, row) {
    this.attached = this.attached.filter((other) => other !== one);
    row.remove();
    this.files.hidden = !this.files.children.length;
    this.changed();
    this.text.focus();
  }
}

function sizeOf(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
