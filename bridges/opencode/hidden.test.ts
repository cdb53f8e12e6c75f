// Stored texts that requests do not see, unless our transform hook shows them.
import { describe, expect, test } from "bun:test"
import { type Any, TEXT, inject, world } from "./world"

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
