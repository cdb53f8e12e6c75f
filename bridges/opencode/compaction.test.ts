// What happens before a compaction.
import { expect, test } from "bun:test"
import { world } from "./world"

test("the summariser is told once what to keep, and a shell its session", async () => {
  const w = await world({}, 2)
  const output = { context: ["another plugin's"] }
  await w.run("experimental.session.compacting", { sessionID: w.id }, output)
  expect(output.context).toEqual(["another plugin's", expect.stringContaining("memory://")])
  const [inside, outside] = [{ env: {} }, { env: {} }]
  await w.run("shell.env", { cwd: "/", sessionID: w.id }, inside)
  await w.run("shell.env", { cwd: "/" }, outside)
  expect([inside.env, outside.env]).toEqual([{ KGCTX_SESSION_ID: w.id, KGCTX_ROTATES: w.id }, {}])
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
