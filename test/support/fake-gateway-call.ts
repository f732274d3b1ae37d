// A gateway's answers without a network: what was asked is kept, and each answer is the test's own.

import { GatewayUnavailableException } from '../../worker/payments/domain/exceptions.ts'
import type {
  GatewayCall,
  GatewayReply,
  GatewayRequest,
} from '../../worker/payments/gateways/gateway.ts'

type Answer = (request: GatewayRequest) => GatewayReply

export class FakeGatewayCall implements GatewayCall {
  readonly requests: GatewayRequest[] = []
  readonly warnings: { event: string; fields: Record<string, unknown> }[] = []
  readonly #answers: Answer[]

  /** One for each request, in their order; a request too many is unavailable. */
  constructor(...answers: readonly (GatewayReply | Answer)[]) {
    this.#answers = answers.map((answer) => (typeof answer === 'function' ? answer : () => answer))
  }

  async send(request: GatewayRequest): Promise<GatewayReply> {
    this.requests.push(request)
    const answer = this.#answers.shift()
    if (!answer) throw new GatewayUnavailableException('Nobody answers')
    const reply = answer(request)
    // As the port has it: these never reach a driver.
    if (reply.status >= 500 || [408, 425, 429].includes(reply.status)) {
      throw new GatewayUnavailableException(`Answered with ${reply.status}`)
    }
    return reply
  }

  warn(event: string, fields: Record<string, unknown>): void {
    this.warnings.push({ event, fields })
  }
}

/** `METHOD url` of each request. */
export const asked = ({ requests }: FakeGatewayCall): string[] =>
  requests.map(({ method, url }) => `${method} ${url}`)
