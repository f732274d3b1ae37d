// A gateway without a network: it records the requests, and sends the responses of the test.

import { GatewayUnavailableException } from '../../worker/payments/domain/exceptions.ts'
import type {
  CountedReply,
  GatewayCall,
  GatewayReply,
  GatewayRequest,
} from '../../worker/payments/gateways/gateway.ts'

/** Sent at the beginning of all time, if the test does not say when. */
type Reply = Omit<GatewayReply, 'sentAt'> & Partial<GatewayReply>
type Answer = (request: GatewayRequest) => Reply

export class FakeGatewayCall implements GatewayCall {
  readonly requests: GatewayRequest[] = []
  readonly warnings: { event: string; fields: Record<string, unknown> }[] = []
  readonly #answers: Answer[]

  /** The responses, one for each request. Further requests are unavailable. */
  constructor(...answers: readonly (Reply | Answer)[]) {
    this.#answers = answers.map((answer) => (typeof answer === 'function' ? answer : () => answer))
  }

  async send(request: GatewayRequest): Promise<CountedReply> {
    this.requests.push(request)
    const answer = this.#answers.shift()
    if (!answer) throw new GatewayUnavailableException('Nobody answers')
    const reply = answer(request)
    // The port says that these never reach a driver.
    if (reply.status >= 500 || [408, 425, 429].includes(reply.status)) {
      throw new GatewayUnavailableException(`Answered with ${reply.status}`)
    }
    return { sentAt: 0, ...reply, unanswered: 0 }
  }

  warn(event: string, fields: Record<string, unknown>): void {
    this.warnings.push({ event, fields })
  }
}

/** `METHOD url` of each request. */
export const asked = ({ requests }: FakeGatewayCall): string[] =>
  requests.map(({ method, url }) => `${method} ${url}`)
