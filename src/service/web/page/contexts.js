// Contexts that sessions were given, and one of them explained: what each line costs, why it is there, what was left out.

import { ask } from "./ask.js";
import { badge, counted, el, empty, facts, link, moment, section, table, thousands, withConcepts, words } from "./elements.js";

const PARTS = {
  frame: "Frame", handoff: "Handoff", notes: "Notes", concepts: "Concepts", recent: "Recent", graph: "Graph", files: "Files",
};
const MISSES_SHOWN = 15;

/** How much of its budget a context takes. */
export const amount = (tokens, budget) =>
  [el("strong", null, thousands(tokens)), ` of ${thousands(budget)} tokens`];

export const delivery = (delivered) =>
  delivered ? badge("delivered", "good") : badge("no delivery recorded", "early");

/** The moment of a session at which it was given a context. */
export const when = (text) => (text === "start" ? "start" : text.split(":")[0]);

export const contexts = {
  isLive: true,
  title: () => "Contexts",
  load: async () => (await ask("contexts")).value,
  render({ contexts, project }) {
    if (contexts.length === 0) {
      return empty(
        `No session of ${project ?? "this folder"} has a context yet.`,
        "`kgctx explain --dry-run` shows the one that kgctx would build now; `kgctx doctor` reports what is missing.");
    }
    return section("The last context of each session", table(
      `${counted(contexts.length, "session")}, newest first`,
      ["Session", "Made", "Host", "Given at", ["Tokens", "number"], "Delivery"],
      contexts.map(({ session, at, host, moment: of, tokens, budget, delivered }) => [
        link("context", session, session), moment(at), host, when(of),
        `${thousands(tokens)} of ${thousands(budget)}`, delivery(delivered)])));
  },
};

/** Where the tokens went: a bar, and the same as text. */
function shares({ parts, used, budget }) {
  const whole = Math.max(1, budget.tokens, used.tokens);
  const pieces = parts.filter(({ tokens }) => tokens > 0).map(({ name, tokens }) => {
    const piece = el("span", { class: `piece ${name}` });
    piece.style.width = `${(100 * tokens) / whole}%`;
    return piece;
  });
  const free = Math.max(0, budget.tokens - used.tokens);
  const legend = [...parts, { name: "unused", tokens: free }].filter(({ tokens }) => tokens > 0);
  return [
    el("div", { class: "shares", "aria-hidden": "true" }, pieces),
    el("ul", { class: "legend" }, legend.map(({ name, tokens }) => el("li", null,
      swatch(name), PARTS[name] ?? "Not used", " ",
      el("strong", null, thousands(tokens))))),
  ];
}

const ofHandoff = ({ handoff }) => (handoff
  ? section("What it says about handoffs", handoff.handoff
    ? [el("p", null, "It gives ", link("handoff", handoff.handoff.id, handoff.handoff.id), "."),
      el("ul", null, handoff.handoff.facts.map((fact) => el("li", null, fact)))]
    : el("p", null, handoff.remark ?? ""))
  : null);

const swatch = (part) => el("span", { class: `swatch ${part}`, "aria-hidden": "true" });

/** A line without the hyphen that makes it an item of a list, its address set apart. In a quote, brackets are code. */
function line(text) {
  const item = text.replace(/^- /, "");
  const [, address, quote] = item.match(/^(memory:\S+?):?(?:\s+(.*))?$/s) ?? [];
  return address ? [el("code", { class: "address soft" }, address), quote] : withConcepts(item);
}

const lines = (all) => all.length === 0
  ? words("It has no lines.")
  : table(`${counted(all.length, "line")}, in their order`, ["Line", ["Part", "part"], ["Tokens", "number"], ["Why", "why"]],
    all.map(({ text, tokens, reason, shortened, part }) => [
      line(text), [swatch(part), PARTS[part] ?? part], thousands(tokens), `${reason}${shortened ? ", shortened" : ""}`]));

function misses(all) {
  if (all.length === 0) return words("Nothing was left out.");
  const rows = (some) => table(`${counted(some.length, "line")}, best first`,
    ["Line", ["Tokens", "number"], ["Why", "why"], "Comes in"],
    some.map(({ text, tokens, reason, entersAt }) => [line(text), thousands(tokens), reason,
      entersAt === null ? "never: the host’s own limit keeps it out" : `with ${thousands(entersAt)} tokens`]));
  const rest = all.slice(MISSES_SHOWN);
  return [rows(all.slice(0, MISSES_SHOWN)), rest.length > 0
    ? el("details", { "data-key": "misses" }, el("summary", { "data-key": "misses-summary" }, `${thousands(rest.length)} more`), rows(rest))
    : null];
}

export const context = {
  isLive: false,
  title: (id) => `Context of ${id}`,
  parent: "contexts",
  load: async (id) => (await ask("explain", { session: id })).value,
  render({ lines: shown, nearMisses, receipt, supplement }, id) {
    return [
      receipt.faults.length > 0 && el("section", { class: "faults", "aria-labelledby": "h-faults" },
        el("h2", { id: "h-faults" }, "What went wrong"),
        el("ul", null, receipt.faults.map(({ source, reason }) => el("li", null, `${source}: ${reason}`)))),
      section("Where the tokens went",
        el("p", { class: "amount" }, amount(receipt.used.tokens, receipt.budget.tokens), " ", delivery(receipt.delivered)),
        shares(receipt),
        facts([["Session", link("session", id, id)], ["Made", moment(receipt.at)], ["Host", receipt.host],
          ["Project", receipt.project ?? "none"], ["Given at", when(receipt.moment)], ["Ranking", receipt.ranking],
          ["Encoding", receipt.encoding], ["Characters", thousands(receipt.used.chars)],
          ["SHA-256", el("code", { title: receipt.sha256 }, `${receipt.sha256.slice(0, 12)}…`)]])),
      ofHandoff(receipt),
      section("What the session gets", lines(shown)),
      supplement && section("What the first prompt added",
        el("p", { class: "amount" }, amount(supplement.receipt.used.tokens, supplement.receipt.budget.tokens)), lines(supplement.lines)),
      section("What was left out", misses(nearMisses)),
      section("How long it took", receipt.stages.length > 0
        ? table("Stages; they can run in parallel", ["Stage", ["Milliseconds", "number"]],
          receipt.stages.map(({ name, ms }) => [name, (ms ?? 0).toFixed(2)]))
        : words("No times were recorded.")),
    ].filter(Boolean);
  },
};
