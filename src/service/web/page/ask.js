// Asks kgctx. Every question only reads.

const PATIENCE_MS = 30_000;
const GONE = "kgctx does not answer. Start `kgctx serve --web` again, and open the address that it prints.";

const SLOW = "This answer takes more than 30 seconds. Try again when the machine has less to do.";

/** A question without an answer; its message is for people. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Asks a question. Returns the answer, and what is worth knowing beside it. */
export async function ask(question, parameters = {}) {
  const { text, remarks } = await fetched(question, parameters);
  return { value: JSON.parse(text), remarks };
}

/** Asks for an answer that has a line of JSON for each item. */
export async function askLines(question, parameters = {}) {
  const { text } = await fetched(question, parameters);
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

async function fetched(question, parameters) {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  let response, text;
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    response = await fetch(`api/${question}?${pairs.join("&")}`, { signal });
    text = await response.text();
  } catch (error) {
    if (error.name === "TimeoutError") throw new Refusal(504, SLOW);
    throw new Refusal(0, GONE);
  }
  if (!response.ok) {
    throw new Refusal(response.status, told(text));
  }
  const remarks = decodeURIComponent(response.headers.get("kgctx-remarks") ?? "");
  return { text, remarks: remarks.split("\n").filter(Boolean) };
}

function told(text) {
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text;
  }
}
