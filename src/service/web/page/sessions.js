// Live sessions with their levels, and one session followed: its level, its context, its handoffs.

import { ask, askLines } from "./ask.js";
import { badge, bar, el, empty, facts, link, moment, section, table, thousands, words } from "./elements.js";
import { amount, delivery, when } from "./contexts.js";
import { goal, steps } from "./handoffs.js";

const KINDS = { OK: "good", EARLY_WARN: "early", WARN: "warn", CRITICAL: "bad" };
const SOURCES = {
  transcript: "the transcript", compaction: "a compaction", "status-line": "the status line", messages: "OpenCode’s messages",
  host: "the host", setting: "your settings", model: "the model’s name", usage: "usage", default: "the default",
};

const level = (session) => badge(session.level.replace("_", " "), KINDS[session.level]);

function used({ tokens, window, percent }) {
  if (tokens === null) return `Tokens unknown; window of ${thousands(window)} tokens`;
  return `${thousands(tokens)} of ${thousands(window)} tokens, ${percent} %`;
}

const fullness = ({ percent, level }) => (percent === null ? null : bar(percent, KINDS[level]));

/** Beside the numbers: where they come from. */
function origin({ tokensFrom, tokensAt, windowFrom }) {
  const from = [tokensFrom ? `Tokens from ${SOURCES[tokensFrom] ?? tokensFrom}` : "Estimated from the transcript’s size"];
  if (tokensAt) from.push(", ", moment(tokensAt));
  const whose = windowFrom === "default" ? "default window" : `window from ${SOURCES[windowFrom] ?? windowFrom}`;
  return [...from, `; ${whose}.`];
}

const card = (session) => el("li", { class: "card" },
  el("div", { class: "row" },
    el("h2", null, link("session", session.session, session.session)),
    level(session)),
  fullness(session),
  el("p", null, el("strong", null, used(session)), " ", el("span", { class: "soft" }, `in ${session.channel}`)),
  el("p", { class: "soft small" }, origin(session)));

export const sessions = {
  isLive: true,
  title: () => "Live sessions",
  load: async (_, now) => ({ sessions: now.sessions }),
  render({ sessions }) {
    if (sessions.length > 0) return el("ul", { class: "cards" }, sessions.map(card));
    return empty(
      "No live session is known.",
      "Install kgctx into a host with `kgctx install claude-code` or `kgctx install opencode`, then start a session: Claude Code sessions appear when they start, OpenCode sessions after their first answer.");
  },
};

/** What is known of a session's context without explaining it, which takes longer. */
function given(summary, isElsewhere, id) {
  const why = el("p", null, link("context", id, "Why each line is there"));
  if (summary) {
    const { tokens, budget, at, host, moment: of, delivered } = summary;
    return [el("p", { class: "amount" }, amount(tokens, budget), " ", delivery(delivered)),
      facts([["Made", moment(at)], ["Host", host], ["Given at", when(of)]]), why];
  }
  if (isElsewhere) return [words("It belongs to another project."), why];
  return words("kgctx has built no context for it. `kgctx doctor` reports what is missing.");
}

export const session = {
  isLive: true,
  title: (id) => `Session ${id}`,
  parent: "sessions",
  async load(id, now) {
    const [list, all, log] = await Promise.all([
      ask("contexts"), ask("handoffs", { which: "all" }), askLines("log"),
    ]);
    const isOf = (handoff) =>
      [handoff.session_id, handoff.claimed_by_session, handoff.consumed_by_session].includes(id);
    const live = now.sessions.find(({ session }) => session === id) ?? null;
    return {
      live,
      summary: list.value.contexts.find(({ session }) => session === id) ?? null,
      isElsewhere: live !== null && live.channel !== now.channel,
      handoffs: all.value.handoffs.filter(isOf),
      log: log.filter((step) => step.session === id),
    };
  },
  render({ live, summary, isElsewhere, handoffs, log }, id) {
    return [
      section("How full it is", live
        ? [el("p", { class: "amount" }, level(live), " ", el("strong", null, used(live))),
          fullness(live),
          el("p", { class: "soft small" }, origin(live))]
        : words("This session is not live: it has ended, or its host has not reported it yet.")),
      section("Its context", given(summary, isElsewhere, id)),
      section("Its handoffs", handoffs.length > 0
        ? table("What it left, and what it got", ["Handoff", "Status", "Role"], handoffs.map((handoff) => [
          link("handoff", handoff.id, goal(handoff)), handoff.status, handoff.session_id === id ? "left it" : "got it"]))
        : words("It left no handoff and received none from this project."),
      log.length > 0 ? [el("h3", null, "What it did with handoffs"), steps(log, true)] : null),
    ];
  },
};
