// Draws a concept with its neighbours: rows on both sides of it, on a narrow screen on one side. No two labels meet.

import { clean, counted, el, route, svg } from "./elements.js";

const ROW = 40;
const NARROW = 560;
const CHAR = 7.6;

/** The drawing, which is drawn again when its room changes. */
export function drawn(name, related) {
  const figure = el("figure", { class: "net" });
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    // It has no room once it is off the page.
    if (contentRect.width === 0 || Math.abs(contentRect.width - width) < 1) return;
    width = contentRect.width;
    const focused = document.activeElement?.getAttribute("href");
    figure.replaceChildren(picture(name, related, width));
    if (focused && !document.activeElement?.matches("a")) {
      [...figure.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused)?.focus();
    }
  }).observe(figure);
  return figure;
}

function picture(name, related, width) {
  const isNarrow = width < NARROW;
  const n = isNarrow ? related.length : Math.ceil(related.length / 2);
  const height = Math.max(200, n * ROW + ROW);
  const centre = { x: isNarrow ? 34 : width / 2, y: height / 2 };
  const reach = isNarrow ? width * 0.3 : Math.min(width * 0.24, 220);
  const most = Math.max(...related.map(({ files }) => files));
  // The nearest are in the middle rows, left and right in turns.
  const rows = middleFirst(n);
  const nodes = related.map((neighbour, place) => {
    const side = isNarrow || place % 2 === 0 ? 1 : -1;
    const row = rows[isNarrow ? place : Math.floor(place / 2)];
    const t = n === 1 ? 0 : ((row - (n - 1) / 2) / (n / 2)) * 0.92;
    const x = centre.x + side * (isNarrow ? 46 : 70) + side * reach * Math.sqrt(1 - t * t) * 0.8;
    return { ...neighbour, side, x, y: height / 2 + (row - (n - 1) / 2) * ROW, share: neighbour.files / most };
  });
  nodes.sort((a, b) => b.side - a.side || a.y - b.y);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": `Concepts around ${name}` },
    nodes.map((node) => edge(centre, node)),
    nodes.map((node) => neighbour(node, width)),
    middle(name, centre, isNarrow, width));
}

function middleFirst(n) {
  return [...Array(n).keys()].sort((a, b) => Math.abs(a - (n - 1) / 2) - Math.abs(b - (n - 1) / 2) || a - b);
}

function edge(from, { x, y, share }) {
  const bend = (from.x + x) / 2;
  const d = `M${from.x} ${from.y} C${bend} ${from.y} ${bend} ${y} ${x} ${y}`;
  return svg("path", { class: "edge", d, "stroke-width": (1.25 + 5 * share).toFixed(2) });
}

function neighbour({ name, files, side, x, y, share }, width) {
  const radius = 6 + 5 * Math.sqrt(share);
  const room = side > 0 ? width - x - radius - 12 : x - radius - 12;
  const label = { x: x + side * (radius + 6), y, "text-anchor": side > 0 ? "start" : "end", "dominant-baseline": "central" };
  const left = side > 0 ? x - 14 : x - radius - 8 - room;
  return svg("a", { href: route("concept", name), "aria-label": `${name}, ${counted(files, "note")} in common` },
    svg("title", null, `${name}: ${counted(files, "note")} in common`),
    svg("rect", { class: "touch", x: left, y: y - ROW / 2 + 3, width: room + radius + 22, height: ROW - 6, rx: 8 }),
    svg("circle", { cx: x, cy: y, r: radius.toFixed(1) }),
    svg("text", label, cut(name, room)));
}

function middle(name, { x, y }, isNarrow, width) {
  const room = isNarrow ? width * 0.42 : 150;
  return svg("g", { class: "middle", "aria-hidden": "true" },
    svg("circle", { cx: x, cy: y, r: 15 }),
    svg("text", { x: isNarrow ? 6 : x, y: y + 32, "text-anchor": isNarrow ? "start" : "middle" }, cut(name, room)));
}

function cut(text, room) {
  const all = [...clean(text)];
  const most = Math.max(4, Math.floor(room / CHAR));
  return all.length <= most ? all.join("") : `${all.slice(0, most - 1).join("")}…`;
}
