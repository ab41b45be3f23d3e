// Turns the server's Markdown tree into elements; a name that is not known here is shown as its text.

import { button, element, link } from "./elements.js";
import { say } from "./texts.js";

const PLAIN = new Set([
  "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "li", "thead", "tbody", "tr", "b", "i", "s",
  "code", "br", "hr",
]);
const DEPTH_MOST = 60;

const SPECIAL = {
  quote: (node, depth) => element("blockquote", {}, ...children(node, depth)),
  ol: (node, depth) => element("ol", { start: node.start }, ...children(node, depth)),
  th: (node, depth) => element("th", { scope: "col", "data-align": node.align }, ...children(node, depth)),
  td: (node, depth) => element("td", { "data-align": node.align }, ...children(node, depth)),
  table: (node, depth) => {
    const table = element("table", {}, ...children(node, depth));
    return element("div", { class: "table", tabindex: "0", role: "group" }, table);
  },
  a: (node, depth) => link(node.href, ...children(node, depth)),
  pre: (node) => codeBlock(node),
};

function children(node, depth) {
  return (node.c ?? []).map((child) => built(child, depth + 1));
}

function built(node, depth) {
  if (typeof node === "string") return document.createTextNode(node);
  if (depth > DEPTH_MOST) return document.createTextNode(textOf(node));
  const special = SPECIAL[node.t];
  if (special) return special(node, depth);
  return element(PLAIN.has(node.t) ? node.t : "span", {}, ...children(node, depth));
}

function textOf(node) {
  if (typeof node === "string") return node;
  return (node.c ?? []).map(textOf).join("");
}

function codeBlock(node) {
  const text = textOf(node);
  const copy = button(say("copy"), "copy", () => copied(copy, text, code));
  const code = element("code", {}, text);
  return element(
    "div",
    { class: "code" },
    element("header", {}, element("span", {}, node.lang ?? ""), copy),
    element("pre", { tabindex: "0" }, code),
  );
}

async function copied(control, text, shown) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    selectAndCopy(shown); // no permission, or a page without https
  }
  control.textContent = say("copied");
  setTimeout(() => { control.textContent = say("copy"); }, 2000);
}

function selectAndCopy(shown) {
  const range = document.createRange();
  range.selectNodeContents(shown);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  document.execCommand("copy");
}

const drawn = new WeakMap();

// Shows the tree in `place`, touching only the blocks that differ from what is there already, so that
// a text that grows does not flicker.
export function draw(place, tree) {
  const before = drawn.get(place) ?? [];
  const after = tree.map((node) => JSON.stringify(node));
  after.forEach((key, index) => {
    const old = place.childNodes[index];
    if (old && before[index] === key) return;
    const made = built(tree[index], 0);
    if (old) place.replaceChild(made, old);
    else place.append(made);
  });
  while (place.childNodes.length > after.length) place.lastChild.remove();
  drawn.set(place, after);
}
