// Drives the page of `kgctx serve --web` in a real browser, as a person would, and prints what was seen as JSON.
// Takes one argument: a JSON object with the keys that are named below.

import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const { tools, browser: executablePath, profile, address, session, transcript, grown, pid, pictures } = JSON.parse(process.argv[2]);
const require = createRequire(join(tools, "node_modules", "/"));
const { chromium } = require("playwright-core");

const SETTLED_MS = 20_000;
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

const seen = { errors: [], outside: [], dialogs: 0, faults: [], wide: [] };
const context = await chromium.launchPersistentContext(profile, {
  executablePath, args: FLAGS, headless: true, viewport: { width: 1200, height: 900 }, colorScheme: "light",
});
context.setDefaultTimeout(SETTLED_MS);
const page = context.pages()[0] ?? await context.newPage();
// Before the page's own policy, which lets no foreign script in.
await page.addInitScript({ path: join(tools, "node_modules/axe-core/axe.min.js") });
page.on("console", (message) => ["error", "warning"].includes(message.type()) && seen.errors.push(message.text()));
page.on("pageerror", (error) => seen.errors.push(String(error)));
page.on("requestfailed", (request) => seen.errors.push(`${request.url()} failed`));
page.on("request", (request) => request.url().startsWith(address) || seen.outside.push(request.url()));
page.on("dialog", async (dialog) => { seen.dialogs += 1; await dialog.dismiss(); });

const heading = (text) => page.waitForFunction((text) => document.querySelector("main h1")?.textContent === text, text);
const texts = (selector) => page.locator(selector).allTextContents();
const picture = async (name) => pictures && page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });

/** Goes to a view by its address. */
async function visit(route, title) {
  await page.evaluate((route) => { location.hash = route; }, route);
  await heading(title);
}

/** Looks for faults that keep people out. */
async function inspect(name) {
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, impact, nodes } of found.violations) {
    if (["serious", "critical"].includes(impact)) {
      seen.faults.push(`${name}: ${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
    }
  }
}

// Load.
await page.goto(address);
await heading("Live sessions");
seen.title = await page.title();
seen.project = (await texts("#project"))[0];
seen.state = (await texts("#state"))[0];
seen.cards = await texts("main .card h2");
seen.levels = await texts("main .card .badge");

// By keyboard alone: past the head, to the search, to a concept, along the graph.
await page.keyboard.press("Tab");
seen.firstStop = await page.evaluate(() => document.activeElement.textContent);
await page.keyboard.press("Enter");
seen.afterSkip = await page.evaluate(() => document.activeElement.id);
await page.keyboard.press("/");
await page.keyboard.type("tile cache");
await page.keyboard.press("Enter");
await heading("Notes about “tile cache”");
seen.results = await texts("main .card h2");
const focused = () => page.evaluate(() => document.activeElement.textContent);
for (let n = 0; n < 40 && (await focused()) !== "tile-cache"; n += 1) await page.keyboard.press("Tab");
await page.keyboard.press("Enter");
await heading("Concept tile-cache");
seen.focusOnTitle = await page.evaluate(() => document.activeElement === document.querySelector("main h1"));
await page.waitForSelector(".net a");
seen.neighbours = await page.locator(".net a").evaluateAll((all) => all.map((a) => a.getAttribute("aria-label")));
seen.rows = await page.locator("main tbody tr").count();
for (let n = 0; n < 40 && !(await page.evaluate(() => document.activeElement.matches(".net a"))); n += 1) await page.keyboard.press("Tab");
const next = await page.evaluate(() => document.activeElement.getAttribute("aria-label").split(",")[0]);
await page.keyboard.press("Enter");
await heading(`Concept ${next}`);
await page.goBack();
await heading("Concept tile-cache");

// Follow a session, with the pointer: its level changes while one looks.
await page.click("header nav a >> text=Sessions");
await heading("Live sessions");
await page.click(`main .card a >> text=${session}`);
await heading(`Session ${session}`);
seen.before = (await texts("main .amount .badge"))[0];
await page.click("text=Why each line is there");
await heading(`Context of ${session}`);
seen.sections = await texts("main h2");
await page.goBack();
await heading(`Session ${session}`);
appendFileSync(transcript, grown);
await page.waitForFunction(() => document.querySelector("main .amount .badge")?.textContent === "CRITICAL");
seen.after = (await texts("main .amount"))[0];

// Where to begin in the graph.
await visit("#/graph", "Graph");
seen.beginnings = await texts("main .chips a");

// The life of a handoff.
await visit("#/handoffs/all", "Handoffs");
seen.groups = await texts("main h2");
seen.images = await page.locator("main img, main b, main i").count();
await page.click("main .card a >> text=Finish the cache");
await page.waitForSelector("main .steps");
const handoff = await page.evaluate(() => location.hash);
const handoffTitle = (await texts("main h1"))[0];
seen.steps = await texts("main .steps strong");

// Every view: in both colours, and on narrow screens.
const views = [
  ["sessions", "#/sessions", "Live sessions"], ["session", `#/session/${session}`, `Session ${session}`],
  ["contexts", "#/contexts", "Contexts"], ["context", `#/context/${session}`, `Context of ${session}`],
  ["handoffs", "#/handoffs", "Handoffs"], ["handoff", handoff, handoffTitle], ["graph", "#/graph", "Graph"],
  ["search", "#/search/hostile", "Notes about “hostile”"], ["nothing", "#/search/zzz", "Notes about “zzz”"],
  ["concept", "#/concept/tile-cache", "Concept tile-cache"], ["unknown", "#/concept/tile-cash", "Concept tile-cash"],
];
for (const colorScheme of ["light", "dark"]) {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  for (const [name, route, title] of views) {
    await visit(route, title);
    await inspect(`${name}, ${colorScheme}`);
    await picture(`${name}-${colorScheme}`);
  }
}
for (const width of [320, 390]) {
  await page.setViewportSize({ width, height: 800 });
  for (const [name, route, title] of views) {
    await visit(route, title);
    await page.waitForTimeout(50);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) seen.wide.push(`${name} at ${width}: ${over} pixels too wide`);
    if (width === 390) {
      await inspect(`${name}, phone`);
      await picture(`${name}-phone`);
    }
  }
}
seen.images += await page.locator("main img, main b, main i").count();

// kgctx ends: what is shown stays, and is said to be old. The browser complains of lost connections from here on.
await visit("#/sessions", "Live sessions");
const faultless = seen.errors.length;
process.kill(pid, "SIGTERM");
await page.waitForSelector("#lost");
seen.errors.length = faultless;
seen.lost = [(await texts("#state"))[0], (await texts("#lost"))[0]];
seen.stillThere = (await texts("main .card h2")).length;
await picture("lost-phone");

await context.close();
console.log(JSON.stringify(seen));
