// The bridge between OpenCode and kgctx: carries a session's events to `kgctx hook opencode`, and the text of its
// answer into the session. All judgement lives in the binary: whether a session gets context, which, and when again.
// Here is only how a text comes into a session once, ahead of the reply, without a prompt failing or waiting long.
import { spawn } from "node:child_process"
import type { Hooks, Plugin } from "@opencode-ai/plugin"

const VERSION = "0.1.0"
const PROTOCOL = 1
const HOLD_MS = 1_500 // all that one prompt may wait
const KILL_MS = 1_400 // less, so that a kgctx that hangs is named as the reason
const GRACE_MS = 200 // the end of both: were pipes left alone until then, since OpenCode was busy, this is their time
const SOON_MS = 1_000 // until a question that nobody waits for is asked again
const TRIES = 5 // of a question that nobody waits for
const STALE_MS = 10_000 // a text that waited longer for its prompt is asked for again: its claim may have lapsed
const ANSWER_BYTES = 4 * 1024 * 1024
const STORED_LIMIT = 100
const PROMPT_CHARS = 2_000
const SAID_LIMIT = 50
const SAID_CHARS = 16_000
const TOOL_LIMIT = 100
const TOOL_CHARS = 2_000
const IDLE_MS = 31 * 60_000 // a little more than kgctx takes for long
const KEEP =
  "Keep, word for word, the names of [[concepts]] and the memory:// addresses that are still in use, and the id of a " +
  "handoff. Leave out the project context from kgctx: kgctx adds it again after this summary."

const TOLD_TOOLS = ["bash", "edit", "write", "multiedit", "todowrite"]
const TRANSFORM = "experimental.chat.messages.transform"

type Notice = { as: "toast" | "log"; text: string }
type How = "auto" | "noreply" | "part"
type Receipt = { receipt: number | null; notice?: Notice }
type Text = Receipt & { text: string; delivery: How; metadata: object }
type Inject = Text & { action: "inject"; at: number; prompt?: string }
/** `token`: by which kgctx knows how far it is. `unread`: the prompt where the new session was not given its context. */
type Rotate = { action: "rotate"; token: string; title: string; prompt: string; unread?: string; soon?: undefined; notice?: undefined }
type Keep = { action: "keep" | "tell"; text: string; soon?: undefined; notice?: undefined }
/** `soon`: another question may find more, even before the prompt. */
type Answer =
  | Inject
  | Keep
  | Rotate
  | { action: "none" | "ask"; soon?: boolean; notice?: Notice }
  | { action: "failed"; soon?: boolean; reason: string }

/** A noReply message on its way. `admitted`: past its own chat.message, so it can no longer be withdrawn. */
type Sending = { part: string; admitted: boolean; stored: Promise<boolean> }
/**
 * One delivery. `turn`: the prompt that has taken it over. `answer` holds the text, and only until the job is over.
 * `unasked`: the receipt of a context that was made before the prompt was known.
 */
type Job = { answer?: Promise<Answer>; unasked?: number | null; sending?: Sending; turn?: Promise<void>; over?: boolean }
/** A text in a prompt, until it is known to be stored. */
type Unstored = Receipt & { messageID: string }
/**
 * `carrier`: the message that our context is in. `removed`: it is gone, by an undo. `withdrawn`: parts of noReply
 * messages that must no longer be stored. `hidden`: the session has a text that only our transform hook shows to the model.
 * `used`: the tokens that kgctx was last told of. `tell`: what the model is to be told beside a tool's result.
 * `rest`: ends the waiting for a session that is at rest.
 */
type Session = {
  id: string
  created: boolean
  withdrawn: string[]
  unstored: Unstored[]
  carrier?: string
  removed?: boolean
  hidden?: boolean
  warned?: boolean
  job?: Job
  used?: number
  compacted?: number
  tell?: string
  rest?: () => void
  /** Its last rest, or its end, until kgctx knows of it. */
  told?: Promise<unknown>
  /** Its last turn failed, or was interrupted. */
  failed?: boolean
  /** Whether the end of its turn is being asked about. */
  resting?: boolean
  /** The prompt of the rotation by which it began, until a person has typed one. */
  rotated?: string
}

