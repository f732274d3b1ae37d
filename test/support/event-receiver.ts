// An endpoint of a host application for the events of payments.

import { type ReceivedWebhook, WebhookReceiver } from '../../tools/harness/webhook-receiver.ts'
import type { PaymentEvents } from '../../worker/payments/domain/types.ts'

/** The fields that any event has. */
type EventData = Partial<AllOf<PaymentEvents[keyof PaymentEvents]>>

type AllOf<One> = (One extends unknown ? (one: One) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

interface Event {
  type: string
  timestamp: string
  data: EventData
}

interface ReceivedEvent extends Event, Omit<ReceivedWebhook<Event>, 'body'> {
  /** The status of our response. */
  status: number
}

type Refusal = (event: ReceivedEvent) => number | undefined | Promise<number>

export class EventReceiver extends WebhookReceiver<Event> {
  readonly events: ReceivedEvent[] = []
  #refusal: Refusal = () => undefined

  override receive = async ({ body, ...received }: ReceivedWebhook<Event>): Promise<number> => {
    const event = { ...body, ...received, status: 0 }
    event.status = (await this.#refusal(event)) ?? 204
    this.events.push(event)
    return event.status
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

  /** The types of accepted events. */
  typesOf(transactionId: string): string[] {
    const taken = this.of(transactionId).filter(({ status }) => status < 300)
    return taken.map(({ type }) => type)
  }
}
