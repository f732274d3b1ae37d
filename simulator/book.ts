// What a simulator booked, in a file: its payments, and the webhooks that were not accepted yet. A
// line for each change, and the last one of a payment counts.

import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { errorCode } from '../worker/shared/file-errors.ts'
import { consoleLog } from '../worker/shared/log.ts'
import type { Payment } from './payments.ts'
import type { Batch } from './webhooks.ts'

/** Webhooks of one transition, by the id of its event. */
export interface Sending {
  sending: string
  batches: readonly Batch[]
}

type Entry = { payment: Payment } | Sending | { sent: string }

export interface Book {
  /** What was booked before, the oldest first. */
  payments: readonly Payment[]
  sendings: readonly Sending[]
  write(entry: Entry): void
  close(): void
}

/**
 * Without a file nothing is kept. `edge`: its address, where what was booked before calls back: it
 * may have another port now, and a file that came with a folder must not name where to post to.
 */
export function openBook(file: string | undefined, edge: string | undefined): Book {
  if (file === undefined) {
    return { payments: [], sendings: [], write: () => undefined, close: () => undefined }
  }
  const payments = new Map<string, Payment>()
  const sendings = new Map<string, Sending>()
  for (const entry of entriesIn(file)) {
    if ('payment' in entry) payments.set(entry.payment.id, entry.payment)
    else if ('batches' in entry) sendings.set(entry.sending, entry)
    else sendings.delete(entry.sent)
  }
  const kept = [...[...payments.values()].map((payment) => ({ payment })), ...sendings.values()]
  writeFileSync(`${file}.tmp`, kept.map(lineOf).join(''), { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
  let fd: number | undefined = openSync(file, 'a')
  return {
    payments: [...payments.values()].map((payment) => callingBack(payment, edge)),
    sendings: [...sendings.values()].map(({ sending, batches }) => ({
      sending,
      batches: batches.map(({ afterMs, webhooks }) => ({
        afterMs,
        webhooks: webhooks.map((webhook) => ({ ...webhook, url: addressAt(edge, webhook.url) })),
      })),
    })),
    write(entry) {
      if (fd === undefined) return
      try {
        // At once: what was answered is there after a kill, too.
        writeSync(fd, lineOf(entry))
      } catch (error) {
        // A full disk ends the keeping, and not the simulator.
        consoleLog('error', 'simulator.not_kept', { file, error })
      }
    },
    close() {
      if (fd !== undefined) closeSync(fd)
      fd = undefined
    },
  }
}

/** It begins with the line break: half a line, of a full disk, damages no other one. */
const lineOf = (entry: Entry): string => `\n${JSON.stringify(entry)}`

function entriesIn(file: string): Entry[] {
  try {
    return readFileSync(file, 'utf8').split('\n').flatMap(entryOf)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Empty for a line that is not whole. */
function entryOf(line: string): Entry[] {
  try {
    return [JSON.parse(line) as Entry]
  } catch {
    return []
  }
}

const callingBack = ({ callbackUrl, ...payment }: Payment, edge: string | undefined): Payment =>
  callbackUrl === undefined ? payment : { ...payment, callbackUrl: addressAt(edge, callbackUrl) }

function addressAt(edge: string | undefined, url: string): string {
  const { pathname, search } = URL.parse(url) ?? { pathname: '/', search: '' }
  return Object.assign(new URL(edge ?? url), { pathname, search }).href
}
