// The Durable Object of a repository: a shell around the core. It holds no timer and no outgoing
// socket: with any number of idle streams it sleeps and costs nothing.

import { DurableObject } from 'cloudflare:workers'
import { readAuth } from '../../shared/auth-config.ts'
import { hostClock } from '../../shared/clock.ts'
import { objectSql } from '../../shared/durable-object.ts'
import { consoleLog, type Log } from '../../shared/log.ts'
import { isForThisMachine } from '../../shared/loopback.ts'
import type { Sql } from '../../shared/sql.ts'
import { createNoticeSender, readSenderSettings } from '../notices/notice-sender.ts'
import type { ToSend } from '../presence.ts'
import type { From } from '../streams/fan-out.ts'
import { roundStreams } from '../streams/stream-room.ts'
import type { SyncAnswer } from '../wire.ts'
import { hasBoardTables } from './board-tables-sqlite.ts'
import { type BoardVariables, readBoardVariables } from './board-variables.ts'
import { type OpenRepository, openRepository } from './open-repository-sqlite.ts'
import type { PublishOutcome } from './repositories.ts'
import { replayUnpublished } from './repository.ts'
import {
  deliverDue,
  type RepositoryCalls,
  type RepositoryHost,
  repositoryCalls,
  WAKE_AGAIN_MS,
} from './repository-calls.ts'

/** Tags: whose sockets they are. */
const STREAMS = 'streams'
const SIDECARS = 'sidecars'
/** One that publishes, one that waits, and one more of each while connections are dialled again. */
const MAX_SIDECARS = 4
/**
 * The platform repeats an alarm that failed, after 2 s and then ever later, and gives it up after
 * six tries: claims would not end any more.
 */
const PLATFORM_TRIES = 3
/** Another socket of the same run took its place. */
const REPLACED = 4001

/** Undefined: it is the socket of an isolate, which has a number of streams attached. */
const runOf = (socket: WebSocket): number | undefined =>
  (socket.deserializeAttachment() as { run: number } | null)?.run

/** Of a sidecar's socket. That with the highest run leads. */
const sidecarRun = (socket: WebSocket): number => runOf(socket) ?? 0

