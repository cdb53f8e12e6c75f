// Sessions that go on in a new one.
import { describe, expect, test } from "bun:test"
import { inject, place, sleep, until, world } from "./world"

const ROTATE = { protocol: 1, action: "rotate", token: "7", title: "The goal", prompt: "Go on; the handoff is above." }

describe("a session whose agent asked for it", () => {
  test("goes on in one with its agent and model, which has the handoff and its first prompt", async () => {
    const model = { id: "m2", providerID: "mock" }
    const w = await world({ "session.get": () => ({ data: { id: w.id, agent: "plan", model } }) })
    const made = `${w.id}new`
    w.will("session.idle", ROTATE)
    w.will("kgctx.rotated", inject(), made)
    await w.created()
    // Both come, within a millisecond.
    await Promise.all([
      w.event("session.status", { sessionID: w.id, status: { type: "idle" } }),
      w.event("session.idle", { sessionID: w.id }),
    ])
    const [ended] = await until("kgctx is told", () => w.asked("kgctx.rotation").length > 0 && w.asked("kgctx.rotation"))
    expect(ended.event).toEqual({ type: "kgctx.rotation", sessionID: w.id, token: "7" })
    expect(w.asked("session.idle").length).toBe(1)
    expect(w.calls("session.create")).toEqual([{ body: { title: "The goal", agent: "plan", model } }])
    const [rotated] = w.asked("kgctx.rotated", made)
    expect([rotated.event.token, rotated.event.properties.info.id]).toEqual(["7", made])
    expect(w.calls("session.promptAsync")).toEqual([
      { path: { id: made }, body: { parts: [{ type: "text", text: ROTATE.prompt }] } },
    ])
    expect(w.calls("_client.post").map(({ url, body }) => [url, body])).toEqual([
      ["/tui/select-session", { sessionID: made }],
    ])
    expect([w.warnings(), w.calls("tui.showToast")]).toEqual([[], []])
  })

  test("begins with another prompt where the context does not show the whole handoff", async () => {
    const w = await world()
    w.will("session.idle", ROTATE)
    w.will("kgctx.rotated", inject({ prompt: "Read /project/HANDOFF.md." }), `${w.id}new`)
    await w.created()
    await w.event("session.idle", { sessionID: w.id })
    const [sent] = await until("sent", () => w.calls("session.promptAsync").length > 0 && w.calls("session.promptAsync"))
    expect(sent.body.parts[0].text).toBe("Read /project/HANDOFF.md.")
  })

  test("is told how to read the handoff where its context never arrives", async () => {
    const w = await world()
    w.will("session.idle", { ...ROTATE, unread: "Run `kgctx handoff show HO-1`." })
    w.will("kgctx.rotated", { protocol: 0 }, `${w.id}new`)
    await w.created()
    await w.event("session.idle", { sessionID: w.id })
    const [sent] = await until("sent", () => w.calls("session.promptAsync").length > 0 && w.calls("session.promptAsync"))
    expect(sent.body.parts[0].text).toBe("Run `kgctx handoff show HO-1`.")
  })

  test("is told where the window does not follow", async () => {
    const none = () => {
      throw new Error("there is no such call")
    }
    for (const fails of [() => ({ error: "404" }), () => Promise.reject(new Error("no")), none]) {
      const w = await world({ "_client.post": fails })
      w.will("session.idle", ROTATE)
      await w.created()
      await w.event("session.idle", { sessionID: w.id })
      const [toast] = await until("toast", () => w.calls("tui.showToast").length > 0 && w.calls("tui.showToast"))
      expect(toast.body.message).toContain('"The goal"')
      await until("kgctx is told", () => w.asked("kgctx.rotation").length)
      expect(w.asked("kgctx.rotation")[0].event.error).toBeUndefined()
    }
  })

  for (const name of ["session.create", "session.promptAsync"])
    test(`stays where it is, and kgctx is told, if ${name} fails`, async () => {
      for (const fails of [() => ({ error: "no" }), () => Promise.reject(new Error("no"))]) {
        const w = await world({ [name]: fails })
        w.will("session.idle", ROTATE)
        await w.created()
        await w.event("session.idle", { sessionID: w.id })
        const [ended] = await until("kgctx is told", () => w.asked("kgctx.rotation").length > 0 && w.asked("kgctx.rotation"))
        expect(ended.event).toEqual({ type: "kgctx.rotation", sessionID: w.id, token: "7", error: expect.stringContaining("no") })
        expect(w.warnings()).toEqual([expect.stringContaining("kgctx handoff rotate --status")])
      }
    })
})

