// Sessions that begin: what they are given ahead of the first prompt.
import { describe, expect, test } from "bun:test"
import * as bridge from "./kgctx"
import manifest from "./package.json"
import { type Any, HOLD_MS, sleep, until, PART_ID, TEXT, inject, slowly, world } from "./world"

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
