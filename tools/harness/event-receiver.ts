// An endpoint of a host application for Standard Webhooks, on a real port. The package
// `standardwebhooks` verifies the requests, not our own code.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import type { PaymentEvents } from '../../worker/payments/domain/types.ts'

/** The fields that any event has. */
export type EventData = Partial<AllOf<PaymentEvents[keyof PaymentEvents]>>

type AllOf<One> = (One extends unknown ? (one: One) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

export interface ReceivedEvent {
  /** `webhook-id`: the same for every attempt. */
  id: string
  type: string
  timestamp: string
  data: EventData
  /** The status of our response. */
  status: number
  /** Why the signature is invalid; undefined: it is valid. */
  forged?: string
}

type Refusal = (event: ReceivedEvent) => number | undefined | Promise<number>

export class EventReceiver {
  readonly events: ReceivedEvent[] = []
  url = ''
  #refusal: Refusal = () => undefined
  readonly #webhook: Webhook
  readonly #server: Server

  constructor(secret: string) {
    this.#webhook = new Webhook(secret)
    // A sender must not use a connection at the moment in which it is closed for being idle.
    const options = { keepAliveTimeout: 0 }
    this.#server = createServer(options, (request, response) => {
      const receive = async (body: string) => {
        const event = this.#read(body, request.headers as Record<string, string>)
        event.status = (await this.#refusal(event)) ?? 204
        this.events.push(event)
        response.writeHead(event.status).end()
      }
      // An edge that is killed may have sent half of it.
      void text(request).then(receive, () => response.destroy())
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`
  }

  /** The status for an event that is refused. Undefined: it is accepted, now or a little later. */
  refuse(refusal: Refusal): void {
    this.#refusal = refusal
  }

  takeAll(): void {
    this.#refusal = () => undefined
  }

  /** All attempts to deliver the events of a payment's status, in order. */
  of(transactionId: string): ReceivedEvent[] {
    return this.events.filter(
      ({ type, data }) => data.transaction?.id === transactionId && type !== 'AlertRaised',
    )
  }

  /** The kinds of accepted alerts of a payment. */
  alertsOf(transactionId: string): string[] {
    return this.events.flatMap(({ type, status, data: { transaction, alert } }) =>
      type === 'AlertRaised' && status < 300 && alert && transaction?.id === transactionId
        ? [alert.kind]
        : [],
    )
  }

  /** The types of accepted events. */
  typesOf(transactionId: string): string[] {
    const taken = this.of(transactionId).filter(({ status }) => status < 300)
    return taken.map(({ type }) => type)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #read(body: string, headers: Record<string, string>): ReceivedEvent {
    const { type, timestamp, data } = JSON.parse(body)
    const event = { id: headers['webhook-id'] ?? '', type, timestamp, data, status: 0 }
    try {
      this.#webhook.verify(body, headers)
      return event
    } catch (error) {
      return { ...event, forged: String(error) }
    }
  }
}
