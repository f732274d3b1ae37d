// For whom the tools work, and how they ask the API: each tool is requests to it, so that a token
// may do over MCP what it may do there, and nothing more.

import type { Claimed, Problem } from '../api/types.ts'
import { hasRoute, taskRoute } from '../client/message.ts'

export interface Caller {
  /** Sends a request to the API with the token of the caller. `route` begins with `/api`. */
  send(route: string, init: RequestInit): Promise<Response>
  /** The board that is meant where none is named. Undefined: the token names several, or none. */
  board(): Promise<string | undefined>
  /** Whether the token is for this board. */
  covers(board: string): Promise<boolean>
  /** Who works, without the name of an agent. */
  actor: string
  /** One server is for all agents of a process: each must name itself. */
  needsAgent: boolean
  /** Where it works; a call may say otherwise. */
  from?: { tree?: string; branch?: string }
  /** The secret of a claim: the same for the same words. Undefined: there is no key to make one. */
  secretFor: ((words: string) => Promise<string>) | undefined
  /** Keeps which claims it holds, to renew them. */
  held?: {
    /** Asks for one: it is kept before, since the answer may be lost with this process. */
    taking(asked: AskedClaim, ask: () => Promise<Claimed>): Promise<Claimed>
    ended(claim: string): Promise<void>
  }
  /** What failed on our side. */
  onError(error: unknown): void
}

export interface AskedClaim {
  claim: string
  board: string
  actor: string
  ttlMs: number
}

/** A call of a tool. */
export interface Call {
  caller: Caller
  /** Of JSON-RPC: a call that is sent again has the same. */
  requestId: string
  /** Aborted when nobody waits for the answer. */
  signal: AbortSignal
}

export type Refusal = Omit<Problem, 'code'> & { code: string }

/** What the API refused, in its words. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly problem: Refusal
  /** No answer is known: what was asked for may have been done. */
  readonly isUnsure: boolean

  constructor(problem: Refusal, { isUnsure = false } = {}) {
    super(problem.error)
    this.problem = problem
    this.isUnsure = isUnsure
  }
}

export const isRefused = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Refused && codes.includes(error.problem.code)

interface Asked {
  board?: string
  query?: Readonly<Record<string, unknown>>
  body?: object
}

/** Throws Refused. */
export async function ask<Answer>(call: Call, route: string, asked: Asked = {}): Promise<Answer> {
  const { body } = asked
  const posted = body && {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }
  const response = await sent(call, route, asked, { signal: call.signal, ...posted })
  return (await response.json()) as Answer
}

/** Throws Refused. */
export function routeOf(task: string): string {
  // A URL takes such a step for another route.
  if (task === '.' || task === '..' || !hasRoute(task)) {
    throw new Refused({ error: 'There is no task with this id.', code: 'unknown_task' })
  }
  return taskRoute(task)
}

/** Throws Refused. */
export async function sent(
  { caller }: Call,
  route: string,
  { board, query = {} }: Asked,
  init: RequestInit,
): Promise<Response> {
  const named = Object.entries({ path: board, ...query }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  const search = new URLSearchParams(named)
  const response = await caller.send(`/api${route}?${search}`, init)
  if (response.ok) return response
  const { status } = response
  const unread = { error: `The edge answered ${status}.`, code: `http_${status}` }
  const problem = ((await response.json().catch(() => undefined)) as Refusal) ?? unread
  throw new Refused(problem, { isUnsure: status >= 500 })
}

/** The board that a call is about. Throws Refused. */
export async function boardOf({ caller }: Call, named: string | undefined): Promise<string> {
  const board = named ?? (await caller.board())
  if (board !== undefined) return board
  const error = 'board is missing: the token names no single one. list_boards has them.'
  throw new Refused({ error, code: 'invalid_path' })
}
