// Sessions that are at rest, or over.
import { describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { place, sleep, until, world } from "./world"

describe("a session that is at rest", () => {
  const state = { status: "completed", input: { command: "make", description: "-" }, output: "x".repeat(3_000), metadata: { exit: 2 } }
  const failed = { type: "tool", tool: "bash", state }
  const on = {
    "session.messages": () => ({
      data: [
        { info: { id: "m", role: "user", time: { created: 7 } }, parts: [{ type: "text", text: "Why?" }] },
        { info: { id: "n", role: "assistant", time: { created: 8 } }, parts: [failed, { ...failed, tool: "read" }] },
      ],
    }),
  }

  test("is told with what was said, and its end by a deletion or an archive", async () => {
    for (const [type, info] of [
      ["session.deleted", {}],
      ["session.updated", { time: { archived: 5 } }],
    ] as const) {
      const w = await world(on)
      await w.created()
      await w.event("session.idle", { sessionID: w.id })
      const [rests] = await until("kgctx is told", () => w.asked("kgctx.rest").length > 0 && w.asked("kgctx.rest"))
      expect(rests.event.messages).toEqual([{ role: "user", text: "Why?", at: 7 }])
      expect(rests.event.tools).toEqual([{ tool: "bash", input: { command: "make" }, exit: 2, output: "x".repeat(2_000) }])
      await w.event("session.updated", { sessionID: w.id, info: { id: w.id, time: {} } })
      expect(w.asked("kgctx.over")).toEqual([])
      await w.event(type, { sessionID: w.id, info: { id: w.id, ...info } })
      const [over] = await until("kgctx is told", () => w.asked("kgctx.over").length > 0 && w.asked("kgctx.over"))
      expect(over.event).toEqual({ type: "kgctx.over", sessionID: w.id })
    }
  })

  test("is not over for kgctx before kgctx has what was said", async () => {
    const w = await world(on)
    await w.created()
    const kept = join(place, `${w.id}.kept`)
    w.will("kgctx.rest", `sleep 0.4\ntouch ${kept}\necho '{"protocol":1,"action":"none","reason":"-"}'`)
    w.will("kgctx.over", `[ -f ${kept} ] && touch ${kept}.before\necho '{"protocol":1,"action":"none","reason":"-"}'`)
    await w.event("session.idle", { sessionID: w.id })
    await w.event("session.deleted", { sessionID: w.id, info: { id: w.id } })
    await until("kgctx is told", () => w.asked("kgctx.over").length > 0)
    await until("kgctx had what was said", () => existsSync(`${kept}.before`))
  })

  test("is over for kgctx also where its state was busy at first", async () => {
    const w = await world(on)
    await w.created()
    const busy = '{"protocol":1,"action":"ask","reason":"busy","soon":true}'
    w.will("kgctx.over", `echo '${busy}'`)
    await w.event("session.deleted", { sessionID: w.id, info: { id: w.id } })
    await until("kgctx is told", () => w.asked("kgctx.over").length === 1)
    w.will("kgctx.over", `echo '{"protocol":1,"action":"none","reason":"noted"}'`)
    await until("kgctx is told again", () => w.asked("kgctx.over").length === 2)
    await sleep(1_200)
    expect(w.asked("kgctx.over").length).toBe(2)
  })

  test("is over for now after half an hour, unless it goes on", async () => {
    const real = globalThis.setTimeout
    const waiting = new Map<object, () => void>()
    // Only the long waits are caught.
    globalThis.setTimeout = ((then: () => void, ms: number) => {
      if (ms < 60_000) return real(then, ms)
      const timer = real(() => {}, 0)
      waiting.set(timer, then)
      return timer
    }) as typeof setTimeout
    const realClear = globalThis.clearTimeout
    globalThis.clearTimeout = ((timer: object) => {
      waiting.delete(timer)
      realClear(timer as never)
    }) as typeof clearTimeout
    try {
      const w = await world(on)
      await w.created()
      await w.event("session.idle", { sessionID: w.id })
      await until("it is waited for", () => waiting.size === 1)
      await w.event("session.idle", { sessionID: w.id })
      expect(waiting.size).toBe(1)
      await w.prompt()
      expect(waiting.size).toBe(0)
      await w.event("session.idle", { sessionID: w.id })
      for (const then of waiting.values()) then()
      const [over] = await until("kgctx is told", () => w.asked("kgctx.over").length > 0 && w.asked("kgctx.over"))
      expect(over.event).toEqual({ type: "kgctx.over", sessionID: w.id, idle: true })
    } finally {
      globalThis.setTimeout = real
      globalThis.clearTimeout = realClear
    }
  })
})
