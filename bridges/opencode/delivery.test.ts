// How a context comes into a session, and what becomes of one that does not.
import { describe, expect, setSystemTime, test } from "bun:test"
import { type Any, sleep, until, inject, slowly, world } from "./world"

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

test("what was delivered is told again where kgctx could not note it at first", async () => {
  const w = await world()
  w.will("session.created", inject({}))
  w.will("kgctx.delivered", `echo '{"protocol":1,"action":"ask","reason":"busy","soon":true}'`)
  await w.created()
  await until("kgctx is told", () => w.asked("kgctx.delivered").length === 1)
  w.will("kgctx.delivered", `echo '{"protocol":1,"action":"none","reason":"noted"}'`)
  await until("kgctx is told again", () => w.asked("kgctx.delivered").length === 2)
  await sleep(1_200)
  expect(w.asked("kgctx.delivered").length).toBe(2)
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
