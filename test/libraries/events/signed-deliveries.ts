// A receiver of events, and deliveries that the standard's own library signs, not our code.

import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import {
  createEventReceiver,
  type HandleEventsOptions,
} from '../../../libraries/events/handle-events.ts'
import { transaction } from '../../support/payments.ts'

export const secret = () => `whsec_${randomBytes(32).toString('base64')}`
export const SECRET = secret()
export const NOW = 1_800_000_000_000

export interface Delivery {
  id?: string
  type?: string
  key?: string
  signedAt?: number
  body?: string
  headers?: Record<string, string>
}

export function delivery(own: Delivery = {}): Request {
  const { id = '01EVENT', key = SECRET, signedAt = NOW, type = 'PaymentSucceeded' } = own
  const data = { transaction: transaction({ status: 'Paid' }) }
  const timestamp = new Date(NOW).toISOString()
  const { body = JSON.stringify({ type, timestamp, data }) } = own
  const signature = new Webhook(key).sign(id, new Date(signedAt), body)
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(signedAt / 1_000)),
    'webhook-signature': signature,
    ...own.headers,
  }
  return new Request('https://shop.test/events', { method: 'POST', headers, body })
}

export function receiver(own: Partial<HandleEventsOptions> = {}) {
  const clock = { now: NOW }
  const handled: string[] = []
  const errors: unknown[] = []
  const options: HandleEventsOptions = {
    secrets: SECRET,
    on: { PaymentSucceeded: (_, { id }) => handled.push(id) },
    onError: (error) => errors.push(error),
    ...own,
  }
  return { clock, handled, errors, receive: createEventReceiver(options, () => clock.now) }
}

export const answerOf = async (response: Response) => {
  const text = await response.text()
  return [response.status, text === '' ? undefined : JSON.parse(text).code]
}
