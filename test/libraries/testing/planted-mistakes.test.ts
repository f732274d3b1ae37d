// Mistakes in a sound driver: that of docs/drivers.md, with a few words changed. Each must fail the
// contract of drivers, in the case that names it.

import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixtures } from '../../../examples/worker/acme-fixtures.ts'
import { type GatewayCase, gatewayContract } from '../../../libraries/testing/gateway-contract.ts'
import type { GatewayFixtures } from '../../../libraries/testing/gateway-fixtures.ts'
import type { Driver } from '../../../worker/payments/gateways/gateway.ts'
import { tempFolder } from '../../support/temp-folder.ts'

interface Planted {
  mistake: string
  /** Texts of the driver, and what takes their place. */
  words: Record<string, string>
  /** In the name of a case that fails. */
  fails: string
  /** Other fixtures, where the mistake is one of settings. */
  settings?: Record<string, string>
}

const STATUS = 'reads the status, the amount and the currency of a payment'
const CALLBACK = 'reads a callback'

const PLANTED: Planted[] = [
  {
    mistake: 'an amount times 100 in the request',
    words: {
      'order: reference, amount, currency': 'order: reference, amount: amount * 100, currency',
    },
    fails: 'and both references',
  },
  {
    mistake: 'an amount times 100 in what is read',
    words: { 'amount: z.int(),': 'amount: z.int().transform((amount) => amount * 100),' },
    fails: STATUS,
  },
  {
    mistake: 'a fixed currency in a callback',
    words: { 'currency: reported.currency': "currency: 'USD'" },
    fails: CALLBACK,
  },
  {
    mistake: 'a fixed currency in a status',
    words: { 'currency: read.currency': "currency: 'USD'" },
    fails: STATUS,
  },
  {
    mistake: 'a fixed currency in the request',
    words: { 'order: reference, amount, currency': "order: reference, amount, currency: 'USD'" },
    fails: 'and both references',
  },
  {
    mistake: 'an unknown state as Paid',
    words: { "status ?? 'Pending'": "status ?? 'Paid'" },
    fails: 'moves nothing for a status that it does not know',
  },
  {
    mistake: 'the present as the time of an event',
    words: { 'occurredAt: Number(time) * 1_000': 'occurredAt: Date.now()' },
    fails: CALLBACK,
  },
  {
    mistake: 'any 4xx as a refusal',
    words: {
      'status !== 422 || !refused.success': 'status < 400',
      'refusal(refused.data.code, refused.data.message)': "refusal(String(status), 'No.')",
    },
    fails: 'takes only the gateway’s own refusal for one',
  },
  {
    mistake: 'a refusal as an unknown outcome',
    words: { 'if (error) return { ok: false, error }': '' },
    fails: 'reports a refusal of the gateway as one',
  },
  {
    mistake: 'the amount of a status copied from the charge',
    words: {
      'checkStatus({ gatewayTransactionId }': 'checkStatus({ gatewayTransactionId, amount }',
      '...stateOf(read, call),': '...stateOf(read, call), amount,',
    },
    fails: STATUS,
  },
  {
    mistake: 'no external reference in the request',
    words: { "'idempotency-key': externalReferenceId": "'idempotency-key': reference" },
    fails: 'sends the external reference',
  },
  {
    mistake: 'seconds for milliseconds',
    words: { 'Number(time) * 1_000': 'Number(time)' },
    fails: CALLBACK,
  },
  {
    mistake: 'a status that is always Pending',
    words: { '...stateOf(read, call),': "...stateOf(read, call), status: 'Pending' as const," },
    fails: STATUS,
  },
  {
    mistake: 'values of the payer that are not private',
    words: { "privateFields: ['payer', 'email']": 'privateFields: []' },
    fails: 'names the fields with values of the payer',
  },
  {
    mistake: 'a secret setting that is not named as one',
    words: { api_key: 'merchant' },
    settings: {
      base_url: 'https://api.acme.example',
      merchant: 'key-1',
      signing_secret: 'secret-1',
    },
    fails: 'names each setting as a secret that is one',
  },
  {
    mistake: 'another id than that of the callback',
    words: { 'gatewayTransactionId: reported.id': 'gatewayTransactionId: reported.order' },
    fails: CALLBACK,
  },
  {
    mistake: 'a refund that is accepted as one that was made',
    words: { "isDone: state === 'done'": 'isDone: true' },
    fails: 'tells a refund that is accepted as that',
  },
  {
    mistake: 'a part as the whole',
    words: { "{ status: 'PartiallyRefunded',": "{ status: 'Refunded'," },
    fails: STATUS,
  },
  {
    mistake: 'a refusal after a lost answer as one of both',
    words: { '{ ok: false, error }': '{ ok: false, error, coversEarlier: true }' },
    fails: 'does not take a refusal for one of an earlier request',
  },
  {
    mistake: 'one id for all events of a payment',
    words: { 'eventId: event': 'eventId: reported.id' },
    fails: 'gives one event the same id at every delivery, and other events other ids',
  },
  {
    mistake: 'a signature over the parsed body',
    words: { '`, bytes]': '`, JSON.stringify(JSON.parse(body))]' },
    fails: 'verifies the bytes that came, and not what they mean',
  },
]

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

async function driverWith(words: Record<string, string>, name: string): Promise<Driver> {
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

/** The names of the cases that fail. */
async function failing(own: GatewayFixtures): Promise<string[]> {
  const outcome = async ({ name, run }: GatewayCase) =>
    run().then(
      () => [],
      () => [name],
    )
  const failed: string[] = []
  for (const each of gatewayContract(own)) failed.push(...(await outcome(each)))
  return failed
}

describe('the contract of drivers', () => {
  it('is passed by the driver without a mistake', async () => {
    expect(await failing({ ...fixtures, driver: await driverWith({}, 'sound') })).toEqual([])
  })

  it.each(PLANTED)('names $mistake', async ({ mistake, words, fails, settings }) => {
    const driver = await driverWith(words, mistake)
    const own = { ...fixtures, driver, ...(settings && { settings }) }
    expect(await failing(own)).toContainEqual(expect.stringContaining(fails))
  })
})
