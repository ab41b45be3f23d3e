// The parts of a reply, and the files of a message.

import { button, element, link } from "./elements.js";
import { draw } from "./tree.js";
import { say } from "./texts.js";

const BUILD = {
  text: (block) => text(block.c),
  buttons: (block, onChoice) => {
    const choices = block.buttons.map((choice) => button(choice.label, choice.quiet ? "choice quiet" : "choice", () => onChoice(choice)));
    const group = element("div", { class: "choices", role: "group" }, ...choices);
    return block.c.length ? element("div", {}, text(block.c), group) : group;
  },
  image: (block) => element("div", { class: "attached" }, picture(block.href, block.name)),
  file: (block) => element("div", { class: "attached" }, chip(block.href, block.name)),
  link: (block) => element("p", { class: "text" }, link(block.href, block.name)),
};

function text(tree) {
  const place = element("div", { class: "text", dir: "auto" });
  draw(place, tree);
  return place;
}

function own(href) {
  return href.startsWith("/chat/") ? href : "#";
}

function chip(href, name) {
  return element("a", { class: "chip", href: own(href), download: name }, name);
}

function picture(href, name) {
  const image = element("img", { src: own(href), alt: name || say("picture"), loading: "lazy" });
  image.addEventListener("error", () => image.replaceWith(name || say("picture")), { once: true });
  return element("a", { href: own(href), target: "_blank", rel: "noopener" }, image);
}

export function parts(blocks, onChoice) {
  return blocks.map((block) => BUILD[block.t]?.(block, onChoice) ?? document.createTextNode(block.name ?? ""));
}

export function files(list) {
  if (!list.length) return [];
  const made = list.map((file) => (file.kind === "image" ? picture(file.href, file.name) : chip(file.href, file.name)));
  return [element("div", { class: "attached" }, ...made)];
}