type Prompt = Parameters<NonNullable<Hooks["chat.message"]>>[1]
type Model = { providerID: string; modelID: string; variant?: string }
type Info = {
  id?: string
  agent?: string
  model?: { providerID: string; id: string; variant?: string }
  role?: string
  summary?: unknown
  providerID?: string
  modelID?: string
  time?: { completed?: number; archived?: number }
  tokens?: { total?: number; input?: number; output?: number; reasoning?: number; cache?: { read?: number; write?: number } }
}
type Properties = { sessionID?: string; messageID?: string; info?: Info & { title?: string }; status?: { type?: string } }
type ToolState = { input?: { command?: unknown; filePath?: unknown; todos?: unknown }; output?: unknown; metadata?: { exit?: number } }
type Marked = { type: string; ignored?: boolean; metadata?: { kgctx?: object } }

// One map per process. The same file in several plugin folders, or set up twice, is several copies of this module:
// whichever comes first handles a session, the others find it handled.
const shared = globalThis as { [key: symbol]: unknown }
const sessions = (shared[Symbol.for("kgctx.opencode.2")] ??= new Map()) as Map<string, Session>

/**
 * `transforms`: whether this OpenCode lets our transform hook show hidden texts, as far as is known. `told`: the log has
 * why not. Shared like the sessions.
 */
const host = (shared[Symbol.for("kgctx.opencode.host.1")] ??= {}) as {
  transforms?: boolean
  told?: boolean
  /** The titles of sessions that are being made for a rotation. */
  making?: string[]
}

const ASK: Answer = { action: "ask" }
const LATE = { action: "failed", reason: `the context was not ready within ${HOLD_MS} ms` } as const

/** Calls back after that time, of which the event loop was free for GRACE_MS at least. Gives what takes it back. */
function after(ms: number, then: () => void) {
  let timer = setTimeout(() => (timer = setTimeout(then, GRACE_MS)), ms - GRACE_MS)
  return () => clearTimeout(timer)
}

/** Asks the binary. Never rejects: whatever is not a whole answer of this protocol is a failure. */
function kgctx(directory: string, event: object): Promise<Answer> {
  return new Promise((resolve) => {
    const program = process.env.KGCTX_BIN || "kgctx"
    const fail = (what: string, soon = false) => resolve({ action: "failed", soon, reason: `${program} ${what}` })
    try {
      const child = spawn(program, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      const stop = (what: string, soon = false) => {
        cancel()
        fail(what, soon)
        child.kill("SIGKILL")
        child.stdout.destroy() // whatever kgctx has started may still hold the other end
      }
      const cancel = after(KILL_MS, () => stop(`did not answer within ${KILL_MS} ms`, true))
      const chunks: Buffer[] = []
      let bytes = 0
      child.stdout.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > ANSWER_BYTES) stop(`answered with more than ${ANSWER_BYTES} bytes`)
        else chunks.push(chunk)
      })
      child.on("error", (error) => stop(`does not run: ${error.message}`))
      child.on("close", (code, signal) => {
        cancel()
        if (code === 0) resolve(understood(Buffer.concat(chunks).toString()))
        else fail(`ended with ${signal ?? `status ${code}`}`)
      })
      child.stdin.on("error", () => {}) // kgctx may answer, or die, without having read everything
      child.stdin.end(JSON.stringify({ protocol: PROTOCOL, bridge: VERSION, directory, event }))
    } catch (error) {
      fail(`does not run: ${error}`)
    }
  })
}

