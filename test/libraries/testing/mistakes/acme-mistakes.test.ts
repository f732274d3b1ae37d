// Mistakes in a sound driver: that of docs/drivers.md, with a few words changed. Each must fail the
// contract of drivers, in the case that names it.

import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixtures } from '../../../../examples/worker/acme-fixtures.ts'
import { gatewayContract } from '../../../../libraries/testing/gateway-contract.ts'
import type { GatewayFixtures } from '../../../../libraries/testing/gateway-fixtures.ts'
import type { Driver } from '../../../../worker/payments/gateways/gateway.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

/** What it says in the driver, and what is said instead. */
type Words = Record<string, string>

const WRONG_SETTINGS = {
  base_url: 'https://api.acme.example',
  merchant: 'key-1',
  signing_secret: 'secret-1',
}
const ORDER = 'order: reference, amount, currency'
const READ = '...stateOf(read, call),'

/** Mistakes, by the name of a case that fails. */
const PLANTED: Record<string, Record<string, Words>> = {
  'and both references': {
    'an amount times 100 in the request': {
      [ORDER]: 'order: reference, amount: amount * 100, currency',
    },
    'a fixed currency in the request': { [ORDER]: "order: reference, amount, currency: 'USD'" },
  },
  'reads the status, the amount and the currency of a payment': {
    'an amount times 100 in what is read': {
      'amount: z.int().nonnegative(),':
        'amount: z.int().nonnegative().transform((amount) => amount * 100),',
    },
    'a fixed currency in a status': { 'currency: read.currency': "currency: 'USD'" },
    'the amount of a status copied from the charge': {
      'checkStatus({ gatewayTransactionId }': 'checkStatus({ gatewayTransactionId, amount }',
      [READ]: `${READ} amount,`,
    },
    'a status that is always Pending': { [READ]: `${READ} status: 'Pending' as const,` },
    'a part as the whole': { "{ status: 'PartiallyRefunded',": "{ status: 'Refunded'," },
  },
  'reads a callback': {
    'a fixed currency in a callback': { 'currency: reported.currency': "currency: 'USD'" },
    'the present as the time of an event': {
      'occurredAt: Number(time) * 1_000': 'occurredAt: Date.now()',
    },
    'seconds for milliseconds': { 'Number(time) * 1_000': 'Number(time)' },
    'another id than that of the callback': {
      'gatewayTransactionId: reported.id': 'gatewayTransactionId: reported.order',
    },
  },
  'moves nothing for a status that it does not know': {
    'an unknown state as Paid': { "status ?? 'Pending'": "status ?? 'Paid'" },
    'a state that every object has': {
      'STATUSES.get(state)': 'Object.fromEntries(STATUSES)[state]',
    },
  },
  'that is null': {
    'an amount of null as zero': { 'amount: z.int().nonnegative()': 'amount: z.coerce.number()' },
  },
  'that is missing in a genuine callback': {
    'a missing amount as zero': {
      'amount: z.int().nonnegative()': 'amount: z.int().nonnegative().default(0)',
    },
    'a callback that cannot be read, and names no payment': {
      ', ...(gatewayTransactionId && { gatewayTransactionId })': '',
    },
    'a callback that cannot be read as one of nothing': {
      'return { unreadable, ...(gatewayTransactionId && { gatewayTransactionId }) }':
        'return { ignored: unreadable }',
    },
  },
  'currency that is missing': {
    'a missing currency as dollars': {
      'currency: z.string()': "currency: z.string().default('USD')",
    },
  },
  'reads no amount below zero': {
    'an amount below zero': { 'amount: z.int().nonnegative()': 'amount: z.int()' },
  },
  'with more decimals than its currency': {
    'a part of a cent, rounded': {
      'amount: z.int().nonnegative()':
        'amount: z.number().nonnegative().transform((amount) => Math.round(amount))',
    },
  },
  'escapes what it puts into an address': {
    'an id in an address as it came': { 'encodeURIComponent(id)': 'id' },
  },
  'repeats a refund only as the same request': {
    'a refund that is sent again without its id': {
      "headers: { ...headers, 'idempotency-key': refundId }": 'headers',
    },
  },
  'sends a refund again as the same request': {
    'a refund with a new key at every call': {
      "'idempotency-key': refundId": "'idempotency-key': crypto.randomUUID()",
    },
    'the key of a payment as that of its refund': {
      "'idempotency-key': refundId": "'idempotency-key': gatewayTransactionId",
    },
  },
  'sends a charge again as the same request': {
    'a charge with a new field at every call': {
      [ORDER]: 'nonce: crypto.randomUUID(), order: reference, amount, currency',
    },
  },
  'takes only the gateway’s own refusal of a cancellation for one': {
    'any answer as a cancellation that was made': {
      "if (!isSuccess(reply)) throw unexpectedReply('payments/{id}/cancel', reply)": '',
    },
  },
  'reports that the gateway refuses to cancel': {
    'a refusal to cancel as an unknown outcome': {
      'if (error) throw new GatewayRefusedException(error)': '',
    },
  },
  'reads no status in a 4xx': {
    'every 4xx as a payment that is not there': {
      'reply.status === 404': 'reply.status >= 400',
    },
  },
  'refuses every forged callback': {
    'a callback that is parsed before it is verified': {
      'const isGenuine =': 'JSON.parse(body)\n        const isGenuine =',
    },
    'a signature that nobody compares': { 'if (!isGenuine)': 'if (isGenuine === null)' },
  },
  'takes only the gateway’s own refusal of a charge for one': {
    'any 4xx as a refusal': {
      'status !== 422 || !refused.success': 'status < 400',
      'refusal(refused.data.code, refused.data.message)': "refusal(String(status), 'No.')",
    },
  },
  'reports a refusal of the gateway as one': {
    'a refusal as an unknown outcome': { 'if (error) return { ok: false, error }': '' },
  },
  'sends the external reference': {
    'no external reference in the request': {
      "'idempotency-key': externalReferenceId": "'idempotency-key': reference",
    },
  },
  'names the fields with values of the payer': {
    'values of the payer that are not private': {
      "privateFields: ['payer', 'email']": 'privateFields: []',
    },
  },
  'names each setting as a secret that is one': {
    'a secret setting that is not named as one': { api_key: 'merchant' },
  },
  'tells a refund that is accepted as that': {
    'a refund that is accepted as one that was made': {
      "isDone: state === 'done'": 'isDone: true',
    },
  },
  'does not take a refusal for one of an earlier request': {
    'a refusal after a lost answer as one of both': {
      '{ ok: false, error }': '{ ok: false, error, coversEarlier: true }',
    },
  },
  'gives one event the same id at every delivery, and other events other ids': {
    'one id for all events of a payment': { 'eventId: event': 'eventId: reported.id' },
  },
  'verifies the bytes that came, and not what they mean': {
    'a signature over the parsed body': { '`, bytes]': '`, JSON.stringify(JSON.parse(body))]' },
  },
}
const MISTAKES = Object.entries(PLANTED).flatMap(([fails, planted]) =>
  Object.entries(planted).map(([mistake, words]) => ({ mistake, words, fails })),
)

