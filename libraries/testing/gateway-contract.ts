// The contract of every gateway driver, in the presence of any fault of its gateway: named cases,
// for the test runner of the caller.

import assert from 'node:assert/strict'
import type { GatewayRefund, WebhookRequest } from '../../worker/payments/gateways/gateway.ts'
import { isSecretName } from '../../worker/shared/secrets.ts'
import { factsOf } from './gateway-facts.ts'
import type { GatewayFixtures } from './gateway-fixtures.ts'
import {
  type Answer,
  GatewaySetup,
  json,
  noConnection,
  page,
  type Sent,
  silence,
} from './gateway-setup.ts'

export interface GatewayCase {
  /** A sentence. */
  name: string
  /** Rejects with an AssertionError if the driver breaks it. */
  run(): Promise<void>
}

const UNAVAILABLE = { code: 'gateway_unavailable' }
const FORGED = { code: 'invalid_webhook_signature' }

/** In the forms of several gateways. */
const CONFLICT = {
  code: 'CONFLICT',
  message: 'It exists already.',
  transactionId: 'gt-0',
  errors: [{ code: 'CONFLICT', title: 'It exists already.' }],
  error: { type: 'invalid_request_error', code: 'conflict', message: 'It exists already.' },
}

/** Faults of a gateway, for every request. */
const OUTAGES: Record<string, Answer> = {
  'an HTML page with 200': () => page('Maintenance'),
  'an HTML page with 403': () => page('Forbidden', 403),
  'an HTML page with 404': () => page('Not found', 404),
  'an HTML page with 502': () => page('Bad gateway', 502),
  'JSON with 500': () => json({ error: 'oops' }, 500),
  'JSON with 429': () => json({ error: 'slow down' }, 429),
  'half of some JSON': () => new Response('{"status": "SUC'),
  'a redirect': () => new Response(null, { status: 302, headers: { location: '/login' } }),
  'no connection': noConnection,
  silence,
}