function understood(output: string): Answer {
  try {
    const { protocol, ...answer } = JSON.parse(output)
    if (protocol !== PROTOCOL)
      return { action: "failed", reason: `kgctx speaks protocol ${protocol}, not ${PROTOCOL}; run \`kgctx install opencode\` again` }
    const { action, soon, notice } = answer
    if (action === "none" || action === "ask") return { action, soon, notice }
    const { receipt, text, delivery, metadata } = answer
    if ((action === "keep" || action === "tell") && text && typeof text === "string") return { action, text }
    const { token, title, prompt, unread } = answer
    if (action === "rotate" && [token, title, prompt].every((one) => one && typeof one === "string"))
      return { action, token, title, prompt, unread }
    const noted = receipt === null || Number.isInteger(receipt) // null: kgctx could not write a receipt
    const whole = action === "inject" && noted && text && typeof text === "string"
    const known = ["auto", "noreply", "part"].includes(delivery) && metadata && typeof metadata === "object"
    if (whole && known) return { ...answer, at: Date.now() }
  } catch {}
  return { action: "failed", reason: "the answer of kgctx cannot be read" }
}

/**
 * Parts are in the order of their ids: ours come before all of the user's, a context before a supplement.
 * `synthetic` keeps the text out of the window. `ignored` keeps it out of every request, the one for a title among them;
 * the transform hook, which OpenCode calls for all but that one, shows it again.
 */
function textPart(session: Session, { text, metadata }: Inject, place: 0 | 1 = 0) {
  const random = Array.from({ length: 14 }, () => Math.floor(Math.random() * 36).toString(36)).join("")
  const id = `prt_00000000000${place}${random}`
  const ignored = host.transforms !== false
  if (ignored) session.hidden = true
  return { type: "text" as const, id, text, synthetic: true, ignored, metadata: { kgctx: metadata } }
}

const isHidden = (part: unknown) => Boolean((part as Marked).ignored && (part as Marked).metadata?.kgctx)

/** Whether the session has a hidden text that no compaction has ended. */
function hasHidden(messages: { parts: unknown[] }[]) {
  const parts = messages.flatMap(({ parts }) => parts as Marked[])
  return parts.slice(parts.findLastIndex(({ type }) => type === "compaction") + 1).some(isHidden)
}

/** Whether a model has written the message. Shell commands and subtasks leave messages, too, with no token. */
function isReply(type: string, info?: Info) {
  return type === "message.updated" && info?.role === "assistant" && info.time?.completed && info.tokens?.output
}

/** The tokens in the context after an answer. */
function usedBy({ total, input = 0, output = 0, reasoning = 0, cache }: NonNullable<Info["tokens"]>) {
  return total ?? input + output + reasoning + (cache?.read ?? 0) + (cache?.write ?? 0)
}

/** What a message tells about earlier context: ours, or that a compaction has ended it. */
function marks({ info, parts }: { info: { id: string }; parts: unknown[] }): object[] {
  return (parts as Marked[]).flatMap((part): object[] => {
    const { type, metadata } = part
    if (host.transforms === false && isHidden(part)) return []
    if (metadata?.kgctx) return [{ kgctx: metadata.kgctx }]
    return type === "compaction" ? [{ compaction: info.id }] : []
  })
}

/** What the user asks, as far as the choice of notes can use it. */
function asked(parts: Prompt["parts"]): string {
  const texts = parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : []))
  return texts.join("\n").slice(0, PROMPT_CHARS)
}

/** A tool's call as far as it tells of the work. The end of an output says why it failed. */
function done(part: unknown): object[] {
  const { type, tool, state } = part as { type: string; tool?: string; state?: ToolState }
  if (type !== "tool" || !state || !TOLD_TOOLS.includes(tool ?? "")) return []
  const { command, filePath, todos } = state.input ?? {}
  const input = { command: typeof command === "string" ? command.slice(0, TOOL_CHARS) : undefined, filePath, todos }
  return [{ tool, input, exit: state.metadata?.exit, output: String(state.output ?? "").slice(-TOOL_CHARS) }]
}

