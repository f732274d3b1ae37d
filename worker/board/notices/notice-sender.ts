// Sends one notice to one address, once: what each kind of receiver is sent.

import type { Clock } from '../../shared/clock.ts'
import { mayBeLoopback } from '../../shared/loopback.ts'
import { causeLine } from '../../shared/notice-rules.ts'
import { postOnce, type Sent } from '../../shared/outgoing.ts'
import { createSeal } from '../../shared/seal.ts'
import { createWebhookSigner, readWhsecs, whsecProblem } from '../../shared/standard-webhook.ts'
import type { Notice, NoticeBody } from './notice-calls.ts'
import type { DueRequest } from './notice-deliveries.ts'

/** Never rejects. */
export type SendNotice = (request: DueRequest) => Promise<Sent>

const PATIENCE_MS = 10_000
/** Addresses are encrypted for this. */
export const SEALED_FOR = 'addresses of notices'

/** What a deployment sets of it. */
export interface SenderSettings {
  /** NOTICE_SECRET, the newest first. Empty, or one is none: webhooks cannot be signed. */
  signing: readonly string[]
}

/** `wrong`: takes what is wrong. */
export function readSenderSettings(
  env: Readonly<Record<string, unknown>>,
  wrong: string[] = [],
): SenderSettings {
  const { secrets: signing, problem } = readWhsecs(env.NOTICE_SECRET)
  if (problem !== undefined) wrong.push(`NOTICE_SECRET: ${problem}`)
  return { signing }
}

interface SenderDeps extends SenderSettings {
  /** AUTH_SECRETS. */
  secrets: readonly string[]
  /** If true, a token that may publish could have the edge POST to any server of its machine. */
  allowsLoopback: boolean
  clock: Clock
  fetch: typeof fetch
}

export function createNoticeSender({
  secrets,
  signing,
  allowsLoopback,
  ...deps
}: SenderDeps): SendNotice {
  const seal = createSeal(secrets, SEALED_FOR)
  const canSign = signing.length > 0 && signing.every((it) => whsecProblem(it) === undefined)
  const signer = canSign && createWebhookSigner(signing)
  return async ({ id, board, to, sealed, notice, at }) => {
    const url = sealed === undefined ? undefined : await seal.open(sealed)
    if (url === undefined) return failed('The address cannot be decrypted: set AUTH_SECRETS.')
    const { host, hostname } = new URL(url)
    if (!allowsLoopback && mayBeLoopback(hostname)) {
      return failed('Others reach this edge, so it sends nothing to its own machine.')
    }
    const post = (headers: Record<string, string>, body: string) =>
      postOnce({ url, headers, body, patienceMs: PATIENCE_MS, shownAs: host }, deps)
    const json = { 'Content-Type': 'application/json' }
    switch (to) {
      case 'webhook': {
        if (!signer) return failed(UNSIGNED)
        const body = bodyOf(notice, board, at)
        return await post({ ...json, ...(await signer.sign(id, deps.clock.now(), body)) }, body)
      }
      case 'ntfy':
        return await post(
          { 'Content-Type': 'text/plain', Title: 'Signalbox' },
          textOf(notice, board),
        )
      case 'slack':
        return await post(json, JSON.stringify({ text: forSlack(textOf(notice, board)) }))
      case 'mattermost':
        return await post(json, JSON.stringify({ text: forMattermost(textOf(notice, board)) }))
    }
  }
}

/** Why nothing is delivered to a webhook. */
export const UNSIGNED = 'No valid NOTICE_SECRET is set: nothing can sign.'

const failed = (error: string): Sent => ({ ok: false, error })

/** As the shop's events are. */
export function bodyOf(notice: Notice, board: string, at: number): string {
  const timestamp = new Date(at).toISOString()
  const body: NoticeBody = { type: 'BoardNotice', timestamp, data: { board, ...notice } }
  return JSON.stringify(body)
}

/** In a chat nobody reads more. */
const MAX_LINES = 20

/** One line a cause, below the board's name. */
export function textOf({ causes, more = 0, test }: Notice, board: string): string {
  const left = causes.length - MAX_LINES + more
  return [
    `Signalbox, ${board}:${test ? ' a test' : ''}`,
    ...causes.slice(0, MAX_LINES).map(causeLine),
    ...(left > 0 ? [`and ${left} more`] : []),
  ].join('\n')
}

/** A title could call everybody, or show one link and lead to another. */
const forSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const INVISIBLE = '\u200B'
const forMattermost = (text: string): string =>
  text.replaceAll('@', `@${INVISIBLE}`).replaceAll(/[\\[\]`*_~|<>]/g, '\\$&')