/** What every driver must do, also while its gateway fails. Give each case to a test runner. */
export function gatewayContract(fixtures: GatewayFixtures): GatewayCase[] {
  const { driver, settings, charge, refund, ids, states } = fixtures
  const isSigned = fixtures.signs !== 'nothing'
  const gateway = driver.create('shop', settings)
  const cases: GatewayCase[] = []
  const it = (name: string, run: GatewayCase['run']) => cases.push({ name, run })

  const { reference, externalReferenceId, amount, currency } = charge
  const names = { id: ids[0], reference, externalReferenceId }
  const held = { ...names, state: states.Paid, amount, currency, refunded: 0 }
  const healthy: Answer = (request) => fixtures.healthy(request, held)
  const genuine = async (): Promise<WebhookRequest> => {
    const made = await fixtures.callback(held, { id: 'event-1', at: 1_700_000_000_000 })
    return made?.request ?? assert.fail('There is no callback about a paid payment')
  }
  const isMoney = (sent: Sent) => fixtures.isMoney(sent)
  const setupOf = (answer: Answer = healthy) => new GatewaySetup(gateway, answer)
  /** The token endpoint works; the others have the fault. */
  const failingAtMoney =
    (answer: Answer): Answer =>
    async (request) => {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = await request.clone().text()
      const isIt = isMoney({ method, path: pathname + search, headers, body })
      return isIt ? await answer(request) : await healthy(request)
    }
  const charged = (setup: GatewaySetup, call = setup.call()) =>
    setup.end(gateway.charge(charge, call))
  const refunded = async (setup: GatewaySetup, asked: GatewayRefund) =>
    await setup.end(Promise.resolve(gateway.refund?.(asked, setup.call())))
  const receive = (setup: GatewaySetup, request: WebhookRequest) =>
    setup.end(gateway.handleWebhook(request, setup.call()))

  it('works with its fixtures, and names the required settings', async () => {
    assert.deepEqual(driver.check?.(settings) ?? [], [])
    assert.match(driver.envPrefix, /^[A-Z][A-Z_]*_$/)
    const unknown = Object.keys(settings).filter((name) => !(name in driver.settings))
    assert.deepEqual(unknown, [])
    assert.equal(gateway.key, 'shop')
    assert.equal(refund !== undefined, gateway.refund !== undefined, 'refund and its fixture')
  })

  it('charges', async () => {
    const setup = setupOf()
    const call = setup.call()
    const answer = await charged(setup, call)
    if (!answer.ok) assert.fail(`It refused: ${answer.error.message}`)
    assert.match(answer.gatewayTransactionId, /./)
    assert.equal(setup.sent.filter(isMoney).length, 1)
    assert.equal(call.verdict(), 'success')
  })

  factsOf(fixtures, it)

  for (const [fault, outage] of Object.entries(OUTAGES)) {
    it(`reports an unknown outcome of a charge when the answer is ${fault}`, async () => {
      for (const answer of [outage, failingAtMoney(outage)]) {
        const setup = setupOf(answer)
        const call = setup.call()
        await assert.rejects(charged(setup, call), UNAVAILABLE)
        assert.equal(call.verdict(), 'failure')
      }
    })

    it(`repeats a charge only if that makes one payment, when the answer is ${fault}`, async () => {
      const setup = setupOf(failingAtMoney(outage))
      await assert.rejects(charged(setup))
      // With a gateway that does not answer, there is time for two tries.
      const most = outage === silence ? 2 : 3
      assert.equal(setup.sent.filter(isMoney).length, gateway.chargeRepeatableForMs > 0 ? most : 1)
    })

    it(`never declares that nothing was made after ${fault} and then a conflict`, async () => {
      const setup = setupOf(failingAtMoney(thenConflict(outage)))
      for (const earlier of ['none', 'unknown'] as const) {
        // The second charge is refused at once: its answer was lost by the first.
        await leavesOpen(setup.end(gateway.charge({ ...charge, earlier }, setup.call())))
      }
      if (refund) await leavesOpen(refunded(setupOf(failingAtMoney(thenConflict(outage))), refund))
    })

    if (gateway.checkStatus) {
      it(`reports an unknown status when the answer is ${fault}`, async () => {
        const setup = setupOf(outage)
        const stored = { ...charge, gatewayTransactionId: ids[0] }
        const checked = async () => gateway.checkStatus?.(stored, setup.call())
        await assert.rejects(setup.end(checked()), UNAVAILABLE)
      })
    }

    if (refund) {
      it(`reports an unknown outcome of a refund when the answer is ${fault}`, async () => {
        const setup = setupOf(failingAtMoney(outage))
        await assert.rejects(refunded(setup, refund), UNAVAILABLE)
      })
    }

    if (!isSigned) {
      it(`asks for an unsigned callback again when the answer is ${fault}`, async () => {
        await assert.rejects(receive(setupOf(outage), await genuine()), UNAVAILABLE)
      })
    }
  }

  it('fires GatewayTimeout for each attempt that times out', async () => {
    const setup = setupOf(failingAtMoney(silence))
    await assert.rejects(charged(setup))
    assert.equal(setup.timeouts.length, gateway.chargeRepeatableForMs > 0 ? 2 : 1)
    assert.equal(setup.timeouts[0]?.gateway, 'shop')
    assert.equal(setup.timeouts[0]?.durationMs, 15_000)
  })

  it('does not accept an answer without a payment id', async () => {
    await assert.rejects(charged(setupOf(failingAtMoney(() => json({})))), UNAVAILABLE)
  })

  it('refuses every forged callback', async () => {
    const forged = Object.entries(await fixtures.forged())
    assert.notEqual(forged.length, 0)
    for (const [wrong, request] of forged) {
      const setup = setupOf()
      await assert.rejects(receive(setup, request), FORGED, wrong)
      if (isSigned) assert.deepEqual(setup.sent, [], wrong)
    }
  })

  it('reveals no secret, even when the gateway repeats the request', async () => {
    const secrets = Object.entries(settings)
      .filter(([setting]) => isSecretName(setting))
      .flatMap(([, value]) => value.split(/\s+/))
    assert.ok(secrets.length > 0, 'name a secret setting as such: …_secret, …_key, …_password')
    const outputs: unknown[] = []
    const echo: Answer = async (request) => {
      const headers = [...request.headers].join('\n')
      return page(`${headers}\n${await request.text()}`, 500)
    }
    for (const answer of [echo, failingAtMoney(echo)]) {
      const setup = setupOf(answer)
      const granted = await setup.end(setup.guard.accessToken('shop'))
      if (granted.ok) secrets.push(granted.token)
      outputs.push(await charged(setup).catch(asIs))
      for (const request of Object.values(await fixtures.forged())) {
        outputs.push(await receive(setup, request).catch(asIs))
      }
      outputs.push(setup.lines, setup.timeouts)
    }
    const text = outputs.map(spelled).join('\n')
    for (const secret of secrets) assert.ok(!text.includes(secret), 'a secret is in an output')
  })

  return cases
}

/** One outage, and a refusal of every further request, as of one that was carried out before. */
function thenConflict(outage: Answer): Answer {
  let requests = 0
  return (request) => (requests++ === 0 ? outage(request) : json(CONFLICT, 409))
}

/** It was made, or its outcome is unknown, or its refusal is only about the last request. */
async function leavesOpen(work: Promise<{ ok: boolean } | undefined>): Promise<void> {
  const answer = await work.catch((error: unknown) => {
    assert.equal((error as { code?: unknown }).code, UNAVAILABLE.code)
  })
  assert.ok(!answer || !('coversEarlier' in answer), 'a conflict is no proof that none was made')
}

const asIs = (error: unknown): unknown => error

/** All text of a value, with the causes of errors. */
function spelled(value: unknown): string {
  if (!(value instanceof Error)) return JSON.stringify(value)
  return `${value.stack}\n${JSON.stringify(value)}\n${spelled(value.cause ?? null)}`
}