/** Does what nobody waits for; its failure concerns nobody. */
function aside(work: () => unknown) {
  void (async () => work())().catch(() => {})
}

export const Kgctx: Plugin = async ({ client, directory }) => {
  function log(level: "info" | "warn", message: string) {
    aside(() => client.app.log({ body: { service: "kgctx", level, message } }))
  }

  function warn(session: Session, reason: string) {
    if (!session.warned) log("warn", `kgctx: no context in this session: ${reason} (run \`kgctx doctor\`)`)
    session.warned = true
  }

  function tell(notice: Notice | undefined, level: "info" | "warn") {
    if (notice?.as === "log") log(level, notice.text)
    const variant = level === "warn" ? "warning" : "info"
    if (notice?.as === "toast") aside(() => client.tui.showToast({ body: { message: notice.text, variant } }))
  }

  function report(session: Session, answer: Answer) {
    if (answer.action === "failed") warn(session, answer.reason)
    if (answer.action === "none" && !session.warned) {
      session.warned = answer.notice !== undefined
      tell(answer.notice, "warn")
    }
    return answer
  }

  async function ask(session: Session, event: object) {
    return report(session, await kgctx(directory, event))
  }

  /** Tells kgctx what nobody waits for, again where it could not take that in. */
  async function insist(event: object, tries = TRIES): Promise<Answer> {
    const answer = await kgctx(directory, event)
    if (answer.action === "inject" || !answer.soon || tries <= 1) return answer
    await new Promise((done) => setTimeout(done, SOON_MS))
    return insist(event, tries - 1)
  }

  /** Tells kgctx what was said last in a session, and gives its answer. */
  async function tellSaid(type: string, id: string): Promise<Answer | undefined> {
    const [{ data: info }, { data: stored }] = await Promise.all([
      client.session.get({ path: { id } }),
      client.session.messages({ path: { id }, query: { limit: STORED_LIMIT } }),
    ])
    if (!info || !stored) return
    const messages = stored.flatMap(({ info: { role, time }, parts }) => {
      if (parts.some(({ type }) => type === "compaction")) return []
      const text = parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("\n")
      return text ? [{ role, text: text.slice(0, SAID_CHARS), at: time.created }] : []
    })
    const tools = stored.flatMap(({ parts }) => parts.flatMap(done)).slice(-TOOL_LIMIT)
    const event = { type, sessionID: id, info, messages: messages.slice(-SAID_LIMIT), tools }
    return await (type === "kgctx.rest" ? insist(event) : kgctx(directory, event))
  }

  /** Has a handoff written before a compaction. Gives what the summariser is to keep, where one was. */
  async function capture(id: string): Promise<string | undefined> {
    const answer = await tellSaid("session.compacting", id)
    return answer?.action === "keep" ? answer.text : undefined
  }

  /** How many tokens a model takes, and how many of them OpenCode keeps free. */
  async function limitsOf({ providerID, modelID }: Info) {
    const { data } = await client.config.providers()
    const provider = data?.providers.find(({ id }) => id === providerID)
    return modelID ? provider?.models[modelID]?.limit : undefined
  }

  /** Tells kgctx how full a context is. What it answers waits for the next tool, so that nothing waits for it. */
  async function measure(session: Session, info?: Info) {
    const tokens = info?.tokens && usedBy(info.tokens)
    if (info && (tokens === session.used || info.summary)) return
    session.used = tokens
    const { id: sessionID, compacted } = session
    const limit = info && (await limitsOf(info).catch(() => undefined))
    const { context: window, output } = limit ?? {}
    const [at, model] = [info?.time?.completed, info?.modelID]
    const answer = await kgctx(directory, { type: "kgctx.usage", sessionID, tokens, model, window, output, at, compacted })
    // A summary may have replaced meanwhile what was measured.
    if (answer.action === "tell" && compacted === session.compacted) session.tell = answer.text
  }

  /** A session is at rest: kgctx keeps what was said, since OpenCode tells no end, and nothing of a session that is deleted. */
  function rest(session: Session) {
    session.rest?.()
    const timer = setTimeout(() => void insist({ type: "kgctx.over", sessionID: session.id, idle: true }), IDLE_MS)
    timer.unref?.()
    session.rest = () => clearTimeout(timer)
    inOrder(session, () => tellSaid("kgctx.rest", session.id))
  }

  function over(session: Session) {
    session.rest?.()
    inOrder(session, () => insist({ type: "kgctx.over", sessionID: session.id }))
  }

  /** Told one after the other: kgctx knows nothing of an end that overtakes what was said before it. */
  function inOrder(session: Session, tell: () => Promise<unknown>) {
    session.told = (session.told ?? Promise.resolve()).then(tell).catch(() => {})
  }

  /** Asks with what is stored: the session was not seen from its beginning, or is no longer as it was. */
  async function askAtPrompt(session: Session, parts: Prompt["parts"]): Promise<Answer> {
    const { id, created } = session
    try {
      const [{ data: info }, { data: messages }] = await Promise.all([
        client.session.get({ path: { id } }),
        client.session.messages({ path: { id }, query: { limit: STORED_LIMIT } }),
      ])
      if (!info || !messages) throw new Error("OpenCode does not return it")
      const complete = messages.length < STORED_LIMIT
      // An undo may leave an empty message behind, which says nothing.
      const whole = messages.filter(({ parts }) => parts.length > 0)
      const stored = { messages: whole.length, complete, marks: whole.flatMap(marks) }
      // Another process may have hidden a text, or a fork took it over.
      const hidden = hasHidden(whole)
      if (hidden && host.transforms !== false) session.hidden = true
      const removed = session.removed || (hidden && host.transforms === false) || undefined
      const prompt = asked(parts)
      return await ask(session, { type: "chat.message", sessionID: id, created, removed, info, stored, prompt })
    } catch (error) {
      const reason = `the session cannot be read: ${error}`
      warn(session, reason)
      return { action: "failed", reason }
    }
  }

  function delivered(session: Session, { receipt, notice }: Receipt, how: "noreply" | "part", messageID: string) {
    if (session.carrier === messageID) session.removed = false
    void insist({ type: "kgctx.delivered", sessionID: session.id, receipt, how, messageID })
    tell(notice, "info")
  }

  function released(session: Session, answer: Answer, reason: string) {
    if (answer.action !== "inject") return
    void insist({ type: "kgctx.released", sessionID: session.id, receipt: answer.receipt, reason })
  }

  /** Stores the text as a message without a reply. It names agent and model, since otherwise it would change them. */
  function send(session: Session, job: Job, answer: Inject, agent?: string, model?: Model) {
    const part = textPart(session, answer)
    const sending: Sending = (job.sending = { part: part.id, admitted: false, stored: Promise.resolve(false) })
    const post = async () => {
      const which = model && { model: { providerID: model.providerID, modelID: model.modelID }, variant: model.variant }
      const body = { noReply: true, agent, ...which, parts: [part] }
      const { data, error } = await client.session.prompt({ path: { id: session.id }, body })
      if (!data) throw new Error(JSON.stringify(error))
      session.carrier = data.info.id
      delivered(session, answer, "noreply", data.info.id)
      job.answer = undefined
      return true
    }
    sending.stored = post().catch((error) => {
      // A prompt that waits puts the text in itself, unless it may have been stored after all.
      if (job.turn && !sending.admitted) return false
      const reason = `the context was not stored: ${error}`
      released(session, answer, reason)
      warn(session, reason)
      if (session.job === job) session.job = undefined
      return false
    })
  }

  /** A session begins: its context is built ahead of the first prompt, and stored if there is time for it. */
  function begin(id: string, { agent, model }: Info, event: object) {
    const known = sessions.get(id)
    if (known) return known
    const job: Job = {}
    const session: Session = { id, created: true, withdrawn: [], unstored: [], job }
    sessions.set(id, session)
    const isOpen = () => !job.turn && sessions.get(id)?.job === job
    const attempt = async (tries: number) => {
      job.answer = kgctx(directory, event)
      const answer = await job.answer
      if (answer.action !== "inject" && answer.soon && tries > 1 && isOpen()) {
        job.answer = undefined // a prompt that comes meanwhile asks by itself
        setTimeout(() => isOpen() && aside(() => attempt(tries - 1)), SOON_MS)
        return
      }
      report(session, answer)
      if (answer.action !== "inject") return
      job.unasked = answer.receipt
      if (job.turn) return
      if (!isOpen()) return released(session, answer, "the session is gone")
      if (answer.delivery !== "part") send(session, job, answer, agent, model && { ...model, modelID: model.id })
    }
    aside(() => attempt(TRIES))
    return session
  }

  /** A turn has ended: the session goes on in a new one, if its agent asked for that. The old one stays as it is. */
  async function rotate(old: Session) {
    if (old.failed || old.resting) return
    old.resting = true
    const answer = await kgctx(directory, { type: "session.idle", sessionID: old.id })
    old.resting = false
    if (answer.action !== "rotate") return
    const { token, title } = answer
    const report = (error?: string) => void kgctx(directory, { type: "kgctx.rotation", sessionID: old.id, token, error })
    try {
      const session = await successor(old, token, title)
      old.rest?.()
      const given = await session.job?.answer
      const prompt = (given?.action === "inject" ? given.prompt : answer.unread) || answer.prompt
      session.rotated = prompt
      const shown = show(session.id, title)
      const { error } = await client.session.promptAsync({ path: { id: session.id }, body: { parts: [{ type: "text", text: prompt }] } })
      if (error) throw new Error(JSON.stringify(error))
      report()
      await shown
    } catch (error) {
      report(`${error}`)
      log("warn", `kgctx: the session could not continue in a new one: ${error} (run \`kgctx handoff rotate --status\`)`)
    }
  }

  /** Makes the session in which another one goes on, with the same agent and model. */
  async function successor(old: Session, token: string, title: string) {
    const making = (host.making ??= [])
    making.push(title)
    try {
      const { data: was } = await client.session.get({ path: { id: old.id } })
      const { agent, model } = (was ?? {}) as Info
      const { data: made, error } = await client.session.create({ body: { title, agent, model } as { title: string } })
      if (!made) throw new Error(JSON.stringify(error))
      const event = { type: "kgctx.rotated", sessionID: made.id, token, properties: { info: made } }
      return begin(made.id, made as Info, event)
    } finally {
      making.splice(making.indexOf(title), 1)
    }
  }

  /** Shows a session in the window. The SDK has no name for that, but its client has the way, and where not, a line tells. */
  async function show(sessionID: string, title: string) {
    try {
      const raw = (client as unknown as { _client: { post(request: object): Promise<{ error?: unknown }> } })._client
      const headers = { "Content-Type": "application/json" }
      const { error } = await raw.post({ url: "/tui/select-session", body: { sessionID }, headers })
      if (!error) return
    } catch {}
    tell({ as: "toast", text: `kgctx: the work continues in the session "${title}"` }, "info")
  }

  /** The first prompt of a job sees the context into the session. `late` ends its waiting. */
  async function take(session: Session, job: Job, { message, parts }: Prompt, late: Promise<typeof LATE>) {
    const wait = async (asked: Promise<Answer>) => {
      const answer = await Promise.race([asked, late])
      if (answer === LATE) {
        warn(session, LATE.reason)
        void asked.then((unused) => released(session, unused, LATE.reason))
      }
      return answer
    }
    const insert = (answer: Inject) => {
      parts.unshift({ ...textPart(session, answer), sessionID: session.id, messageID: message.id })
      session.carrier = message.id
      session.unstored.push({ receipt: answer.receipt, notice: answer.notice, messageID: message.id })
    }
    if (!job.sending) {
      let answer = job.answer ? await wait(job.answer) : ASK
      if (answer.action === "inject" && Date.now() - answer.at > STALE_MS) {
        released(session, answer, "the text is out of date")
        job.unasked = undefined
        answer = ASK
      }
      if (answer.action === "ask") answer = await wait((job.answer = askAtPrompt(session, parts)))
      if (answer.action !== "inject") return
      if (answer.delivery !== "noreply") return insert(answer)
      send(session, job, answer, message.agent, message.model)
    }
    const sending = job.sending as Sending | undefined
    if (!sending || (await Promise.race([sending.stored, late])) === true || sending.admitted) return
    session.withdrawn.push(sending.part)
    const answer = await job.answer
    if (answer?.action === "inject") insert(answer)
  }

  /** Adds the notes that fit the first prompt, where the context was made before it. */
  async function supplement(session: Session, receipt: number, { message, parts }: Prompt, late: Promise<typeof LATE>) {
    const event = { type: "kgctx.prompt", sessionID: session.id, receipt, prompt: asked(parts) }
    const more = kgctx(directory, event)
    const answer = await Promise.race([more, late])
    if (answer === LATE) void more.then((unused) => released(session, unused, LATE.reason))
    if (answer.action !== "inject") return
    const users = parts.findIndex((part) => !(part as Marked).metadata?.kgctx)
    parts.splice(users, 0, { ...textPart(session, answer, 1), sessionID: session.id, messageID: message.id })
    session.unstored.push({ receipt: answer.receipt, notice: answer.notice, messageID: message.id })
  }

  /** The job is over with its first prompt, whatever comes of it. */
  async function turn(session: Session, job: Job, prompt: Prompt, late: Promise<typeof LATE>) {
    await take(session, job, prompt, late).catch((error) => warn(session, `${error}`))
    const { unasked } = job
    // The prompt of a rotation says nothing that notes could fit.
    const isOurs = asked(prompt.parts) === session.rotated?.slice(0, PROMPT_CHARS)
    if (unasked && session.carrier && !isOurs) await supplement(session, unasked, prompt, late)
    job.over = true
    job.answer = undefined
  }

  return {
    event: async ({ event }) => {
      const { type, properties } = event as { type: string; properties?: Properties }
      const id = properties?.sessionID ?? properties?.info?.id
      const session = id && sessions.get(id)
      const isMade = host.making?.includes(properties?.info?.title ?? "")
      if (id && type === "session.created" && !isMade) begin(id, properties?.info ?? {}, { type, properties })
      if (!session) return
      if (type === "session.error") session.failed = true
      // Either may come, or both.
      if (type === "session.idle" || (type === "session.status" && properties?.status?.type === "idle")) aside(() => rotate(session))
      if (type === "session.deleted") sessions.delete(session.id)
      if (type === "session.deleted" || (type === "session.updated" && properties?.info?.time?.archived)) over(session)
      if (type === "session.idle") rest(session)
      if (type === "session.compacted") {
        session.compacted = Date.now()
        session.tell = undefined
        aside(() => measure(session))
      }
      if (isReply(type, properties?.info)) aside(() => measure(session, properties?.info))
      // A prompt that another plugin makes fail is never stored, and what it carries was not given.
      if (type === "message.updated") {
        const stored = session.unstored.filter(({ messageID }) => messageID === properties?.info?.id)
        session.unstored = session.unstored.filter((text) => !stored.includes(text))
        for (const text of stored) delivered(session, text, "part", text.messageID)
      }
      // The context is no longer there, by a compaction or by an undo: the next prompt asks.
      const removed = type === "message.removed" && properties?.messageID === session.carrier
      if (removed) session.removed = true
      if (removed || type === "session.compacted") session.job = session.carrier = undefined
      // Nor has it ever been there for the model, if that has replied and nobody has asked us to show it.
      if (session.hidden && host.transforms === undefined && isReply(type, properties?.info)) {
        host.transforms = false
        warn(session, `this OpenCode does not call ${TRANSFORM}; the next prompt brings it openly`)
      }
    },

    "chat.message": async ({ sessionID: id }, prompt) => {
      let session = sessions.get(id)
      const ours = prompt.parts.find((part) => (part as Marked).metadata?.kgctx)
      if (ours) {
        // The only throw there is. It fails the request of our own message, for which a prompt has not waited.
        if (session?.withdrawn.includes(ours.id)) throw new Error("kgctx: withdrawn, the prompt carries the context")
        if (session?.job?.sending?.part === ours.id) session.job.sending.admitted = true
        return
      }
      if (!session) sessions.set(id, (session = { id, created: false, withdrawn: [], unstored: [] }))
      session.rest?.()
      session.failed = false
      if (session.rotated !== undefined && asked(prompt.parts) !== session.rotated.slice(0, PROMPT_CHARS)) {
        session.rotated = undefined
        void kgctx(directory, { type: "kgctx.prompted", sessionID: id })
      }
      // The model does not see the context. A turn that is under way sees to it itself.
      if (session.hidden && host.transforms === false && (!session.job?.turn || session.job.over)) {
        session.hidden = false
        session.removed = true
        session.job = session.carrier = undefined
      }
      const job = (session.job ??= {})
      if (job.over) return
      const began = Date.now()
      let cancel = () => {}
      const late = new Promise<typeof LATE>((resolve) => (cancel = after(HOLD_MS, () => resolve(LATE))))
      // A second prompt waits for the first one, and does not overtake it.
      await (job.turn ? Promise.race([job.turn, late]) : (job.turn = turn(session, job, prompt, late)))
      cancel()
      // Messages are in the order of their times: what was stored while this one was held belongs before it.
      if (job.sending || Date.now() > began) prompt.message.time.created = Date.now()
    },

    [TRANSFORM]: async (_, output) => {
      try {
        const { messages } = output
        if (!messages.some(({ parts }) => parts.some(isHidden))) return
        // OpenCode has just forked the title's request, which picks its messages from this very list when the event
        // loop comes to it. Then copies can take the places of messages here.
        for (let turn = 0; turn < 2; turn++) await new Promise((done) => setImmediate(done))
        const show = (part: (typeof messages)[0]["parts"][0]) => (isHidden(part) ? { ...part, ignored: false } : part)
        const shown = messages.map((message) =>
          message.parts.some(isHidden) ? { info: message.info, parts: message.parts.map(show) } : message,
        )
        shown.forEach((message, at) => (messages[at] = message))
        host.transforms = true
      } catch (error) {
        // OpenCode waits for this before every request, and would fail it.
        host.transforms = false
        if (!host.told) log("warn", `kgctx: ${TRANSFORM} failed, so each session's next prompt brings its context openly: ${error}`)
        host.told = true
      }
    },

    "experimental.session.compacting": async ({ sessionID }, output) => {
      if (!output.context.includes(KEEP)) output.context.push(KEEP)
      // Without an answer the compaction goes on as it would.
      const kept = await capture(sessionID).catch(() => undefined)
      if (kept && !output.context.includes(kept)) output.context.push(kept)
    },

    "tool.execute.after": async ({ sessionID }, output) => {
      const session = sessions.get(sessionID)
      if (!session?.tell || typeof output.output !== "string") return
      output.output += `\n\n${session.tell}`
      session.tell = undefined
    },

    "shell.env": async ({ sessionID }, output) => {
      // The second tells kgctx that this bridge can rotate the session, which earlier ones could not.
      if (sessionID) output.env.KGCTX_SESSION_ID = output.env.KGCTX_ROTATES = sessionID
    },
  }
}
