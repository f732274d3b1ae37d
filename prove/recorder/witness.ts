// What the gateways and the shop see: the answers to webhooks, on their way back; the lines that
// listeners leave in the edge's log; and what reaches the shop's endpoint.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReceivedEvent } from '../../test/support/event-receiver.ts'
import type { House } from './house.ts'
import type { Answered } from './link.ts'
import type { Recorder } from './record.ts'
import type { Seeded } from './seeded.ts'

const LOOK_MS = 50
/** Of events that reach the endpoint: it is a program of the shop, and fails at times. */
const REFUSED = 0.05

export function witness(
  house: House,
  recorder: Recorder,
  { random, onEvent }: { random: Seeded; onEvent: (event: ReceivedEvent) => void },
): { end(): Promise<void> } {
  house.links.webhooks.onAnswer = (answered) => recorder.write(webhookOf(answered))
  house.receiver.refuse((event) => {
    const status = event.forged === undefined && random.next() >= REFUSED ? 204 : 500
    const { id, type, data } = event
    recorder.write({
      kind: 'endpoint',
      id,
      type,
      status,
      ...(event.forged && { forged: true }),
      data,
    })
    if (status === 204) onEvent(event)
    return status
  })
  let isOver = false
  const { edge, twin } = house.processes
  const following = Promise.all(
    [edge, twin].map(({ logFile }) =>
      follow(
        logFile,
        () => isOver,
        (line) => hear(line, recorder),
      ),
    ),
  )
  return {
    async end() {
      isOver = true
      await following
    },
  }
}

/** The gateway's own words, as far as they name the event. */
function webhookOf({ passed: { url, body }, status, answer }: Answered) {
  const gateway = /^\/payments\/webhooks\/([^/?]+)/.exec(url)?.[1] ?? ''
  const sent = JSON.parse(body) as { webhook_token?: string; id?: string; status?: string }
  const told = { kind: 'webhook', gateway, status, answer }
  if (sent.webhook_token === undefined) return { ...told, payment: sent.id, says: sent.status }
  const [, claims = ''] = sent.webhook_token.split('.')
  const { eventId, data } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
    eventId: string
    data: { transactionId: string; currentStatus: string }
  }
  return { ...told, payment: data.transactionId, eventId, says: data.currentStatus }
}

function hear(line: string, recorder: Recorder): void {
  if (!line.startsWith('{"listener"')) return
  const { listener, transaction } = JSON.parse(line) as { listener: string; transaction: object }
  recorder.write({ kind: 'listener', type: listener, transaction })
}

/** Whole lines as they come, and what came until it is over. */
async function follow(
  file: string,
  isOver: () => boolean,
  onLine: (line: string) => void,
): Promise<void> {
  let read = 0
  let rest = ''
  for (let last = false; ; ) {
    const { size } = await stat(file).catch(() => ({ size: 0 }))
    if (size > read) {
      for await (const chunk of createReadStream(file, { start: read, end: size - 1 })) {
        rest += (chunk as Buffer).toString()
      }
      read = size
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
    }
    if (last) return
    last = isOver()
    if (!last) await sleep(LOOK_MS)
  }
}
