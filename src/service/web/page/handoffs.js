// Handoffs that wait, are claimed or are done with, and the life of one of them.

import { ask, askLines } from "./ask.js";
import { badge, el, empty, facts, link, moment, section, words } from "./elements.js";

const KINDS = { active: "good", claimed: "warn", draft: "early" };
const LISTS = { open: "Waiting and claimed", all: "All of this project", everywhere: "Waiting and claimed, in all projects" };

export const goal = (handoff) => handoff.goal || handoff.id;
const status = ({ status, abandoned }) =>
  [badge(status === "active" ? "waiting" : status, KINDS[status]), abandoned ? badge("its session is over", "bad") : null];
const whom = ({ kind, audience }) =>
  (kind === "task" ? "any session" : `the next session${audience === "any" ? ", scripted ones too" : ""}`);

function card(handoff, isHere) {
  const title = isHere ? link("handoff", handoff.id, goal(handoff)) : goal(handoff);
  const by = handoff.claimed_by_session ?? handoff.consumed_by_session;
  return el("li", { class: "card" },
    el("div", { class: "row" }, el("h3", null, title), el("span", null, status(handoff))),
    el("p", null, `For ${whom(handoff)}; ${handoff.priority} priority; left `, moment(handoff.created_at), "."),
    el("p", { class: "soft small" }, handoff.id,
      by ? [" · ", handoff.status === "claimed" ? "claimed by " : "given to ", link("session", by, by)] : null,
      handoff.working_dir ? ` · ${handoff.channel}, ${handoff.working_dir}` : null));
}

const groups = (all) => [
  ["Claimed", all.filter(({ status }) => status === "claimed")],
  ["Waiting", all.filter(({ status }) => status === "active")],
  ["Finished", all.filter(({ status }) => !["claimed", "active"].includes(status))],
].filter(([, some]) => some.length > 0);

/** The lists, one of which is shown. */
const choices = (which) => el("nav", { "aria-label": "Which handoffs", class: "choices" }, el("ul", null,
  Object.entries(LISTS).map(([name, title]) => {
    const choice = link("handoffs", name, title);
    if (name === which) choice.setAttribute("aria-current", "true");
    return el("li", null, choice);
  })));

const listed = (which) => (which in LISTS ? which : "open");

export const handoffs = {
  isLive: true,
  title: () => "Handoffs",
  async load(which, now) {
    if (listed(which) === "open") return { channel: now.channel, handoffs: now.handoffs };
    return (await ask("handoffs", { which: listed(which) })).value;
  },
  render({ channel, handoffs }, which) {
    const isHere = listed(which) !== "everywhere";
    const shown = groups(handoffs).map(([title, some]) =>
      section(title, el("ul", { class: "cards" }, some.map((handoff) => card(handoff, isHere)))));
    const none = empty(
      isHere ? `Nothing waits in ${channel}.` : "Nothing waits in any project.",
      "A session leaves a handoff with `kgctx handoff create`; the next one gets it automatically. `kgctx handoff --help` explains more.");
    return [choices(listed(which)), shown.length > 0 ? shown : none];
  },
};

/** The steps of a life, in the order of the log. */
export const steps = (log, isNamed) => el("ol", { class: "steps" }, log.map((step) => el("li", null,
  el("strong", null, `${step.from ?? "created"} → ${step.to ?? "removed"}`), " ", moment(step.at),
  isNamed ? [" · ", link("handoff", step.id, step.id)] : null,
  el("span", { class: "soft" },
    !isNamed && step.session ? [" · session ", link("session", step.session, step.session)] : null,
    step.reason ? ` · ${step.reason}` : null, ` · process ${step.pid}`))));

export const handoff = {
  isLive: true,
  title: (id) => `Handoff ${id}`,
  parent: "handoffs",
  async load(id) {
    const [shown, log] = await Promise.all([ask("handoff", { id }), askLines("log", { id })]);
    return { shown: shown.value, log };
  },
  render({ shown, log }) {
    const session = (id) => (id ? link("session", id, id) : null);
    const at = (iso) => (iso ? moment(iso) : null);
    return [
      section(goal(shown), el("p", null, status(shown)),
        facts([["For", whom(shown)], ["Type", shown.type], ["Priority", shown.priority],
          ["Left", at(shown.created_at)], ["By", session(shown.session_id)], ["Expires", shown.expires_at],
          ["Claimed by", session(shown.claimed_by_session)], ["Given to", session(shown.consumed_by_session)],
          ["Reason", shown.reason], ["Followed by", shown.superseded_by ? link("handoff", shown.superseded_by, shown.superseded_by) : null],
          ["File", shown.path]])),
      section("Its history", log.length > 0 ? steps(log, false) : words("Its log is empty.")),
      section("What it says", el("pre", { tabindex: "0", "aria-label": "The text of the handoff" }, shown.body)),
    ];
  },
};