test("one end of a turn is enough, and a kgctx that could not look is asked again", async () => {
  const w = await world()
  const answers = `${place}/${w.id}.answers`
  const busy = JSON.stringify({ protocol: 1, action: "ask", soon: true, reason: "the state is busy" })
  w.will("session.idle", `if [ -e '${answers}' ]; then echo '${JSON.stringify(ROTATE)}'; else : > '${answers}'; echo '${busy}'; fi`)
  await w.created()
  // Versions of OpenCode may tell of it by one event alone.
  await w.event("session.status", { sessionID: w.id, status: { type: "idle" } })
  await until("sent", () => w.calls("session.promptAsync").length)
  expect(w.asked("session.idle").length).toBe(2)
})

describe("a prompt that comes before the new session", () => {
  test("keeps the old one, and kgctx is told", async () => {
    const w = await world()
    w.will("session.idle", `sleep 0.3\necho '${JSON.stringify(ROTATE)}'`)
    await w.created()
    await w.event("session.idle", { sessionID: w.id })
    await w.prompt()
    const [ended] = await until("kgctx is told", () => w.asked("kgctx.rotation").length > 0 && w.asked("kgctx.rotation"))
    expect(ended.event).toEqual({ type: "kgctx.rotation", sessionID: w.id, token: "7", error: "a prompt came before it" })
    expect([w.calls("session.create"), w.calls("session.promptAsync")]).toEqual([[], []])
    // The end of its own turn asks anew.
    w.will("session.idle", ROTATE)
    await w.event("session.idle", { sessionID: w.id })
    await until("sent", () => w.calls("session.promptAsync").length)
  })

  test("ends the asking where kgctx could not look", async () => {
    const w = await world()
    w.will("session.idle", { protocol: 1, action: "ask", soon: true, reason: "the state is busy" })
    await w.created()
    await w.event("session.idle", { sessionID: w.id })
    await until("asked", () => w.asked("session.idle").length)
    await w.prompt()
    await sleep(1_500)
    expect(w.asked("session.idle").length).toBe(1)
  })
})

test("a turn that failed or was interrupted rotates nothing, until the next prompt", async () => {
  const w = await world()
  w.will("session.idle", ROTATE)
  await w.created()
  await w.event("session.error", { sessionID: w.id })
  await w.event("session.idle", { sessionID: w.id })
  await sleep(200)
  expect(w.asked("session.idle")).toEqual([])
  await w.prompt()
  await w.event("session.idle", { sessionID: w.id })
  await until("asked", () => w.asked("session.idle").length)
})

describe("a kgctx that is older than this bridge", () => {
  // It answers every question that it does not know with `none`, and speaks the same protocol.
  test("gives contexts as before, and rotates nothing", async () => {
    const w = await world()
    w.will("session.created", inject())
    await w.created()
    await until("delivered", () => w.asked("kgctx.delivered").length)
    for (const type of ["session.idle", "session.compacted"]) await w.event(type, { sessionID: w.id })
    await until("asked", () => w.asked("session.idle").length && w.asked("kgctx.rest").length)
    await w.prompt()
    await w.event("session.deleted", { sessionID: w.id, info: { id: w.id } })
    await until("over", () => w.asked("kgctx.over").length)
    expect([w.calls("session.create"), w.calls("session.promptAsync"), w.warnings()]).toEqual([[], [], []])
  })

  test("is named with the way out where it speaks another protocol", async () => {
    const w = await world()
    w.will("session.created", inject({ protocol: 0 }))
    await w.created()
    await w.prompt()
    expect(w.warnings()).toEqual([expect.stringContaining("run `kgctx install opencode` again")])
  })
})