export class RepositoryObject extends DurableObject {
  readonly #sql: Sql
  readonly #awakeSince = new Date().toISOString()
  readonly #variables: BoardVariables
  readonly #host: RepositoryHost
  readonly #encoder = new TextEncoder()
  readonly #calls: RepositoryCalls
  readonly #log: Log = (level, event, fields) =>
    consoleLog(level, event, { board: this.ctx.id.name, ...fields })
  #opened: OpenRepository | undefined

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#sql = objectSql(ctx.storage)
    // A wrong one the edge refuses before it asks.
    this.#variables = readBoardVariables(Object(env))
    const { HOST, SIGNALBOX_PUBLIC_URL: publicUrl } = Object(env)
    const sendNotice = createNoticeSender({
      secrets: readAuth({ ...env }).secrets,
      ...readSenderSettings(Object(env)),
      allowsLoopback: isForThisMachine(String(HOST), publicUrl),
      clock: hostClock,
      fetch,
    })
    this.#host = {
      find: () => this.#find(),
      make: () => this.#open(),
      now: () => Date.now(),
      awakeSince: () => this.#awakeSince,
      streams: () => this.#streams(),
      send: (frames) => this.#send(frames),
      arm: () => this.#arm(),
      sendNotice,
      signalCommands: () => this.#signalCommands(),
      log: this.#log,
      onStatus: (repository) => this.#onStatus(repository),
    }
    const calls = repositoryCalls(this.#host)
    this.#calls = { ...calls, sync: async (...of) => this.#synced(await calls.sync(...of)) }
    // Answered by the runtime: the object sleeps on.
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair('ping', 'pong'))
    this.#find()?.presence.restored(Date.now())
    // An alarm that was lost would never be missed: there is none, or it lies in the past.
    if (this.#find()?.nextDue() !== undefined) void ctx.blockConcurrencyWhile(() => this.#arm())
  }

  /** One of a handle's calls. */
  async call(name: keyof RepositoryCalls, args: readonly unknown[]): Promise<unknown> {
    const call = this.#calls[name] as (...args: readonly unknown[]) => Promise<unknown>
    return await call(...args)
  }

  /** What a stream is sent that starts there. */
  missed({ lastEventId, since }: From): string[] {
    const repository = this.#find()?.repository
    return repository?.replay({ lastEventId, since }, Date.now()) ?? replayUnpublished(lastEventId)
  }

  /**
   * Joins the streams of an isolate: the answer's WebSocket carries one block of the event stream
   * per message, and in text how many streams other isolates hold. Subscription and replay are one
   * turn, so that no message falls between them or comes twice.
   */
  override fetch(request: Request): Response {
    const { pathname, searchParams: query } = new URL(request.url)
    if (pathname === '/sidecar') return this.#attach(Number(query.get('run')))
    const isolate = query.get('isolate') ?? ''
    for (const left of this.ctx.getWebSockets(isolate)) left.close(1000)
    const { 0: client, 1: server } = new WebSocketPair()
    // Not server.accept(): that would keep the object in memory for as long as anybody listens.
    this.ctx.acceptWebSocket(server, [STREAMS, isolate])
    server.serializeAttachment(Number(query.get('streams')))
    const lastEventId = query.get('last') ?? undefined
    for (const block of this.missed({ lastEventId, since: Number(query.get('since')) })) {
      server.send(this.#encoder.encode(block))
    }
    this.#sendOthers(server)
    return new Response(null, { status: 101, webSocket: client })
  }

  /** An isolate reports how many streams it holds. */
  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    if (runOf(socket) !== undefined) {
      socket.close(1008)
      return
    }
    if (typeof message !== 'string') return
    socket.serializeAttachment(Number(message))
    this.#sendOthers(socket)
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    // 1005 and 1006 say how a socket ended and may not be sent.
    socket.close(code === 1005 || code === 1006 ? 1000 : code)
    await this.#detached(socket)
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    socket.close(1011)
    await this.#detached(socket)
  }

  /** The only alarm of the object: does what is due, and arms it for what is due next. */
  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    try {
      const known = this.#find()
      if (!known) return
      this.#send(known.claims.expire(Date.now()))
      this.#sendAll(known.presence.onAlarm(Date.now()))
      this.ctx.waitUntil(deliverDue(this.#host, known))
      await this.#arm()
    } catch (error) {
      this.#log('error', 'board.alarm_failed', { error: String(error) })
      if (info && info.retryCount < PLATFORM_TRIES) throw error
      // What failed may be due still, so that to arm it at once would run in a circle.
      await this.ctx.storage.setAlarm(Date.now() + WAKE_AGAIN_MS)
    }
  }

  /** Answers a sidecar that it may open a socket here, which shows that it is there. */
  #synced(published: PublishOutcome<SyncAnswer>): PublishOutcome<SyncAnswer> {
    if (!published.ok) return published
    const { answer } = published
    if (answer.step === 'end') this.#free()
    return answer.step === 'root'
      ? { ...published, answer: { ...answer, socket: true } }
      : published
  }

  #onStatus({ presence }: OpenRepository): void {
    const found = presence.checkPings(Date.now())
    this.#sendAll(found)
    if (found.frames.length > 0) this.ctx.waitUntil(this.#arm())
  }

  /** A sidecar shows by a socket that it is there. It leaves the object asleep. */
  #attach(run: number): Response {
    const known = this.#find()
    if (!known?.presence.knows(run)) return new Response(null, { status: 409 })
    const others = this.#sockets(SIDECARS).filter((socket) => {
      const isSame = runOf(socket) === run
      if (isSame) socket.close(REPLACED)
      return !isSame
    })
    if (others.length >= MAX_SIDECARS) return new Response(null, { status: 429 })
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server, [SIDECARS])
    server.serializeAttachment({ run })
    this.#send(known.presence.opened(run, Date.now()))
    // They may have become due since it synced, when it had no socket.
    if (known.notices.hasCommands(Date.now())) this.#signalCommands()
    return new Response(null, { status: 101, webSocket: client })
  }

  async #detached(socket: WebSocket): Promise<void> {
    const run = runOf(socket)
    if (run === undefined) return
    this.#find()?.presence.closed({ run, pingedAt: this.#pingedAt(socket) }, Date.now())
    await this.#arm()
  }

  #pingedAt(socket: WebSocket): number | undefined {
    return this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime()
  }

  #sendAll({ frames, free }: ToSend): void {
    this.#send(frames)
    if (free) this.#free()
  }

  /** Only the sidecar that leads. */
  #signalCommands(): void {
    const sockets = this.#sockets(SIDECARS).sort(
      (one, other) => sidecarRun(other) - sidecarRun(one),
    )
    sockets[0]?.send('notices')
  }

  /** Those that wait may publish: they ask, and the repository decides. */
  #free(): void {
    for (const socket of this.#sockets(SIDECARS)) socket.send('free')
  }

  /** Undefined: there is no database. Reading or subscribing must not create one. */
  #find(): OpenRepository | undefined {
    return this.#opened || hasBoardTables(this.#sql) ? this.#open() : undefined
  }

  #open(): OpenRepository {
    const sockets = () =>
      this.#sockets(SIDECARS).map((socket) => ({
        run: sidecarRun(socket),
        pingedAt: this.#pingedAt(socket),
      }))
    const variables = this.#variables
    this.#opened ??= openRepository(this.#sql, { sockets, log: this.#log, variables })
    return this.#opened
  }

  #sendOthers(socket: WebSocket): void {
    socket.send(String(roundStreams(this.#streams(socket))))
  }

  /** What the isolates have reported, in all. */
  #streams(except?: WebSocket): number {
    return this.#sockets(STREAMS)
      .filter((socket) => socket !== except)
      .reduce((sum, socket) => sum + Number(socket.deserializeAttachment()), 0)
  }

  /** A closed one stays listed until its other end knows. */
  #sockets(of: typeof STREAMS | typeof SIDECARS): WebSocket[] {
    return this.ctx.getWebSockets(of).filter(({ readyState }) => readyState === WebSocket.OPEN)
  }

  /** For the earliest of what is on the agenda: a second alarm would replace the first. */
  async #arm(): Promise<void> {
    const known = this.#find()
    known?.notices.follow(Date.now())
    const due = known?.nextDue()
    if (due === undefined) return
    const { storage } = this.ctx
    const armed = await storage.getAlarm()
    const now = Date.now()
    const isLost = armed === null || armed < now
    // The same time again would change nothing.
    if (isLost || due < armed) await storage.setAlarm(Math.max(due, now))
  }

  /** To every isolate that listens. */
  #send(frames: readonly string[]): void {
    for (const frame of frames) {
      const bytes = this.#encoder.encode(frame)
      for (const socket of this.#sockets(STREAMS)) {
        try {
          socket.send(bytes)
        } catch (error) {
          // One dead socket must not keep the message from the others; its Worker redials.
          this.#log('warn', 'board.send_failed', { error: String(error) })
        }
      }
    }
  }
}
