// The part of the contract about ids: those of a payment reach the gateway whole, and what a driver
// returns is what the gateway said, never what it was asked.

import assert from 'node:assert/strict'
import { replaying, without } from './gateway-edits.ts'
import { assertAsked, assertEqual, names } from './gateway-requests.ts'
import type { Answer, GatewaySetup, Sent } from './gateway-setup.ts'
import { type It, type Subject, UNAVAILABLE } from './gateway-subject.ts'

/** What it adds to an id: unescaped, it would be another path, a query and a fragment. */
const SPECIAL = '/../x?y=z&a#b%2f'

export function idsOf(subject: Subject, it: It): void {
  const { gateway, fixtures, own } = subject
  const { refund, ids } = fixtures

  it('sends the external reference, by which a repeated charge is found again', async () => {
    const setup = subject.setup()
    await subject.charge(setup)
    const isSent = setup.sent
      .filter(subject.isMoney)
      .some((sent) => names(sent, own.externalReferenceId))
    assert.ok(isSent, 'externalReferenceId is not sent')
  })

  if (gateway.chargeRepeatableForMs > 0) {
    it('sends a charge again as the same request', async () => {
      const [first, second] = [subject.setup(), subject.setup()]
      await subject.charge(first)
      await subject.charge(second, { earlier: 'unknown' })
      assertEqual([...first.sent, ...second.sent].filter(subject.isMoney))
    })
  }

  if (refund) {
    it('sends a refund again as the same request, and another one with its own id', async () => {
      const [first, second, third] = [subject.setup(), subject.setup(), subject.setup()]
      assert.ok((await subject.refund(first)).ok, 'the healthy gateway makes it')
      await subject.refund(second, { earlier: 'unknown' })
      assertAsked(first.sent, refund.gatewayTransactionId)
      assert.equal(first.sent.filter(subject.isMoney).length, 1, 'one request')
      assertEqual([...first.sent, ...second.sent].filter(subject.isMoney))
      // A gateway makes only one refund of a whole payment.
      if (gateway.refunds === 'full') return
      const refundId = `${refund.refundId}-2`
      await subject.refund(third, { refundId })
      const another = third.sent.filter(subject.isMoney)
      assert.ok(another.length > 0 && another.every((sent) => names(sent, refundId)), 'refundId')
    })
  }

  for (const [does, ask] of Object.entries(askingOf(subject))) {
    it(`escapes what it puts into an address where it ${does}`, async () => {
      const [plain, special] = [subject.setup(subject.open), subject.setup(subject.open)]
      await ask(plain, '').catch(asIs)
      // It may refuse such an id, and then sends less.
      await ask(special, SPECIAL).catch(asIs)
      for (const [at, sent] of special.sent.entries()) {
        assert.deepEqual(addressOf(sent), addressOf(plain.sent[at]))
      }
    })
  }

  if (gateway.checkStatus) {
    /** Undefined: it has seen that this is no answer about the payment. */
    const said = async (answer: Answer) => {
      const setup = subject.setup(own, { everywhere: answer })
      const outcome = await subject.check(setup).catch((error: unknown) => {
        assert.equal(Object(error).code, UNAVAILABLE.code)
      })
      return outcome?.known ? outcome : undefined
    }

    it('returns the ids that the gateway said, and not those that it was asked for', async () => {
      const another = { ...own, id: ids[1], externalReferenceId: 'another-external-reference' }
      const answer = await said((request) => {
        const mistaken = request.url.replaceAll(encodeURIComponent(own.id), another.id)
        return fixtures.healthy(new Request(mistaken, request), another)
      })
      assert.notEqual(answer?.gatewayTransactionId, own.id, 'gatewayTransactionId')
      assert.notEqual(answer?.externalReferenceId, own.externalReferenceId, 'externalReferenceId')
    })

    it('returns no id that the gateway did not say', async () => {
      for (const name of ['id', 'externalReferenceId'] as const) {
        const answer = await said(
          replaying(
            (request) => fixtures.healthy(request, own),
            (body) => without(body, (text) => text === own[name]),
          ),
        )
        const read = { id: answer?.gatewayTransactionId, ...answer }
        assert.equal(read[name], undefined, name)
      }
    })
  }
}

/** By what it does: the calls with an id, or a reference, that ends so. */
function askingOf(
  subject: Subject,
): Record<string, (setup: GatewaySetup, end: string) => Promise<unknown>> {
  const { gateway, fixtures, own } = subject
  const { charge, refund } = fixtures
  return {
    charges: (setup, end) => subject.charge(setup, { reference: `${charge.reference}${end}` }),
    ...(refund && {
      refunds: (setup, end) => {
        const gatewayTransactionId = `${refund.gatewayTransactionId}${end}`
        return subject.refund(setup, { gatewayTransactionId })
      },
    }),
    ...(gateway.checkStatus && {
      'asks for a status': (setup, end) => subject.check(setup, `${own.id}${end}`),
    }),
    ...(gateway.cancel && { cancels: (setup, end) => subject.cancel(setup, `${own.id}${end}`) }),
    ...(!subject.isSigned && {
      'reads a callback': async (setup, end) => {
        const made = await fixtures.callback({ ...own, id: `${own.id}${end}` }, subject.event)
        return made && (await subject.receive(setup, made.request))
      },
    }),
  }
}

/** Its path, and the names of its query: values there may be signatures of the rest. */
function addressOf({ path }: Pick<Sent, 'path'> = { path: '' }): object {
  const { pathname, searchParams } = new URL(path, 'https://gateway.test')
  return {
    path: pathname.replaceAll(encodeURIComponent(SPECIAL), ''),
    query: [...searchParams.keys()],
  }
}

const asIs = (error: unknown): unknown => error
