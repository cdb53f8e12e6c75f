// A kgctx or an OpenCode that fails: no prompt is lost or held for long.
import { describe, expect, test } from "bun:test"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { type Any, HOLD_MS, SLACK_MS, place, script, fake, sleep, never, until, inject, slowly, world } from "./world"

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
    ["speaks another protocol", inject({ protocol: 2 }), /protocol 2, not 1; run `kgctx install opencode` again/],
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
