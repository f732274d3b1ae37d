// What an author of a driver reads whose fixtures are those of an earlier version, or incomplete.

import { describe, expect, it } from 'vitest'
import { fixtures } from '../../../examples/worker/acme-fixtures.ts'
import { gatewayContract } from '../../../libraries/testing/gateway-contract.ts'
import type { GatewayFixtures } from '../../../libraries/testing/gateway-fixtures.ts'

/** The messages of the cases that fail, of those with these words in their name. */
async function failures(own: GatewayFixtures, words = ''): Promise<string[]> {
  const messages: string[] = []
  for (const { name, run } of gatewayContract(own)) {
    if (name.includes(words)) await run().catch((error: Error) => messages.push(error.message))
  }
  return messages
}

const { callback, healthy, isCancel: _, ...others } = fixtures

describe('the contract of drivers', () => {
  it('passes without the fixtures that are optional', async () => {
    const isMoney: GatewayFixtures['isMoney'] = ({ method }) => method === 'POST'
    expect(await failures({ ...others, callback, healthy, isMoney })).toEqual([])
  })

  it('says that a callback is to be edited before it is signed', async () => {
    const unedited: GatewayFixtures = {
      ...fixtures,
      callback: (held, event) => callback(held, { ...event, edit: (raw) => raw }),
    }
    const messages = await failures(unedited)
    expect(messages).not.toEqual([])
    for (const message of messages) expect(message).toContain('signs event.edit(raw)')
  })

  it('says with how many decimals the fixtures write an amount', async () => {
    const tenfold: GatewayFixtures = {
      ...fixtures,
      healthy: (request, held) =>
        healthy(request, held.currency === 'KWD' ? { ...held, amount: held.amount * 10 } : held),
    }
    const [message] = await failures(tenfold, 'reads amounts in KWD')
    expect(message).toContain('with 3 decimals')
  })

  it('says which fixture recognizes a cancellation', async () => {
    const [message] = await failures({ ...fixtures, isCancel: () => false }, 'cancels by one')
    expect(message).toContain('fixture `isCancel`')
  })
})
