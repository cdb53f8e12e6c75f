// Makes elements. Text of notes, hosts and people only ever becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";
// They would move or hide what stands beside them.
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export const clean = (text) => String(text).replace(UNPRINTABLE, " ");
export const thousands = (number) => Number(number).toLocaleString("en");
export const counted = (number, noun) => `${thousands(number)} ${noun}${number === 1 ? "" : "s"}`;

/** An element with attributes and children, which are elements or text; `null` is left out. */
export const el = (name, attributes, ...children) =>
  filled(document.createElement(name), attributes, children);

export const svg = (name, attributes, ...children) =>
  filled(document.createElementNS(SVG, name), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : clean(value));
    }
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined) {
      element.append(child instanceof Node ? child : clean(child));
    }
  }
  return element;
}

/** The address of a view. */
export const route = (view, subject) =>
  subject === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(subject)}`;

/** A link to a view. It keeps the focus when its surroundings are drawn again. */
export const link = (view, subject, ...children) =>
  el("a", { href: route(view, subject), "data-key": `${view}/${subject}` }, children);

/** A section with a heading, which is a landmark. */
export function section(title, ...children) {
  const id = `h-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return el("section", { "aria-labelledby": id }, el("h2", { id }, title), children);
}

/** A moment, told as an age, which `refreshTimes` keeps up to date. */
export const moment = (iso) => el("time", { datetime: iso, title: iso }, age(iso));

export function refreshTimes() {
  for (const time of document.querySelectorAll("time")) {
    const text = age(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
}

function age(iso) {
  const seconds = Math.max(0, (Date.now() - Date.parse(iso)) / 1000);
  if (Number.isNaN(seconds)) return iso;
  if (seconds < 10) return "just now";
  if (seconds < 60) return "less than a minute ago";
  for (const [size, noun, until] of [[60, "minute", 60], [3600, "hour", 24], [86400, "day", Infinity]]) {
    const number = Math.floor(seconds / size);
    if (number < until) return `${counted(number, noun)} ago`;
  }
}

/** Facts as pairs of a name and a value; those without a value are left out. */
export const facts = (pairs) =>
  el("dl", { class: "facts" }, pairs
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value))));

/** A table that becomes a list of cards on a narrow screen. Columns are names, or pairs of a name and a class. */
export function table(caption, columns, rows) {
  const heads = columns.map((column) => [column].flat());
  const cell = (content, n) => {
    const [name, kind] = heads[n];
    return el(n === 0 ? "th" : "td", { class: kind, "data-name": name, scope: n === 0 ? "row" : null }, content);
  };
  return el("table", null,
    el("caption", null, caption),
    el("thead", null, el("tr", null, heads.map(([name, kind]) => el("th", { scope: "col", class: kind }, name)))),
    el("tbody", null, rows.map((row) => el("tr", null, row.map(cell)))));
}

/** A bar that is full by so many percent. What it says is beside it as text. */
export function bar(percent, kind) {
  const fill = el("span", { class: `fill ${kind}` });
  fill.style.width = `${Math.min(100, Math.max(0, percent))}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, fill);
}

export const badge = (text, kind) => el("span", { class: `badge ${kind ?? ""}` }, text);

/** A paragraph in which `code` between backticks is shown as such. */
export const words = (text) =>
  el("p", null, text.split("`").map((piece, n) => (n % 2 ? el("code", null, piece) : piece)));

/** What to do where there is nothing yet. */
export const empty = (...paragraphs) => el("div", { class: "empty" }, paragraphs.map(words));

/** Text with its `[[concepts]]` as links to the graph. */
export const withConcepts = (text) =>
  clean(text).split(/(\[\[[^\[\]\n]+\]\])/).map((piece, n) =>
    n % 2 ? link("concept", piece.slice(2, -2), piece) : piece);

export const chips = (concepts) =>
  el("ul", { class: "chips" }, concepts.map((name) => el("li", null, link("concept", name, name))));
