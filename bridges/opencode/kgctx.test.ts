// The bridge against a fake kgctx (a shell script that does what a test laid down for its session) and a fake OpenCode
// (a client that keeps what it was asked). Waits are real: the tests that need long ones run at the same time.
import { afterAll, describe, expect, setSystemTime, test } from "bun:test"
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as bridge from "./kgctx"
import manifest from "./package.json"

const HOLD_MS = 1_500
const SLACK_MS = 500
const place = mkdtempSync(join(tmpdir(), "kgctx-bridge-"))
afterAll(() => rmSync(place, { recursive: true, force: true }))

function script(name: string, body: string) {
  const path = join(place, name)
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
  return path
}
const fake = script(
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

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms))
const never = () => new Promise<never>(() => {})
async function until<T>(what: string, found: () => T | undefined | false, ms = 3_000): Promise<T> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(5)) {
    const value = found()
    if (value) return value
  }
  throw new Error(`never happened: ${what}`)
}

const PART_ID = expect.stringMatching(/^prt_0{12}[0-9a-z]{14}$/)
const TEXT = "# Context\n\nKGCTX-MARK"
const inject = (more: object = {}) => ({
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
const slowly = (seconds: number, more: object = {}) =>
  `sleep ${seconds}\necho '${JSON.stringify(inject({ text: "MARK", ...more }))}'`

type Any = any
type Copy = Awaited<ReturnType<typeof bridge.Kgctx>>
let count = 0

/** A session in a fake OpenCode. `on` replaces what its client does; `copies` is how often the plugin is loaded. */
async function world(on: Record<string, (input: Any) => unknown> = {}, copies = 1) {
  const id = `ses_${++count}x${process.pid}`
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
    "app.log": () => ({ data: true }),
    "tui.showToast": () => ({ data: true }),
  }
  const method = (name: string) => (input: Any) => {
    calls.push({ name, input })
    return (on[name] ?? usual[name])!(input)
  }
  const client = {
    session: { prompt: method("session.prompt"), get: method("session.get"), messages: method("session.messages") },
    app: { log: method("app.log") },
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
    will(type: string, does: object | string) {
      const piece = typeof does === "string" ? does : `cat <<'END'\n${JSON.stringify(does)}\nEND`
      writeFileSync(join(place, `${id}.${type}`), piece + "\n")
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
    asked(type: string): Any[] {
      const path = join(place, `${id}.asked`)
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

test("one function is exported and nothing else, and it needs no client to be set up", async () => {
  expect(Object.keys(bridge)).toEqual(["Kgctx"])
  expect(typeof bridge.Kgctx).toBe("function")
  await bridge.Kgctx({ directory: "/project" } as Any)
})

describe("a session that begins", () => {
  test("gets its context at once, as a message without a reply, by its own agent and model", async () => {
    const w = await world()
    w.will("session.created", inject())
    await w.created({ agent: "plan", model: { id: "m2", providerID: "mock", variant: "high" } })
    const delivered = await until("delivered", () => w.asked("kgctx.delivered")[0])
    const [sent, ...more] = w.calls("session.prompt")
    expect(more).toEqual([])
    expect(sent.path).toEqual({ id: w.id })
    const { parts: sentParts, ...how } = sent.body
    expect(how).toEqual({ noReply: true, agent: "plan", model: { providerID: "mock", modelID: "m2" }, variant: "high" })
    const metadata = { kgctx: inject().metadata }
    expect(sentParts).toEqual([{ type: "text", id: PART_ID, text: TEXT, synthetic: true, ignored: true, metadata }])
    const messageID = expect.stringMatching(/^msg_noreply/)
    expect(delivered.event).toMatchObject({ sessionID: w.id, receipt: 17, how: "noreply", messageID })
    const { ours, message, parts } = await w.prompt()
    expect([ours, parts.length]).toEqual([[], 1])
    expect(message.time.created).toBeGreaterThan(1)
    await w.prompt("second")
    expect(w.calls("session.prompt").length).toBe(1)
    expect([w.calls("session.get"), w.calls("session.messages"), w.calls("app.log")]).toEqual([[], [], []])
    expect(w.state().job.answer).toBeUndefined()
  })

  test("is told to kgctx as OpenCode told it", async () => {
    const w = await world()
    await w.created({ title: "New session", parentID: "ses_parent", extra: [1] })
    await w.prompt()
    const [{ protocol, bridge: version, directory, event }] = w.asked("session.created")
    expect([protocol, version, directory]).toEqual([1, manifest.version, "/project"])
    const info = { id: w.id, title: "New session", parentID: "ses_parent", extra: [1] }
    expect(event).toEqual({ type: "session.created", properties: { sessionID: w.id, info } })
  })

  test("has no agent or model invented for it", async () => {
    const w = await world()
    w.will("session.created", inject())
    await w.created()
    const sent = await until("sent", () => w.calls("session.prompt")[0])
    expect(Object.keys(JSON.parse(JSON.stringify(sent.body)))).toEqual(["noReply", "parts"])
  })

  test("gets nothing where kgctx has nothing, and its prompts stay as they are", async () => {
    const w = await world()
    await w.created({ parentID: "ses_parent" })
    await w.answered()
    expect((await w.prompt()).parts.length).toBe(1)
    expect([w.calls("session.prompt"), w.calls("session.get"), w.calls("app.log")]).toEqual([[], [], []])
  })

  test("gets nothing where the settings cannot be read, and its user is told once", async () => {
    const [toast, log] = [await world(), await world()]
    const none = (as: string) => ({ protocol: 1, action: "none", reason: "-", notice: { as, text: "kgctx: no context" } })
    toast.will("session.created", none("toast"))
    log.will("session.created", none("log"))
    await Promise.all([toast.created(), log.created()])
    const shown = await until("toast", () => toast.calls("tui.showToast")[0])
    expect(shown).toEqual({ body: { message: "kgctx: no context", variant: "warning" } })
    const line = await until("log line", () => log.calls("app.log")[0])
    expect(line.body).toMatchObject({ level: "warn", message: "kgctx: no context" })
    for (const w of [toast, log]) expect((await w.prompt()).parts.length).toBe(1)
    expect([toast.calls("session.prompt"), log.calls("session.prompt")]).toEqual([[], []])
    expect([toast.calls("tui.showToast").length, log.calls("app.log").length]).toEqual([1, 1])
  })

  test("with its prompt right behind it carries the context in that prompt", async () => {
    const w = await world()
    w.will("session.created", slowly(0.2))
    await w.created()
    const { parts, ours, message, ms } = await w.prompt()
    expect(parts[0]).toEqual({
      id: PART_ID,
      sessionID: w.id,
      messageID: message.id,
      type: "text",
      text: "MARK",
      synthetic: true,
      ignored: true,
      metadata: { kgctx: inject().metadata },
    })
    expect([parts.length, ours.length, parts[1].text]).toEqual([2, 1, "hello"])
    expect(ms).toBeGreaterThan(150)
    expect((await w.prompt("second")).ours).toEqual([])
    const delivered = await until("delivered", () => w.asked("kgctx.delivered")[0])
    expect(delivered.event).toMatchObject({ receipt: 17, how: "part", messageID: message.id })
    expect([w.calls("session.prompt"), w.calls("session.get"), w.calls("session.messages")]).toEqual([[], [], []])
    expect(w.state().job.answer).toBeUndefined()
  })

  test("holds a prompt that comes while the context is being stored, and puts it behind", async () => {
    const w = await world({ "session.prompt": (input) => sleep(200).then(() => w.admit(input)) })
    w.will("session.created", inject())
    await w.created()
    await until("sent", () => w.calls("session.prompt").length)
    const before = Date.now()
    const { ours, message, ms } = await w.prompt("hello", { time: { created: before } })
    expect(ours).toEqual([])
    expect(ms).toBeGreaterThan(150)
    expect(message.time.created).toBeGreaterThan(before)
    expect(w.asked("kgctx.released")).toEqual([])
  })

  test("keeps its second prompt behind the first one, which waits", async () => {
    const w = await world()
    w.will("session.created", slowly(0.3))
    await w.created()
    const [first, second] = await Promise.all([w.prompt("first"), w.prompt("second")])
    expect([first.ours.length, second.ours.length]).toEqual([1, 0])
    expect(second.ms).toBeGreaterThan(200)
    expect(second.message.time.created).toBeGreaterThanOrEqual(first.message.time.created)
  })

  test("is not taken for lost when OpenCode was too busy to read the answer", async () => {
    const w = await world()
    w.will("session.created", inject())
    await w.created()
    const held = w.prompt()
    for (const end = performance.now() + HOLD_MS + 100; performance.now() < end; );
    expect((await held).ours.length).toBe(1)
    expect(w.warnings()).toEqual([])
  })

  for (const [what, first] of [
    ["is not ready", `echo '{"protocol":1,"action":"ask","reason":"-","soon":true}'`],
    ["does not answer in time", "sleep 4"],
  ])
    test(`is given its context later where kgctx ${what} at first, without a prompt`, async () => {
      const w = await world()
      const then = `cat <<'END'\n${JSON.stringify(inject())}\nEND`
      w.will("session.created", `if [ -f "$does.asked" ]; then ${then}\nelse touch "$does.asked"; ${first}; fi`)
      await w.created()
      const delivered = await until("delivered", () => w.asked("kgctx.delivered")[0], 6_000)
      expect(delivered.event).toMatchObject({ receipt: 17, how: "noreply" })
      expect([w.asked("session.created").length, w.warnings()]).toEqual([2, []])
    })

  test("asks with its prompt, where that comes between two questions", async () => {
    const w = await world()
    w.will("session.created", { protocol: 1, action: "ask", reason: "-", soon: true })
    w.will("chat.message", inject({ delivery: "part" }))
    await w.created()
    await until("answered", () => w.asked("session.created")[0] && !w.state().job.answer)
    expect((await w.prompt()).ours.length).toBe(1)
    await sleep(1_200)
    expect([w.asked("session.created").length, w.asked("chat.message").length]).toEqual([1, 1])
  })

  test("is asked about a few times and no more", async () => {
    const w = await world()
    w.will("session.created", { protocol: 1, action: "ask", reason: "-", soon: true })
    await w.created()
    await sleep(6_500)
    expect(w.asked("session.created").length).toBe(5)
  }, 10_000)

  test("that is deleted meanwhile gets nothing", async () => {
    const w = await world()
    w.will("session.created", slowly(0.1))
    await w.created()
    await w.event("session.deleted", { sessionID: w.id, info: { id: w.id } })
    await until("released", () => w.asked("kgctx.released").length)
    expect(w.calls("session.prompt")).toEqual([])
    expect(w.state()).toBeUndefined()
  })
})

describe("delivery", () => {
  test("part: nothing is sent, the prompt carries it", async () => {
    const w = await world()
    w.will("session.created", inject({ delivery: "part" }))
    await w.created()
    await w.answered()
    expect(w.calls("session.prompt")).toEqual([])
    expect((await w.prompt()).ours.length).toBe(1)
  })

  test("noreply: a prompt that came first waits until it is stored", async () => {
    const w = await world({ "session.prompt": (input) => sleep(100).then(() => w.admit(input)) })
    w.will("session.created", slowly(0.1, { delivery: "noreply" }))
    await w.created({ agent: "of the session" })
    const model = { providerID: "mock", modelID: "m3", variant: "low" }
    const { ours, message, ms } = await w.prompt("hello", { agent: "plan", model })
    expect(ours).toEqual([])
    expect(ms).toBeGreaterThan(150)
    expect(message.time.created).toBeGreaterThan(1)
    const [sent, ...more] = w.calls("session.prompt")
    expect(more).toEqual([])
    expect(sent.body).toMatchObject({ agent: "plan", model: { providerID: "mock", modelID: "m3" }, variant: "low" })
    expect(sent.body.model.variant).toBeUndefined()
  })

  test("that OpenCode refuses is released and named once, and the next prompt asks", async () => {
    const w = await world({ "session.prompt": () => ({ error: { name: "BadRequest" } }) })
    w.will("session.created", inject())
    w.will("chat.message", inject({ receipt: 18 }))
    await w.created()
    const released = await until("released", () => w.asked("kgctx.released")[0])
    expect(released.event).toMatchObject({ receipt: 17, reason: expect.stringContaining("BadRequest") })
    expect(w.warnings()).toEqual([expect.stringContaining("BadRequest")])
    expect((await w.prompt()).ours.length).toBe(1)
    expect(w.asked("chat.message").length).toBe(1)
  })

  test("that OpenCode refuses while a prompt waits is carried by the prompt", async () => {
    const w = await world({ "session.prompt": () => sleep(100).then(() => Promise.reject(new Error("no"))) })
    w.will("session.created", inject())
    await w.created()
    await until("sent", () => w.calls("session.prompt").length)
    expect((await w.prompt()).ours.length).toBe(1)
    expect([w.asked("kgctx.released"), w.warnings()]).toEqual([[], []])
  })

  test("a text that waited long for its prompt is not used", async () => {
    const w = await world()
    w.will("session.created", inject({ delivery: "part", text: "OLD" }))
    w.will("chat.message", inject({ delivery: "part", text: "NEW", receipt: 18 }))
    await w.created()
    await w.answered()
    setSystemTime(Date.now() + 11_000)
    const { ours } = await w.prompt().finally(() => setSystemTime())
    expect(ours.map((part: Any) => part.text)).toEqual(["NEW"])
    const released = await until("released", () => w.asked("kgctx.released")[0])
    expect(released.event).toMatchObject({ sessionID: w.id, receipt: 17 })
  })

  test("is named in a toast, in the log, or not at all", async () => {
    const [toast, log] = [await world(), await world()]
    toast.will("session.created", inject({ notice: { as: "toast", text: "kgctx: 12 tokens" } }))
    log.will("session.created", inject({ notice: { as: "log", text: "kgctx: 12 tokens" }, delivery: "part" }))
    await Promise.all([toast.created(), log.created()])
    await log.prompt()
    const shown = await until("toast", () => toast.calls("tui.showToast")[0])
    expect(shown).toEqual({ body: { message: "kgctx: 12 tokens", variant: "info" } })
    const line = await until("log line", () => log.calls("app.log")[0])
    expect(line.body).toMatchObject({ level: "info", message: "kgctx: 12 tokens" })
    expect([toast.calls("app.log"), log.calls("tui.showToast")]).toEqual([[], []])
  })
})

describe("the first prompt", () => {
  const MORE = "## Notes for this prompt\n\nMORE-MARK"
  const more = inject({ text: MORE, receipt: 18, metadata: { v: 1, moment: "prompt", receipt: 18 } })
  const MORE_ID = expect.stringMatching(/^prt_0{11}1[0-9a-z]{14}$/)

  test("brings what fits it, behind a context that was stored before, once", async () => {
    const w = await world()
    w.will("session.created", inject())
    w.will("kgctx.prompt", more)
    await w.created()
    await until("delivered", () => w.asked("kgctx.delivered")[0])
    const { parts, message } = await w.prompt("why?")
    expect(parts[0]).toMatchObject({ id: MORE_ID, messageID: message.id, text: MORE, synthetic: true })
    expect([parts.length, parts[1].text]).toEqual([2, "why?"])
    const [{ event }] = w.asked("kgctx.prompt")
    expect(event).toEqual({ type: "kgctx.prompt", sessionID: w.id, receipt: 17, prompt: "why?" })
    const delivered = await until("delivered", () => w.asked("kgctx.delivered")[1])
    expect(delivered.event).toMatchObject({ receipt: 18, how: "part", messageID: message.id })
    expect((await w.prompt("second")).ours).toEqual([])
    expect(w.asked("kgctx.prompt").length).toBe(1)
    // The context is still where it was: removing the prompt does not remove it.
    await w.event("message.removed", { sessionID: w.id, messageID: message.id })
    expect((await w.prompt("third")).ours).toEqual([])
    expect(w.asked("chat.message")).toEqual([])
  })

  test("carries the context and what fits it, in this order", async () => {
    const w = await world()
    w.will("session.created", slowly(0.1))
    w.will("kgctx.prompt", more)
    await w.created()
    const { parts, message } = await w.prompt("why?")
    expect(parts.map((part: Any) => part.text)).toEqual(["MARK", MORE, "why?"])
    expect([parts[0].id, parts[1].id]).toEqual([PART_ID, MORE_ID])
    await until("both delivered", () => w.asked("kgctx.delivered").length === 2)
    const receipts = w.asked("kgctx.delivered").map(({ event }) => [event.receipt, event.messageID])
    expect(receipts.sort()).toEqual([[17, message.id], [18, message.id]])
  })

  test("asks for no more where the context was made for it", async () => {
    const w = await world()
    w.will("session.created", { protocol: 1, action: "ask", reason: "-" })
    w.will("chat.message", inject())
    w.will("kgctx.prompt", more)
    await w.created()
    expect((await w.prompt()).ours.length).toBe(1)
    expect(w.asked("kgctx.prompt")).toEqual([])
  })

  test("goes without what comes too late, which is released", async () => {
    const w = await world()
    w.will("session.created", slowly(0.8))
    w.will("kgctx.prompt", slowly(1.2, { receipt: 18 }))
    await w.created()
    const { ours, ms } = await w.prompt()
    expect(ours.map((part: Any) => part.text)).toEqual(["MARK"])
    expect(ms).toBeLessThan(HOLD_MS + SLACK_MS)
    const released = await until("released", () => w.asked("kgctx.released")[0])
    expect(released.event.receipt).toBe(18)
    expect(w.warnings()).toEqual([])
  })

  test("is not held up by a kgctx that fails", async () => {
    const w = await world()
    w.will("session.created", inject())
    w.will("kgctx.prompt", "exit 3")
    await w.created()
    await until("delivered", () => w.asked("kgctx.delivered")[0])
    expect((await w.prompt()).ours).toEqual([])
    expect(w.warnings()).toEqual([])
  })
})

describe("a prompt asks", () => {
  const stored = [
    { info: { id: "msg_a" }, parts: [{ type: "text", metadata: { kgctx: { v: 1, receipt: 1 } } }, { type: "text" }] },
    { info: { id: "msg_b" }, parts: [{ type: "compaction" }] },
    { info: { id: "msg_c" }, parts: [{ type: "tool", metadata: { other: 1 } }] },
    { info: { id: "msg_d" }, parts: [{ type: "text", metadata: { kgctx: { v: 1, receipt: 2 } } }] },
  ]
  const marks = [{ kgctx: { v: 1, receipt: 1 } }, { compaction: "msg_b" }, { kgctx: { v: 1, receipt: 2 } }]

  test("when kgctx wants to see what is stored, as in a fork", async () => {
    const w = await world({ "session.messages": () => ({ data: stored }) })
    w.will("session.created", { protocol: 1, action: "ask", reason: "a fork" })
    await w.created({ title: "x (fork #1)" })
    await until("asked", () => w.asked("session.created").length)
    expect(w.calls("session.messages")).toEqual([])
    const { ours, message } = await w.prompt()
    expect(ours).toEqual([])
    expect(message.time.created).toBeGreaterThan(1)
    const [{ event }] = w.asked("chat.message")
    expect(event).toEqual({
      type: "chat.message",
      sessionID: w.id,
      created: true,
      info: { id: w.id, title: "as stored" },
      stored: { messages: 4, complete: true, marks },
      prompt: "hello",
    })
    expect(w.calls("session.messages")[0]).toEqual({ path: { id: w.id }, query: { limit: 100 } })
  })

  test("in a session that was not seen from its beginning, once", async () => {
    const [message, empty] = [{ info: { id: "msg_a" }, parts: [{ type: "text" }] }, { info: { id: "msg_b" }, parts: [] }]
    const w = await world({ "session.messages": () => ({ data: [empty, ...Array(99).fill(message)] }) })
    w.will("chat.message", inject({ delivery: "part" }))
    expect((await w.prompt()).ours.length).toBe(1)
    await w.prompt("second")
    const [{ event }, ...more] = w.asked("chat.message")
    expect(event).toMatchObject({ created: false, stored: { messages: 99, complete: false, marks: [] } })
    expect(more).toEqual([])
  })

  test("again after a compaction", async () => {
    const w = await world()
    w.will("session.created", inject({ delivery: "part" }))
    w.will("chat.message", inject({ delivery: "part", receipt: 18 }))
    await w.created()
    await w.prompt()
    expect((await w.prompt("second")).ours).toEqual([])
    await w.event("session.compacted", { sessionID: w.id })
    expect((await w.prompt("third")).ours.length).toBe(1)
    expect(w.asked("chat.message").map(({ event }) => event.created)).toEqual([true])
  })

  test("again after the message with the context was undone, and after no other", async () => {
    const w = await world()
    w.will("chat.message", inject({ delivery: "part" }))
    await w.prompt("first")
    await w.event("message.removed", { sessionID: w.id, messageID: "msg_other" })
    expect((await w.prompt("second")).ours).toEqual([])
    await w.event("message.removed", { sessionID: w.id, messageID: "msg_first" })
    expect((await w.prompt("third")).ours.length).toBe(1)
  })

  test("again after the stored context was removed", async () => {
    const w = await world()
    w.will("session.created", inject())
    await w.created()
    const { event } = await until("delivered", () => w.asked("kgctx.delivered")[0])
    await w.event("message.removed", { sessionID: w.id, messageID: event.messageID })
    await w.prompt()
    expect(w.asked("chat.message").map(({ event }) => event.removed)).toEqual([true])
  })
})

describe("a stored text is hidden from requests", () => {
  const TRANSFORM = "experimental.chat.messages.transform"
  const reply = (id: string, more: object = {}) => ({
    sessionID: id,
    info: { id: "msg_reply", role: "assistant", time: { created: 1, completed: 2 }, tokens: { output: 5 }, ...more },
  })
  const known = () => (globalThis as Any)[Symbol.for("kgctx.opencode.host.1")]
  /** As in a process that has just begun. */
  const forget = () => ["transforms", "told"].forEach((fact) => delete known()[fact])

  test("and shown to those that ask, in copies, of two plugins too", async () => {
    const w = await world({}, 2)
    w.will("session.created", inject({ delivery: "part" }))
    await w.created()
    const { message, parts } = await w.prompt()
    const [first, foreign] = [
      { info: message, parts },
      { info: {}, parts: [{ type: "text", text: "not for models", ignored: true }] },
    ]
    const messages: Any[] = [first, foreign]
    await w.run(TRANSFORM, {}, { messages })
    expect(messages[0].parts.map((part: Any) => part.ignored)).toEqual([false, undefined])
    expect(messages[0].parts[0].text).toBe(TEXT)
    expect(messages[0].info).toBe(message)
    expect(messages[1]).toBe(foreign)
    expect(first.parts[0].ignored).toBe(true)
    await w.event("message.updated", reply(w.id))
    expect(w.warnings()).toEqual([])
  })

  test("and given again, openly, where OpenCode never asks", async () => {
    const w = await world({ "session.messages": () => ({ data: [stored] }) })
    w.will("session.created", inject({ delivery: "part" }))
    w.will("chat.message", inject({ delivery: "part", receipt: 18 }))
    await w.created()
    const { message: info, parts } = await w.prompt()
    const stored = { info, parts }
    forget()
    // Of a shell command, of a reply that is not whole yet, and of a reply.
    await w.event("message.updated", reply(w.id, { tokens: { output: 0 } }))
    await w.event("message.updated", reply(w.id, { time: { created: 1 } }))
    expect(w.warnings()).toEqual([])
    await w.event("message.updated", reply(w.id))
    expect(w.warnings()).toEqual([expect.stringContaining(TRANSFORM)])
    const { ours } = await w.prompt("second")
    expect(ours.map((part: Any) => part.ignored)).toEqual([false])
    expect(w.asked("chat.message")[0].event).toMatchObject({ removed: true, stored: { messages: 1, marks: [] } })
    await w.event("message.updated", reply(w.id))
    expect((await w.prompt("third")).ours).toEqual([])
    forget()
  })

  const hidden = { info: { id: "msg_a" }, parts: [{ type: "text", ignored: true, metadata: { kgctx: { v: 1 } } }] }
  const compaction = { info: { id: "msg_b" }, parts: [{ type: "compaction" }] }

  test("and given again, openly, where another process hid it and OpenCode never asks", async () => {
    for (const isFork of [false, true]) {
      forget()
      const w = await world({ "session.messages": () => ({ data: [hidden] }) })
      if (isFork) {
        w.will("session.created", { protocol: 1, action: "ask", reason: "a fork" })
        await w.created({ title: "x (fork #1)" })
      }
      expect((await w.prompt()).ours).toEqual([])
      await w.event("message.updated", reply(w.id))
      expect(w.warnings()).toEqual([expect.stringContaining(TRANSFORM)])
      w.will("chat.message", inject({ delivery: "part" }))
      expect((await w.prompt("second")).ours.map((part: Any) => part.ignored)).toEqual([false])
      const asked = w.asked("chat.message").map(({ event }) => [event.removed, event.stored.marks])
      expect(asked).toEqual([[undefined, [{ kgctx: { v: 1 } }]], [true, []]])
    }
    // By now it is known of this OpenCode.
    const w = await world({ "session.messages": () => ({ data: [hidden] }) })
    w.will("chat.message", inject({ delivery: "part" }))
    expect((await w.prompt()).ours.map((part: Any) => part.ignored)).toEqual([false])
    expect(w.asked("chat.message")[0].event).toMatchObject({ removed: true, stored: { marks: [] } })
    forget()
  })

  test("and not missed where a compaction has ended it", async () => {
    forget()
    const w = await world({ "session.messages": () => ({ data: [hidden, compaction] }) })
    await w.prompt()
    await w.event("message.updated", reply(w.id))
    expect([w.warnings(), known().transforms]).toEqual([[], undefined])
  })

  const shapes: [string, Any][] = [
    ["nothing", undefined],
    ["no messages", {}],
    ["messages that are null", { messages: null }],
    ["a message without parts", { messages: [{ info: {} }] }],
    ["a part that is null", { messages: [{ info: {}, parts: [null] }] }],
    ["a message that is null behind ours", { messages: [hidden, null] }],
    ["messages that cannot be replaced", { messages: Object.freeze([hidden]) }],
  ]
  for (const [what, output] of shapes)
    test(`and given again, openly, where OpenCode asks with ${what}, without a request failing`, async () => {
      forget()
      const w = await world()
      w.will("session.created", inject({ delivery: "part" }))
      w.will("chat.message", inject({ delivery: "part", receipt: 18 }))
      await w.created()
      const first = await w.prompt()
      await w.run(TRANSFORM, {}, { messages: [{ info: first.message, parts: first.parts }] })
      expect(known().transforms).toBe(true)
      for (let time = 0; time < 2; time++) await w.run(TRANSFORM, {}, output)
      expect(known().transforms).toBe(false)
      expect(hidden.parts[0]!.ignored).toBe(true)
      expect(w.warnings()).toEqual([expect.stringContaining(`${TRANSFORM} failed`)])
      expect((await w.prompt("second")).ours.map((part: Any) => part.ignored)).toEqual([false])
      expect(w.asked("chat.message").map(({ event }) => event.removed)).toEqual([true])
      expect((await w.prompt("third")).ours).toEqual([])
      forget()
    })

  test("and nothing is known of an OpenCode that asks with no text of ours", async () => {
    forget()
    const w = await world()
    await w.run(TRANSFORM, {}, { messages: [{ info: {}, parts: [{ type: "text", text: "hello" }] }] })
    expect(known().transforms).toBeUndefined()
  })
})

test("a prompt that was never stored has delivered nothing", async () => {
  const w = await world()
  w.will("session.created", inject({ delivery: "part" }))
  await w.created()
  expect((await w.prompt("first", {}, false)).ours.length).toBe(1)
  await sleep(100)
  expect([w.asked("kgctx.delivered"), w.calls("tui.showToast")]).toEqual([[], []])
})

test("two copies of the plugin make one injection, by message and by part", async () => {
  const [idle, quick] = [await world({}, 2), await world({}, 2)]
  idle.will("session.created", inject())
  quick.will("session.created", inject({ delivery: "part" }))
  await Promise.all([idle.created(), quick.created()])
  expect((await quick.prompt()).ours.length).toBe(1)
  await until("delivered", () => idle.asked("kgctx.delivered").length && quick.asked("kgctx.delivered").length)
  expect((await idle.prompt()).ours).toEqual([])
  await sleep(100)
  const types = ["session.created", "chat.message", "kgctx.delivered"]
  for (const w of [idle, quick]) expect(types.map((type) => w.asked(type).length)).toEqual([1, 0, 1])
  expect(idle.calls("session.prompt").length).toBe(1)
})

test("the summariser is told once what to keep, and a shell its session", async () => {
  const w = await world({}, 2)
  const output = { context: ["another plugin's"] }
  await w.run("experimental.session.compacting", { sessionID: w.id }, output)
  expect(output.context).toEqual(["another plugin's", expect.stringContaining("memory://")])
  const [inside, outside] = [{ env: {} }, { env: {} }]
  await w.run("shell.env", { cwd: "/", sessionID: w.id }, inside)
  await w.run("shell.env", { cwd: "/" }, outside)
  expect([inside.env, outside.env]).toEqual([{ KGCTX_SESSION_ID: w.id }, {}])
})

test("before a compaction kgctx is told what was said, and the summariser what to keep", async () => {
  const said = (role: string, text: string, more: object = {}) => ({
    info: { id: text, role, time: { created: 7 } },
    parts: [{ type: "text", text, ...more }],
  })
  const stored = [
    said("user", "Why?"),
    said("user", "a context", { synthetic: true }),
    said("assistant", "x".repeat(20_000)),
    { info: { id: "c", role: "user", time: { created: 8 } }, parts: [{ type: "compaction" }] },
  ]
  const on = { "session.get": () => ({ data: { id: "s" } }), "session.messages": () => ({ data: stored }) }
  const w = await world(on, 2)
  w.will("session.compacting", { protocol: 1, action: "keep", text: "KEEP-THIS" })
  const output = { context: [] as string[] }
  await w.run("experimental.session.compacting", { sessionID: w.id }, output)
  expect(output.context).toEqual([expect.stringContaining("memory://"), "KEEP-THIS"])
  expect(w.asked("session.compacting")[0].event.messages).toEqual([
    { role: "user", text: "Why?", at: 7 },
    { role: "assistant", text: "x".repeat(16_000), at: 7 },
  ])
})

test("a compaction goes on whatever kgctx and OpenCode do", async () => {
  for (const answer of ["exit 3", "echo '{\"protocol\":1,\"action\":\"keep\"}'", "echo no"]) {
    const w = await world({ "session.get": () => ({ data: {} }), "session.messages": () => ({ data: [] }) })
    w.will("session.compacting", answer)
    const output = { context: [] as string[] }
    await w.run("experimental.session.compacting", { sessionID: w.id }, output)
    expect(output.context.length).toBe(1)
  }
  const w = await world({ "session.get": () => Promise.reject(new Error("gone")) })
  const output = { context: [] as string[] }
  await w.run("experimental.session.compacting", { sessionID: w.id }, output)
  expect(output.context.length).toBe(1)
})

test("events that are none of ours, or not whole, are passed over", async () => {
  const w = await world()
  for (const properties of [undefined, {}, { info: null }, { sessionID: w.id }])
    for (const type of ["session.updated", "session.deleted", "message.removed"])
      await w.run("event", { event: { type, properties } })
  await w.run("event", { event: { type: "session.created" } })
  expect(w.asked("session.created")).toEqual([])
})

describe("a kgctx that fails costs no prompt, and one line in the log", () => {
  const broken: [string, string | object, RegExp][] = [
    ["dies", "kill -9 $$", /SIGKILL|status 137/],
    ["ends with an error", `echo '${JSON.stringify({ protocol: 1, action: "none" })}'; exit 3`, /status 3/],
    ["talks nonsense", "echo hello", /cannot be read/],
    ["says nothing", ":", /cannot be read/],
    ["answers with half an injection", inject({ metadata: null }), /cannot be read/],
    ["knows another delivery", inject({ delivery: "pigeon" }), /cannot be read/],
    ["speaks another protocol", inject({ protocol: 2 }), /protocol 2/],
    ["floods", "line=$input$input$input$input; while :; do echo $line$line$line$line; done", /4194304 bytes/],
  ]
  for (const [what, does, reason] of broken)
    test(what, async () => {
      const w = await world()
      w.will("session.created", does)
      await w.created()
      const { parts, ms } = await w.prompt()
      await w.prompt("second")
      await w.event("session.compacted", { sessionID: w.id })
      w.will("chat.message", does)
      await w.prompt("third")
      expect(parts.length).toBe(1)
      expect(ms).toBeLessThan(1_300)
      expect(w.calls("session.prompt")).toEqual([])
      expect(w.warnings()).toEqual([expect.stringMatching(/^kgctx: .*run `kgctx doctor`/)])
      expect(w.warnings()[0]).toMatch(reason)
    })

  const instead = async (program: string, w: Awaited<ReturnType<typeof world>>, info: object = {}) => {
    process.env.KGCTX_BIN = program
    await w.created(info).finally(() => (process.env.KGCTX_BIN = fake))
  }

  test("is missing", async () => {
    const w = await world()
    await instead(join(place, "nowhere"), w)
    expect((await w.prompt()).parts.length).toBe(1)
    expect(w.warnings()).toEqual([expect.stringContaining("nowhere does not run")])
  })

  test("cannot be run", async () => {
    const w = await world()
    appendFileSync(join(place, "text"), "no program")
    await instead(join(place, "text"), w)
    expect((await w.prompt()).parts.length).toBe(1)
    expect(w.warnings()).toEqual([expect.stringContaining("does not run")])
  })

  test("except for one that answers without having read everything", async () => {
    const w = await world()
    const early = script("early", `exec 0<&-\nsleep 0.1\ncat <<'END'\n${JSON.stringify(inject())}\nEND`)
    await instead(early, w, { title: "x".repeat(1_000_000) })
    expect((await w.prompt()).ours.length).toBe(1)
    expect(w.warnings()).toEqual([])
  })
})

describe("at the end of its patience", () => {
  const bounded = (ms: number) => {
    expect(ms).toBeGreaterThan(1_300)
    expect(ms).toBeLessThan(HOLD_MS + SLACK_MS)
  }

  test.concurrent("a prompt goes without a kgctx that hangs", async () => {
    const w = await world()
    w.will("session.created", "sleep 4")
    await w.created()
    const [first, second] = await Promise.all([w.prompt(), w.prompt("second")])
    for (const { ms, parts } of [first, second]) {
      bounded(ms)
      expect(parts.length).toBe(1)
    }
    expect((await w.prompt("third")).ms).toBeLessThan(50)
    expect(w.warnings()).toEqual([expect.stringContaining("did not answer within 1400 ms")])
  })

  test.concurrent("a message on its way is withdrawn, and the prompt carries the text, of two copies too", async () => {
    let admitted: unknown
    const late = (input: Any) =>
      sleep(1_900).then(() => w.admit(input)).then(
        () => (admitted = "stored"),
        (error) => ({ error: (admitted = `${error}`) }),
      )
    const w: Awaited<ReturnType<typeof world>> = await world({ "session.prompt": late }, 2)
    w.will("session.created", inject())
    await w.created()
    await until("sent", () => w.calls("session.prompt").length)
    const { ours, ms } = await w.prompt()
    bounded(ms)
    expect(ours.length).toBe(1)
    const [sent] = w.calls("session.prompt")
    expect(ours[0].id).not.toBe(sent.body.parts[0].id)
    expect(await until("withdrawn", () => admitted)).toMatch(/withdrawn/)
    await sleep(100)
    expect(w.asked("kgctx.delivered").map(({ event }) => event.how)).toEqual(["part"])
    expect([w.asked("kgctx.released"), w.warnings()]).toEqual([[], []])
  })

  test.concurrent("a message that can no longer be withdrawn is not given twice", async () => {
    const w: Awaited<ReturnType<typeof world>> = await world({
      "session.prompt": (input) => w.admit(input).then((done) => sleep(1_900).then(() => done)),
    })
    w.will("session.created", inject())
    await w.created()
    await until("sent", () => w.calls("session.prompt").length)
    const { ours, ms, message } = await w.prompt()
    bounded(ms)
    expect(ours).toEqual([])
    expect(message.time.created).toBeGreaterThan(1)
    await until("delivered", () => w.asked("kgctx.delivered").length)
    expect(w.asked("kgctx.delivered").map(({ event }) => event.how)).toEqual(["noreply"])
  })

  test.concurrent("an answer that comes later is released", async () => {
    const w = await world({ "session.get": () => sleep(900).then(() => ({ data: {} })) })
    w.will("chat.message", slowly(0.9))
    const { ours, ms } = await w.prompt()
    bounded(ms)
    expect(ours).toEqual([])
    await until("released", () => w.asked("kgctx.released").length)
    expect(w.warnings().length).toBe(1)
    expect(w.calls("session.prompt")).toEqual([])
  })

  const moods: [string, () => unknown][] = [
    ["refuses", () => ({ error: "no" })],
    ["rejects", () => Promise.reject(new Error("no"))],
    ["throws", () => { throw new Error("no") }],
    ["answers with nothing", () => undefined],
    ["never answers", never],
  ]
  for (const [mood, does] of moods)
    test.concurrent(`an OpenCode that ${mood} to everything loses no prompt`, async () => {
      const names = ["session.prompt", "session.get", "session.messages", "app.log", "tui.showToast"]
      const on = Object.fromEntries(names.map((name) => [name, does]))
      const notice = { as: "toast", text: "kgctx" }
      const [known, unknown, forced] = [await world(on), await world(on), await world(on)]
      known.will("session.created", inject({ notice }))
      forced.will("session.created", slowly(0.2, { delivery: "noreply", notice }))
      await Promise.all([known.created(), forced.created()])
      const held = forced.prompt()
      await until("sent", () => known.calls("session.prompt").length)
      const all = await Promise.all([known.prompt(), known.prompt("second"), unknown.prompt(), held])
      for (const { ms } of all) expect(ms).toBeLessThan(HOLD_MS + SLACK_MS)
      expect(all[2].parts.length).toBe(1)
      expect(all[3].ours.length).toBe(1)
      expect(unknown.warnings().length).toBe(1)
    })
})
