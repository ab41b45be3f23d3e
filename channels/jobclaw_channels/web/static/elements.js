// Builds elements. Text only ever becomes a text node, so nothing a person or an agent writes is parsed.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function button(label, className, pressed) {
  const made = element("button", { type: "button", class: className }, label);
  made.addEventListener("click", () => pressed(made));
  return made;
}

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

export function link(href, ...children) {
  let scheme = "";
  try {
    scheme = new URL(href).protocol;
  } catch {
    scheme = "";
  }
  if (!SCHEMES.has(scheme)) return element("span", {}, ...children);
  return element("a", { href, rel: "noopener noreferrer", target: "_blank" }, ...children);
}
