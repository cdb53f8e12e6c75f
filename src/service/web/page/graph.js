// Search, and the graph around a concept.

import { ask } from "./ask.js";
import { chips, counted, el, empty, link, section, table, withConcepts, words } from "./elements.js";
import { drawn } from "./drawing.js";

const BECAUSE = {
  uri: "has this address", title: "has this title", alias: "has this alias", file: "has this file name",
  concept: "mentions the concept", text: "has the words",
};
const CHIPS_SHOWN = 8;
const CONCEPTS_SHOWN = 24;

const beside = (remarks) => (remarks.length > 0
  ? el("section", { class: "faults", "aria-label": "Remarks" }, remarks.map(words))
  : null);

const unique = (all) => [...new Set(all)];

/** The concepts that the newest context connects, which are those of the notes that a session needs. */
async function connected() {
  const { contexts } = (await ask("contexts")).value;
  if (contexts.length === 0) return [];
  const { lines } = (await ask("explain", { session: contexts[0].session })).value;
  const names = lines.filter(({ part }) => part === "graph").flatMap(({ text }) => text.match(/\[\[[^\[\]]+\]\]/g) ?? []);
  return names.map((name) => name.slice(2, -2));
}

export const graph = {
  isLive: false,
  title: () => "Graph",
  async load(_, now) {
    const [{ value, remarks }, others] = await Promise.all([ask("search", { q: now.project }), connected()]);
    const concepts = unique([...others, ...value.results.flatMap(({ concepts }) => concepts)]);
    return { concepts: concepts.slice(0, CONCEPTS_SHOWN), remarks };
  },
  render({ concepts, remarks }) {
    const way = "Search above for words, a title, a concept or an address. Every concept leads to the ones that share notes with it.";
    return [beside(remarks), concepts.length > 0
      ? section("Where to begin", words(way), chips(concepts))
      : empty("Search for a concept to see the ones around it.", way,
        "Concepts are links like `[[Auth Flow]]` in your notes. `kgctx doctor` lists where kgctx looks for notes.")].filter(Boolean);
  },
};

const hit = ({ title, uri, matched, snippet, concepts }) => el("li", { class: "card" },
  el("h2", null, title),
  el("p", { class: "soft small" }, el("code", null, uri), ` · ${BECAUSE[matched] ?? matched}`),
  snippet ? el("p", null, withConcepts(snippet)) : null,
  concepts.length > 0 ? chips(concepts.slice(0, CHIPS_SHOWN)) : null,
  concepts.length > CHIPS_SHOWN ? el("p", { class: "soft small" }, `and ${concepts.length - CHIPS_SHOWN} more`) : null);

export const search = {
  isLive: false,
  title: (query) => `Notes about “${query}”`,
  parent: "graph",
  load: async (query) => ask("search", { q: query }),
  render({ value: { results }, remarks }, query) {
    return [beside(remarks), results.length > 0
      ? [el("p", { class: "soft" }, counted(results.length, "note"), ", best first. ",
        link("concept", query, "Show it as a concept")),
      el("ol", { class: "cards" }, results.map(hit))]
      : empty(`No note matches “${query}”.`, "Try fewer or other words: notes are found by words, title, alias and concept.")].filter(Boolean);
  },
};

export const concept = {
  isLive: false,
  title: (name) => `Concept ${name}`,
  parent: "graph",
  load: async (name) => ask("context", { concept: name }),
  render({ value, remarks }, name) {
    if (!value.known) {
      return [beside(remarks), empty(`No note mentions “${name}” as a concept.`),
        value.nearest?.length > 0 ? section("Close to it", chips(value.nearest)) : null,
        el("p", null, link("search", name, "Search notes for these words"))].filter(Boolean);
    }
    const related = value.relatedConcepts;
    if (related.length === 0) {
      return [beside(remarks), empty("No other concept shares a note with it."),
        el("p", null, link("search", name, "Notes about it"))].filter(Boolean);
    }
    const addresses = (uris) => uris.map((uri) => el("code", { class: "address" }, uri));
    return [
      beside(remarks),
      section("Related concepts",
        el("p", { class: "soft" }, "The thicker a line, the more notes mention both. ", link("search", name, "Notes about it")),
        drawn(value.concept, related)),
      section("The same as a table", table(
        `${counted(related.length, "concept")}, the nearest first`,
        ["Concept", ["Notes in common", "number"], "The newest of them"],
        related.map(({ name: other, files, uris }) => [link("concept", other, other), files, addresses(uris)]))),
    ].filter(Boolean);
  },
};
