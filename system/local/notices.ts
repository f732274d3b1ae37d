// Notices of a local system: which rules it publishes, and what signs them.

import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { isForThisMachine, mayBeLoopback } from '../../worker/shared/loopback.ts'
import { allTo, type NoticeRule } from '../../worker/shared/notice-rules.ts'
import { noticeProblems } from '../../worker/shared/notice-schemas.ts'
import { derived } from '../data/secret.ts'
import { StartError } from '../start-error.ts'

/** Those of signalbox.config.ts, and all of them to the address of --notify. Throws StartError. */
export function noticesOf(
  { notices = [] }: SignalboxFile,
  { notify }: { notify?: string | undefined },
): readonly NoticeRule[] {
  if (notify === undefined) return notices
  const all = allTo(notify)
  const rules = [...notices, ...all]
  // The address may be a secret.
  const [ofAddress] = noticeProblems(all.slice(0, 1)).map((it) =>
    it.replace(/^.*webhook /, '--notify '),
  )
  // No edge takes a board with more of them.
  const [ofAll] = noticeProblems(rules).map((it) => `${it}, with those of --notify`)
  const problem = ofAddress ?? ofAll
  if (problem !== undefined) throw new StartError('bad_configuration', `${problem}.`)
  return rules
}

/** A warning where the edge refuses to deliver what is addressed to its own machine. */
export function undeliveredWarning(
  rules: readonly NoticeRule[],
  { HOST = '', SIGNALBOX_PUBLIC_URL }: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (isForThisMachine(HOST, SIGNALBOX_PUBLIC_URL)) return undefined
  const own = rules
    .flatMap(({ to }) => ('command' in to ? [] : Object.values(to)))
    .map((url: string) => URL.parse(url))
    .find((url) => url && mayBeLoopback(url.hostname))
  if (!own) return undefined
  const why = 'Others reach this edge, so it sends nothing to its own machine'
  return `${why}: notices to ${own.host} are not delivered.`
}

/** Signs notices to webhooks if no NOTICE_SECRET was given. `secret`: of the data folder. */
export const noticeSecret = (secret: string): string =>
  `whsec_${derived(secret, 'notices').toString('base64')}`

/** For local.json: what receivers on this machine verify with. */
export function describeNotices({
  NOTICE_SECRET = '',
}: Readonly<Record<string, string | undefined>>): { notices?: { secret: string } } {
  const [secret] = NOTICE_SECRET.split(/\s+/).filter(Boolean)
  return secret === undefined ? {} : { notices: { secret } }
}
