// The page's sentences, in its language; the server puts them on the body.

const sentences = JSON.parse(document.body.dataset.texts);

export const language = document.documentElement.lang;

export function say(id) {
  return sentences[id] ?? id;
}
