// The part of the contract about a gateway that fails: what was asked for may have been done, so
// its outcome is unknown, and only what is one for the gateway is sent again.

import assert from 'node:assert/strict'
import { assertEqual, names } from './gateway-requests.ts'
import { type Answer, json, noConnection, page, type Sent, silence } from './gateway-setup.ts'
import {
  type Act,
  type Faults,
  FORGED,
  type It,
  type Subject,
  UNAVAILABLE,
} from './gateway-subject.ts'

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

/** What no gateway says of what it was asked for. It proves nothing. */
const NO_REFUSALS = [400, 401, 403, 404, 409, 410, 422]
/** Of a question, the others may mean that there is no such payment. */
const NO_ANSWERS = [401, 403, 409, 422]

export function outagesOf(subject: Subject, it: It): void {
  const { gateway, acts } = subject

  for (const [fault, outage] of Object.entries(OUTAGES)) {
    for (const act of acts) {
      it(`reports an unknown outcome of a ${act.name} when the answer is ${fault}`, async () => {
        for (const faults of [{ everywhere: outage }, act.faultAt(outage)]) {
          const setup = subject.setup(act.held, faults)
          const call = setup.call()
          await assert.rejects(act.run(setup, call), UNAVAILABLE)
          assert.equal(call.verdict(), 'failure')
        }
      })

      it(`repeats a ${act.name} only as the same request, after ${fault}`, async () => {
        const setup = subject.setup(act.held, act.faultAt(outage))
        await assert.rejects(act.run(setup))
        const tries = setup.sent.filter(act.isIt)
        assertOne(tries, act)
        // With a gateway that does not answer, there is time for two tries.
        const most = outage === silence ? 2 : 3
        const isRepeated =
          act.name === 'charge' ? gateway.chargeRepeatableForMs > 0 : tries.length > 1
        assert.equal(tries.length, isRepeated ? most : 1, 'tries')
      })
    }

    it(`never declares that nothing was made after ${fault} and then a conflict`, async () => {
      for (const act of acts.filter(({ id }) => id !== undefined)) {
        const setup = subject.setup(act.held, act.faultAt(thenConflict(outage)))
        // The second one is refused at once: its answer was lost by the first.
        await leavesOpen(act.run(setup))
        await leavesOpen(act.run(setup, setup.call(), 'unknown'))
      }
    })

    if (gateway.checkStatus) {
      it(`reports an unknown status when the answer is ${fault}`, async () => {
        for (const faults of asking(outage)) {
          await assert.rejects(subject.check(subject.setup(subject.own, faults)), UNAVAILABLE)
        }
      })
    }

    it(`asks for a genuine callback again, if it needed an answer that is ${fault}`, async () => {
      for (const { held } of subject.states) {
        const made = await subject.fixtures.callback(held, subject.event)
        if (!made) continue
        for (const faults of asking(outage)) {
          const setup = subject.setup(held, faults)
          const outcome = await subject.receive(setup, made.request).catch(asIs)
          if (setup.sent.length > 0) assert.ok(isUnavailable(outcome), `of ${held.state}`)
        }
      }
    })
  }

  for (const act of acts) {
    it(`takes only the gateway’s own refusal of a ${act.name} for one, no 4xx`, async () => {
      for (const status of NO_REFUSALS) {
        const setup = subject.setup(
          act.held,
          act.faultAt(() => json({}, status)),
        )
        await assert.rejects(act.run(setup), UNAVAILABLE, `JSON with ${status}`)
      }
    })
  }

  if (gateway.checkStatus) {
    it('reads no status in a 4xx, a JSON 404 included', async () => {
      for (const status of NO_REFUSALS) {
        const setup = subject.setup(subject.own, { withToken: () => json({}, status) })
        const outcome = await subject.check(setup).catch(asIs)
        if (isUnavailable(outcome)) continue
        assert.deepEqual(outcome, { known: false }, `JSON with ${status} is no status`)
        assert.ok(!NO_ANSWERS.includes(status), `${status} says nothing of a payment`)
      }
    })
  }

  it('takes no 4xx for a proof that a callback is forged, or for what it is about', async () => {
    for (const status of NO_REFUSALS) {
      const setup = subject.setup(subject.own, { withToken: () => json({}, status) })
      const outcome = await subject.receive(setup, await subject.genuine()).catch(asIs)
      if (setup.sent.length === 0) return
      assert.ok(!('eventId' in Object(outcome)), `JSON with ${status} is no payment`)
      const isForged = codeOf(outcome) === FORGED.code
      assert.ok(!isForged || !NO_ANSWERS.includes(status), `${status} says nothing of a payment`)
    }
  })

  it('fires GatewayTimeout for each attempt that times out', async () => {
    const setup = subject.setup(subject.own, { atMoney: silence })
    await assert.rejects(subject.charge(setup))
    assert.equal(setup.timeouts.length, gateway.chargeRepeatableForMs > 0 ? 2 : 1)
    assert.equal(setup.timeouts[0]?.gateway, 'shop')
    assert.equal(setup.timeouts[0]?.durationMs, 15_000)
  })
}

/** What is sent again makes one payment, and one refund, at the gateway. */
function assertOne(tries: readonly Sent[], { name, id }: Act): void {
  assert.notEqual(tries.length, 0, `It makes no ${name}`)
  assertEqual(tries)
  if (tries.length === 1 || id === undefined) return
  for (const sent of tries) assert.ok(names(sent, id), `the id of the ${name} is in every try`)
}

/** Before a question there may be a request for a token. */
const asking = (fault: Answer): Faults[] => [{ everywhere: fault }, { withToken: fault }]

/** One outage, and a refusal of every further request, as of one that was carried out before. */
function thenConflict(outage: Answer): Answer {
  let requests = 0
  return (request) => (requests++ === 0 ? outage(request) : json(CONFLICT, 409))
}

/** It was made, or its outcome is unknown, or its refusal is only about the last request. */
async function leavesOpen(work: Promise<unknown>): Promise<void> {
  const answer = await work.catch((error: unknown) => {
    assert.ok(isUnavailable(error))
  })
  assert.ok(!('coversEarlier' in Object(answer)), 'a conflict is no proof that none was made')
}

const asIs = (error: unknown): unknown => error

const codeOf = (error: unknown): unknown => Object(error).code

const isUnavailable = (error: unknown): boolean => codeOf(error) === UNAVAILABLE.code
