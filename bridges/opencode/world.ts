// The bridge against a fake kgctx (a shell script that does what a test laid down for its session) and a fake OpenCode
// (a client that keeps what it was asked). Waits are real: the tests that need long ones run at the same time.
import { expect } from "bun:test"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as bridge from "./kgctx"

export const HOLD_MS = 1_500
export const SLACK_MS = 500
export const place = mkdtempSync(join(tmpdir(), "kgctx-bridge-"))
process.on("exit", () => rmSync(place, { recursive: true, force: true }))

export function script(name: string, body: string) {
  const path = join(place, name)
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
  return path
}
export const fake = script(
  "kgctx",
  `[ "$*" = "hook opencode" ] || exit 64
input=$(cat)
session=$(printf '%s' "$input" | sed 's/.*"sessionID":"\\([^"]*\\)".*/\\1/')
type=$(printf '%s' "$input" | sed 's/.*"event":{"type":"\\([^"]*\\)".*/\\1/')
printf '%s\\n' "$input" >> "${place}/$session.asked"
does="${place}/$session.$type"
if [ -f "$does" ]; then . "$does"; else echo '{"protocol":1,"action":"none","reason":"-"}'; fi`,
)
process.env.KGCTX_BIN = fake

export const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms))
export const never = () => new Promise<never>(() => {})
export async function until<T>(what: string, found: () => T | undefined | false, ms = 3_000): Promise<T> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(5)) {
    const value = found()
    if (value) return value
  }
  throw new Error(`never happened: ${what}`)
}

export const PART_ID = expect.stringMatching(/^prt_0{12}[0-9a-z]{14}$/)
export const TEXT = "# Context\n\nKGCTX-MARK"
export const inject = (more: object = {}) => ({
  protocol: 1,
  action: "inject",
  receipt: 17,
  text: TEXT,
  delivery: "auto",
  metadata: { v: 1, moment: "start", receipt: 17 },
  notice: null,
  ...more,
})

/** The same, but after some time. */
export const slowly = (seconds: number, more: object = {}) =>
  `sleep ${seconds}\necho '${JSON.stringify(inject({ text: "MARK", ...more }))}'`

export type Any = any
type Copy = Awaited<ReturnType<typeof bridge.Kgctx>>
let count = 0

/** A session in a fake OpenCode. `on` replaces what its client does; `copies` is how often the plugin is loaded. */
export async function world(on: Record<string, (input: Any) => unknown> = {}, copies = 1) {
  const id = `ses_${++count}x${place.slice(-6)}`
  const calls: { name: string; input: Any }[] = []
  const hooks: Copy[] = []
  /** Runs the hooks one after the other, as OpenCode does; one that throws ends it. */
  const run = async (name: keyof Copy, input: Any, output?: Any) => {
    for (const copy of hooks) await (copy[name] as Any)(input, output)
  }
  const admit = async (input: Any) => {
    const info = { id: `msg_noreply${calls.length}`, time: { created: Date.now() }, ...input.body }
    await run("chat.message", { sessionID: id }, { message: info, parts: structuredClone(input.body.parts) })
    return { data: { info, parts: [] } }
  }
  const usual: typeof on = {
    "session.prompt": (input) => admit(input).catch((error) => ({ error: `${error}` })),
    "session.get": () => ({ data: { id, title: "as stored" } }),
    "session.messages": () => ({ data: [] }),
    "session.create": ({ body }) => ({ data: { id: `${id}new`, ...body } }),
    "session.promptAsync": () => ({ data: undefined }),
    "_client.post": () => ({ data: true }),
    "app.log": () => ({ data: true }),
    "config.providers": () => ({ data: { providers: [] } }),
    "tui.showToast": () => ({ data: true }),
  }
  const method = (name: string) => (input: Any) => {
    calls.push({ name, input })
    return (on[name] ?? usual[name])!(input)
  }
  const client = {
    session: {
      prompt: method("session.prompt"),
      promptAsync: method("session.promptAsync"),
      get: method("session.get"),
      messages: method("session.messages"),
      create: method("session.create"),
    },
    _client: { post: method("_client.post") },
    app: { log: method("app.log") },
    config: { providers: method("config.providers") },
    tui: { showToast: method("tui.showToast") },
  }
  for (let n = 0; n < copies; n++) hooks.push(await bridge.Kgctx({ client, directory: "/project" } as Any))
  const event = (type: string, properties: object) => run("event", { event: { id: "evt_1", type, properties } })
  const w = {
    id,
    run,
    event,
    admit,
    /** What kgctx does when it hears of such an event: an answer, or a piece of shell. */
    will(type: string, does: object | string, session = id) {
      const piece = typeof does === "string" ? does : `cat <<'END'\n${JSON.stringify(does)}\nEND`
      writeFileSync(join(place, `${session}.${type}`), piece + "\n")
    },
    created: (info: object = {}) =>
      event("session.created", { sessionID: id, info: { id, title: "New session", ...info } }),
    /** A prompt that is stored, unless another plugin makes it fail. */
    async prompt(text = "hello", message: object = {}, stored = true) {
      const output: Any = {
        message: { id: `msg_${text}`, sessionID: id, time: { created: 1 }, agent: "build", ...message },
        parts: [{ id: "prt_1abc", type: "text", text, sessionID: id, messageID: `msg_${text}` }],
      }
      const began = performance.now()
      await run("chat.message", { sessionID: id }, output)
      const ms = performance.now() - began
      const ours = output.parts.filter((part: Any) => part.metadata?.kgctx)
      if (stored) await event("message.updated", { sessionID: id, info: output.message })
      return { ...output, ms, ours }
    },
    calls: (name: string) => calls.filter((call) => call.name === name).map((call) => call.input),
    warnings: () => calls.filter((call) => call.input?.body?.level === "warn").map((call) => call.input.body.message),
    asked(type: string, session = id): Any[] {
      const path = join(place, `${session}.asked`)
      // The last piece is a line that is still being written, or nothing.
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []
      return lines.map((line) => JSON.parse(line)).filter((input) => input.event.type === type)
    },
    /** Until the bridge has what kgctx answered. */
    answered: () => w.state().job.answer,
    state: () => (globalThis as Any)[Symbol.for("kgctx.opencode.2")].get(id),
  }
  return w
}
