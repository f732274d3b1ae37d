// The part of the contract about what nobody may read: secrets of the shop in anything that is
// logged, answered or part of an address, and values of the payer in what is stored.

import assert from 'node:assert/strict'
import { maskError, rawMask } from '../../worker/payments/mask.ts'
import { isSecretName } from '../../worker/shared/secrets.ts'
import type { HeldPayment } from './gateway-fixtures.ts'
import { addressesIn } from './gateway-requests.ts'
import { type Answer, type GatewaySetup, json, page } from './gateway-setup.ts'
import { type Faults, type It, REFUSED, type Subject, UNKNOWN_STATES } from './gateway-subject.ts'

/** A gateway that repeats what it was sent, in a page or as a refusal of the credentials. */
const ECHOES: readonly Answer[] = [
  async (request) => page(await echoOf(request), 500),
  async (request) => {
    const message = await echoOf(request)
    const errors = { code: 'unauthorized', error: { message }, errors: [{ title: message }] }
    return json({ message, ...errors }, 401)
  },
  async (request) => json({ echo: await echoOf(request) }),
]

async function echoOf(request: Request): Promise<string> {
  const headers = [...request.headers].join('\n')
  return `${request.url}\n${headers}\n${await request.text()}`
}

export function secretsOf(subject: Subject, it: It): void {
  const { fixtures, gateway, own } = subject
  const { settings, hidden } = fixtures
  const secrets = Object.entries(settings)
    .filter(([setting]) => isSecretName(setting))
    .flatMap(([, value]) => value.split(/\s+/))

  it('names each setting as a secret that is one', async () => {
    assert.ok(secrets.length > 0, 'name a secret setting as such: …_secret, …_key, …_password')
    const setup = subject.setup()
    await subject.charge(setup)
    // With the name of a scheme before it, or without.
    const sent = setup.sent.flatMap(({ headers }) => [...headers.values()])
    const isSent = (value: string) => sent.some((text) => text.split(' ').at(-1) === value)
    for (const [name, value] of Object.entries(settings)) {
      const isNamed = isSecretName(name) || /(_id|_url)$/.test(name)
      assert.ok(isNamed || !isSent(value), `${name} is sent like a secret: …_key, …_secret`)
    }
  })

  for (const [does, call] of Object.entries(callsOf(subject))) {
    it(`reveals no secret where it ${does}, also of a gateway that echoes`, async () => {
      for (const { held, faults } of scenesOf(subject)) {
        const setup = subject.setup(held, faults)
        const granted = await setup.end(setup.guard.accessToken('shop'))
        const known = granted.ok ? [...secrets, granted.token] : secrets
        const outcome = await call(setup, held).then(masked, masked)
        assertHides([outcome, setup.lines, setup.timeouts], known, 'a secret is in an output')
        assertHides(setup.sent.flatMap(addressesIn), known, 'a secret is in an address')
        const logged = [outcome instanceof Error ? outcome : '', setup.lines]
        assertHides(logged, hidden, 'a value of the payer is logged')
      }
    })
  }

  it('names the fields with values of the payer, and hides none of the shop’s', async () => {
    const read = await subject.payloadOf(own)
    if (!read) assert.fail('There is no callback about a paid payment')
    assert.notEqual(hidden.length, 0)
    const before = JSON.stringify(read.payload.raw)
    const after = JSON.stringify(rawMask(gateway)(read.payload.raw))
    for (const value of hidden) {
      assert.ok(before.includes(value), `${value} is in the callback`)
      assert.ok(!after.includes(value), `${value} is masked: privateFields`)
    }
    if (!before.includes(own.reference)) return
    assert.ok(after.includes(own.reference), 'the reference is not masked: echoedFields')
  })
}

type Call = (setup: GatewaySetup, held: HeldPayment) => Promise<unknown>

/** Every call of the driver, by what it does. */
function callsOf(subject: Subject): Record<string, Call> {
  const { fixtures, gateway } = subject
  return {
    ...Object.fromEntries(
      subject.acts.map((act): [string, Call] => [`makes a ${act.name}`, (setup) => act.run(setup)]),
    ),
    ...(gateway.checkStatus && { 'asks for a status': (setup) => subject.check(setup) }),
    'reads a callback': async (setup, held) => {
      const made = await fixtures.callback(held, subject.event)
      return made && (await subject.receive(setup, made.request))
    },
    'refuses a forged callback': async (setup) => {
      const forged = Object.values(await subject.forged())
      const refused = forged.map((request) => subject.receive(setup, request).catch(asIs))
      return await Promise.all(refused)
    },
  }
}

/** A gateway that works, one with an unknown word, one that refuses, and those that echo. */
function scenesOf({ fixtures, own, open }: Subject): { held: HeldPayment; faults: Faults }[] {
  const { refuses, refusesCancel = refuses } = fixtures
  return [
    { held: own, faults: {} },
    { held: open, faults: {} },
    ...UNKNOWN_STATES.map((state) => ({ held: { ...own, state }, faults: {} })),
    { held: open, faults: { atMoney: refuses, atCancel: refusesCancel } },
    ...ECHOES.flatMap((echo) => [
      { held: open, faults: { everywhere: echo } },
      { held: open, faults: { withToken: echo } },
      { held: open, faults: { atMoney: echo, atCancel: echo } },
    ]),
  ]
}

function assertHides(outputs: unknown[], hidden: readonly string[], why: string): void {
  const text = outputs.map(spelled).join('\n')
  for (const value of hidden) {
    const isThere = text.includes(value) || text.includes(encodeURIComponent(value))
    assert.ok(!isThere, why)
  }
}

const asIs = (error: unknown): unknown => error

/** The text of a refusal is the gateway's: nobody reads it unmasked. */
function masked(outcome: unknown): unknown {
  const { code, error } = Object(outcome)
  const isRefusal = code === REFUSED.code || Object(outcome).ok === false
  return isRefusal ? maskError(error) : outcome
}

/** All text of a value, with the causes of errors. */
function spelled(value: unknown): string {
  if (Array.isArray(value)) return value.map(spelled).join('\n')
  if (!(value instanceof Error)) return JSON.stringify(value) ?? ''
  return `${value.stack}\n${JSON.stringify(value)}\n${spelled(value.cause ?? null)}`
}
