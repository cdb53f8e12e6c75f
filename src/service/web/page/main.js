// The page: shows the view that the address names, and keeps it up to date while somebody looks.

import { ask, Refusal } from "./ask.js";
import { el, link, refreshTimes, route, words } from "./elements.js";
import { context, contexts } from "./contexts.js";
import { concept, graph, search } from "./graph.js";
import { handoff, handoffs } from "./handoffs.js";
import { session, sessions } from "./sessions.js";

const POLL_MS = 2_000;
/** After this long, a view that is on its way says so. */
const SLOW_MS = 400;
const VIEWS = { sessions, session, contexts, context, handoffs, handoff, graph, search, concept };

const at = (id) => document.getElementById(id);
const main = at("main");

/** What is shown: its address, and its data as text, by which a change is told. */
let shown = { hash: null, data: null };
/** Counts up with every change of the address: an answer for an earlier one is dropped. */
let turn = 0;
/** What every view may use. */
let now = null;
let project = null;

function wanted() {
  const [, name, subject] = location.hash.match(/^#\/([a-z]+)(?:\/(.*))?$/) ?? [];
  const view = Object.hasOwn(VIEWS, name ?? "") ? name : "sessions";
  try {
    return { name: view, view: VIEWS[view], subject: subject === undefined ? undefined : decodeURIComponent(subject) };
  } catch {
    return { name: "sessions", view: sessions, subject: undefined };
  }
}

/** Looks at what may have changed; with `isNew`, shows another view. */
async function look(isNew) {
  const mine = turn;
  const { name, view, subject } = wanted();
  let content, data;
  try {
    if (project === null) await introduce();
    await observe();
    if (!isNew && !view.isLive && shown.data !== null) return;
    const loaded = await view.load(subject, now);
    data = JSON.stringify(loaded, (key, value) => (key === "now" ? undefined : value));
    if (mine !== turn || (!isNew && data === shown.data)) return;
    content = view.render(loaded, subject);
  } catch (error) {
    if (mine !== turn) return;
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 0 || error.status === 403) return lost(error.message, isNew);
    data = `error ${error.message}`;
    if (!isNew && data === shown.data) return;
    content = complaint(error.message);
  }
  shown = { hash: location.hash, data };
  show(name, view, subject, content, isNew);
}

/** What went wrong, in words. Messages of commands begin with a small letter. */
function complaint(message, id) {
  const sentence = message.startsWith("kgctx") ? message : message.charAt(0).toUpperCase() + message.slice(1);
  return el("div", { role: "alert", class: "alert", id }, words(sentence));
}

async function introduce() {
  const { value } = await ask("whoami");
  project = value.name ?? value.channel;
  at("project").textContent = project;
}

async function observe() {
  const [monitor, open] = await Promise.all([ask("monitor"), ask("handoffs")]);
  now = { sessions: monitor.value.sessions, channel: open.value.channel, handoffs: open.value.handoffs, project };
  tell("live", "Live");
  at("lost")?.remove();
  count("live", now.sessions.length, "live");
  count("open", now.handoffs.length, "open");
}

function count(id, number, what) {
  const text = number > 0 ? String(number) : "";
  if (at(id).textContent !== text) at(id).textContent = text;
  at(id).title = `${number} ${what}`;
}

/** Says whether the page is up to date. */
function tell(state, text) {
  at("state").className = state;
  if (at("state").textContent !== text) at("state").textContent = text;
}

/** kgctx is gone: what is shown stays, and is marked as old. */
function lost(message, isNew) {
  tell("lost", "Not connected");
  if (isNew || shown.data === null) {
    const { name, view, subject } = wanted();
    show(name, view, subject, complaint(message), isNew);
    shown = { hash: location.hash, data: null };
  } else if (!at("lost")) {
    main.prepend(complaint(message, "lost"));
  }
}

function show(name, view, subject, content, isNew) {
  const title = view.title(subject);
  document.title = `${title} · kgctx`;
  for (const item of document.querySelectorAll("header nav a")) {
    const isHere = item.getAttribute("href") === route(view.parent ?? name);
    isHere ? item.setAttribute("aria-current", "page") : item.removeAttribute("aria-current");
  }
  const kept = isNew ? null : keep();
  const back = view.parent ? el("p", { class: "back" }, link(view.parent, undefined, `← ${VIEWS[view.parent].title()}`)) : null;
  main.replaceChildren(...[back, el("h1", { tabindex: "-1", "data-key": "title" }, title), content].flat(3).filter(Boolean));
  main.removeAttribute("aria-busy");
  kept?.();
}

/** Remembers the focus and what is unfolded; returns what brings both back. */
function keep() {
  const focused = main.contains(document.activeElement) ? document.activeElement.dataset?.key : undefined;
  const unfolded = [...main.querySelectorAll("details[open]")].map((details) => details.dataset.key);
  const find = (key) => [...main.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key);
  return () => {
    unfolded.forEach((key) => find(key)?.setAttribute("open", ""));
    if (focused) find(focused)?.focus({ preventScroll: true });
  };
}

async function go() {
  turn += 1;
  const mine = turn;
  const isFirst = shown.hash === null;
  main.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => {
    if (mine !== turn) return;
    const { name, view, subject } = wanted();
    show(name, view, subject, el("p", { class: "soft" }, "Loading …"), true);
    main.setAttribute("aria-busy", "true");
  }, SLOW_MS);
  if (document.activeElement !== at("words")) at("words").value = "";
  if (wanted().name === "search") at("words").value = wanted().subject ?? "";
  await look(true).finally(() => clearTimeout(slow));
  // The first time, a browser's own focus is the right one.
  if (mine === turn && !isFirst) {
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
}

function everySoOften() {
  let isBusy = false;
  setInterval(async () => {
    if (document.hidden || isBusy) return;
    isBusy = true;
    refreshTimes();
    try {
      await look(false);
    } finally {
      isBusy = false;
    }
  }, POLL_MS);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) tell("paused", "Paused");
    else look(false);
  });
}

addEventListener("hashchange", () => {
  if (location.hash.startsWith("#/")) go();
});
at("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const query = at("words").value.trim();
  if (query) location.hash = route("search", query);
});
addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    at("words").focus();
    at("words").select();
  }
});
go().then(everySoOften);
