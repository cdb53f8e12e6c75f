// How full a context is, and what the model is told of it.
import { describe, expect, test } from "bun:test"
import { sleep, until, world } from "./world"

describe("how full a context is", () => {
  const limits = { data: { providers: [{ id: "p", models: { m: { limit: { context: 100_000, output: 4_096 } } } }] } }
  const answer = (total: number, more: object = {}) => ({
    info: { id: "msg_a", role: "assistant", providerID: "p", modelID: "m", time: { completed: 9 }, tokens: { total, output: 5 }, ...more },
  })

  test("is told after an answer, and what kgctx says of it stands beside the next tool's result, once", async () => {
    const w = await world({ "config.providers": () => limits }, 2)
    await w.created()
    w.will("kgctx.usage", { protocol: 1, action: "tell", text: "FILLING-UP" })
    await w.event("message.updated", { sessionID: w.id, ...answer(60_000) })
    const [told] = await until("kgctx is told", () => w.asked("kgctx.usage").length > 0 && w.asked("kgctx.usage"))
    expect(told.event).toEqual({
      type: "kgctx.usage", sessionID: w.id, tokens: 60_000, model: "m", window: 100_000, output: 4_096, at: 9,
    })
    const output = { title: "", output: "result", metadata: {} }
    for (let n = 0; n < 20; n++) {
      await sleep(50)
      await w.run("tool.execute.after", { tool: "bash", sessionID: w.id, callID: "c" }, output)
    }
    expect(output.output).toBe("result\n\nFILLING-UP")
    const next = { title: "", output: "result", metadata: {} }
    await w.run("tool.execute.after", { tool: "bash", sessionID: w.id, callID: "d" }, next)
    expect(next.output).toBe("result")
    // The same again, a summary and an unfinished answer tell nothing new.
    await w.event("message.updated", { sessionID: w.id, ...answer(60_000) })
    await w.event("message.updated", { sessionID: w.id, ...answer(9_000, { summary: true }) })
    await w.event("message.updated", { sessionID: w.id, ...answer(9_000, { time: {} }) })
    await sleep(200)
    expect(w.asked("kgctx.usage").length).toBe(1)
    await w.event("session.compacted", { sessionID: w.id })
    const all = await until("of the compaction, too", () => w.asked("kgctx.usage").length > 1 && w.asked("kgctx.usage"))
    expect(all[1].event).toEqual({ type: "kgctx.usage", sessionID: w.id, compacted: expect.any(Number) })
  })

  test("is not told from before a compaction, however late kgctx answers", async () => {
    for (const isLate of [false, true]) {
      const w = await world({ "config.providers": () => limits })
      await w.created()
      const told = JSON.stringify({ protocol: 1, action: "tell", text: "FILLING-UP" })
      w.will("kgctx.usage", `${isLate ? "sleep 0.5; " : ""}echo '${told}'`)
      await w.event("message.updated", { sessionID: w.id, ...answer(60_000) })
      await until("kgctx is told", () => w.asked("kgctx.usage").length)
      if (!isLate) await sleep(300)
      w.will("kgctx.usage", { protocol: 1, action: "none", reason: "-" })
      await w.event("session.compacted", { sessionID: w.id })
      await until("of the compaction, too", () => w.asked("kgctx.usage").length > 1)
      await sleep(800)
      const output = { title: "", output: "result", metadata: {} }
      await w.run("tool.execute.after", { tool: "bash", sessionID: w.id, callID: "c" }, output)
      expect(output.output).toBe("result")
    }
  })

  test("costs a tool nothing where kgctx or OpenCode fail", async () => {
    const w = await world({ "config.providers": () => Promise.reject(new Error("gone")) })
    await w.created()
    w.will("kgctx.usage", "exit 3")
    await w.event("message.updated", { sessionID: w.id, ...answer(60_000, { tokens: { input: 1, output: 2, cache: { read: 3, write: 4 } } }) })
    const [told] = await until("kgctx is told", () => w.asked("kgctx.usage").length > 0 && w.asked("kgctx.usage"))
    expect(told.event).toEqual({ type: "kgctx.usage", sessionID: w.id, tokens: 10, model: "m", at: 9 })
    const output = { title: "", output: "result", metadata: {} }
    await w.run("tool.execute.after", { tool: "bash", sessionID: w.id, callID: "c" }, output)
    await w.run("tool.execute.after", { tool: "bash", sessionID: "ses_other", callID: "c" }, output)
    expect(output.output).toBe("result")
  })
})