let folder: string
let source: string
beforeAll(async () => {
  folder = tempFolder()
  const text = await readFile('examples/worker/acme.ts', 'utf8')
  // Outside of a clone, nothing has these names.
  source = text
    .replace("'signalbox/worker'", JSON.stringify(resolve('tools/package/worker.ts')))
    .replace("'zod'", JSON.stringify(resolve('node_modules/zod/index.js')))
})

async function driverWith(words: Words, name: string): Promise<Driver> {
  let text = source
  for (const [sound, mistaken] of Object.entries(words)) {
    expect(text).toContain(sound)
    text = text.replaceAll(sound, mistaken)
  }
  const file = join(folder, `${name.replaceAll(' ', '-')}.ts`)
  await writeFile(file, text)
  const { acme } = (await import(file)) as { acme: Driver }
  return acme
}

/** The names of the cases that fail, of those whose name has these words. */
async function failing(own: GatewayFixtures, words = ''): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of gatewayContract(own)) {
    if (name.includes(words)) await run().catch(() => failed.push(name))
  }
  return failed
}

describe('the contract of drivers', () => {
  it('is passed by the driver without a mistake', async () => {
    expect(await failing({ ...fixtures, driver: await driverWith({}, 'sound') })).toEqual([])
  })

  it.each(MISTAKES)('finds $mistake', async ({ mistake, words, fails }) => {
    const driver = await driverWith(words, mistake)
    const settings = words.api_key === undefined ? fixtures.settings : WRONG_SETTINGS
    const found = await failing({ ...fixtures, driver, settings }, fails)
    expect(found, `let in: ${mistake}`).not.toEqual([])
  })
})
