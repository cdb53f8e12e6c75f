// What a prompt asks for, and brings.
import { describe, expect, test } from "bun:test"
import { type Any, HOLD_MS, SLACK_MS, until, PART_ID, inject, slowly, world } from "./world"

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
