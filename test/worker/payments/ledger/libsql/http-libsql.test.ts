// The connection to libSQL’s own server, and which of its errors are transient, so that a batch is
// sent again.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { libsqlEndedSessions } from '../../../../../worker/ended-sessions-libsql.ts'
import { openLedger } from '../../../../../worker/payments/ledger/ledger.ts'
import {
  DatabaseUnreachable,
  isTransient,
} from '../../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { libsqlDatabase } from '../../../../../worker/payments/ledger/libsql/http-libsql.ts'
import { statement } from '../../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { queryRunner } from '../../../../../worker/payments/queries/query-libsql.ts'
import { hostClock } from '../../../../../worker/shared/clock.ts'
import { endedSessionsContract } from '../../../../contract/ended-sessions.ts'
import { RULES } from '../../../../support/acts.ts'
import { ALERTED } from '../../../../support/ledger-fakes.ts'
import { ledger, libsql, useLibsqlLedger } from '../libsql-setup.ts'
import { insertPending, paid } from '../shop-payments.ts'

endedSessionsContract('the database of a server', async () =>
  libsqlEndedSessions(
    libsqlDatabase({ url: libsql.url, authToken: libsql.token }, () => Date.now()),
  ),
)

describe('a connection of libSQL', () => {
  afterEach(() => void vi.restoreAllMocks())

  const never = new AbortController().signal
  const alert = (id: string) =>
    statement(
      `INSERT INTO payment_alerts (id, kind, subject, gateway, created_at)
        VALUES (:id, 'test', :id, 'redirect', 0)`,
      { id },
    )
  const broken = statement('INSERT INTO payment_alerts (id) VALUES (NULL)')

  function opened() {
    let now = 0
    const { write } = libsqlDatabase({ url: libsql.url, authToken: libsql.token }, () => now)
    return {
      write: (...statements: ReturnType<typeof statement>[]) => write(statements, never),
      wait: (ms: number) => {
        now += ms
      },
    }
  }

  /** A request to the server. The baton identifies the connection. */
  interface Pipeline {
    baton?: string | null
    requests: { type: string; batch?: { steps: unknown[] } }[]
  }

  interface Reply {
    baton: string
    results: { type: string; error?: object }[]
  }

  /** All requests from now on. */
  function pipelines(): Pipeline[] {
    const seen: Pipeline[] = []
    const { fetch } = globalThis
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (input instanceof Request) seen.push((await input.clone().json()) as Pipeline)
      return fetch(input, init)
    })
    return seen
  }
  const isNew = ({ baton }: Pipeline) => typeof baton !== 'string'

  /**
   * The next batch is executed without its last two steps, and its answer is too large. Returns the
   * server's answers to the closing of that connection.
   */
  function breakOffOnce(): string[] {
    const { fetch } = globalThis
    const closings: string[] = []
    let broken: string | undefined
    vi.spyOn(globalThis, 'fetch')
      .mockImplementation(async (input, init) => {
        const { baton, requests } = (await (input as Request).clone().json()) as Pipeline
        const answer = await fetch(input, init)
        const at = requests.findIndex(({ type }) => type === 'close')
        if (baton !== broken || at === -1) return answer
        const { results } = (await answer.clone().json()) as Reply
        closings.push(results[at]?.type ?? 'nothing')
        return answer
      })
      .mockImplementationOnce(async (input, init) => {
        const asked = input as Request
        const pipeline = (await asked.json()) as Pipeline
        const at = pipeline.requests.findIndex(({ type }) => type === 'batch')
        pipeline.requests[at]?.batch?.steps.splice(-2)
        const body = JSON.stringify(pipeline)
        const answer = await fetch(new Request(asked, { body }), init)
        const reply = (await answer.json()) as Reply
        const error = { code: 'RESPONSE_TOO_LARGE', message: 'Response is too large' }
        reply.results[at] = { type: 'error', error }
        broken = reply.baton
        return Response.json(reply)
      })
    return closings
  }

  it('is used for one write after the other, until it is idle for 5 s', async () => {
    const sent = pipelines()
    const { write, wait } = opened()
    expect(await write(statement('SELECT 1 AS one'), statement('SELECT 2 AS two'))).toMatchObject([
      [{ one: 1 }],
      [{ two: 2 }],
    ])
    await write(alert('a'))
    wait(4_999)
    await write(alert('b'))
    wait(5_000)
    await write(alert('c'))
    expect(sent.map(isNew)).toEqual([true, false, false, true])
  })

  it('is used again after a failed write, which stores nothing and keeps no lock', async () => {
    const sent = pipelines()
    const { write } = opened()
    await expect(write(alert('d'), broken)).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT' })
    // Another writer does not wait, and `d` was not stored.
    await opened().write(alert('e'))
    await write(alert('d'))
    expect(sent.map(isNew)).toEqual([true, true, false])
  })

  it('is closed after a write that ended half-way, so that its lock blocks nobody', async () => {
    const { write } = opened()
    const closings = breakOffOnce()
    await expect(write(alert('n'))).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    // Left open, it would hold its lock for 5 s, until the server ends it.
    await expect.poll(() => closings).toEqual(['ok'])
    await opened().write(alert('o'))
    await write(alert('p'))
    const written = `SELECT id FROM payment_alerts WHERE id IN ('n', 'o', 'p') ORDER BY id`
    expect(await libsql.query(written)).toEqual([{ id: 'o' }, { id: 'p' }])
  })

  it('rejects once when the server reports an error for every step, as after a timeout', async () => {
    const { write } = opened()
    const error = { code: 'TRANSACTION_TIMEOUT', message: 'Transaction timed-out' }
    vi.spyOn(globalThis, 'fetch').mockImplementationOnce(async (input) => {
      const { requests } = (await (input as Request).json()) as Pipeline
      const results = requests.map(({ type, batch }) => {
        const all = <Each>(each: Each) => batch?.steps.map(() => each)
        const result = batch && { step_results: all(null), step_errors: all(error) }
        return { type: 'ok', response: { type, ...(result && { result }) } }
      })
      return Response.json({ baton: null, base_url: null, results })
    })
    // Any other rejection would end this run.
    await expect(write(alert('t'), alert('u'))).rejects.toMatchObject({ code: error.code })
  })

  it('sends the text of a statement once, however often the statement is used', async () => {
    const sent = pipelines()
    const { write } = opened()
    await write(alert('q'), alert('r'))
    await write(alert('s'))
    expect(JSON.stringify(sent).match(/INSERT INTO payment_alerts/g)).toHaveLength(1)
  })

  it('is not shared by two writes at the same time', async () => {
    const sent = pipelines()
    const { write } = opened()
    await Promise.all([write(alert('f')), write(alert('g'))])
    await write(alert('h'))
    expect(sent.map(isNew)).toEqual([true, true, false])
  })

  it('is given up with an aborted call', async () => {
    const sent = pipelines()
    const { write } = libsqlDatabase({ url: libsql.url, authToken: libsql.token }, () => 0)
    await write([alert('i')], never)
    const given = write([alert('j')], AbortSignal.abort())
    await expect(given).rejects.toBeInstanceOf(DatabaseUnreachable)
    await write([alert('k')], never)
    expect(sent.filter(isNew)).toHaveLength(2)
  })

  it('is opened again after a restart of the server', async () => {
    const { write } = opened()
    await write(alert('l'))
    await libsql.process.kill()
    await libsql.process.start()
    await write(alert('m'))
    const written = `SELECT id FROM payment_alerts WHERE id IN ('l', 'm') ORDER BY id`
    expect(await libsql.query(written)).toEqual([{ id: 'l' }, { id: 'm' }])
  })
})

useLibsqlLedger()

describe('an error of the database', () => {
  afterEach(() => void vi.restoreAllMocks())

  const place = () => ({ url: libsql.url, authToken: libsql.token })
  const never = new AbortController().signal
  const caught = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  it('is transient when the server does not exist', async () => {
    const nowhere = libsqlDatabase({ url: 'http://127.0.0.1:1' }, Date.now)
    const error = await caught(nowhere.write([statement('SELECT 1')], never))
    expect(error).toBeInstanceOf(DatabaseUnreachable)
    expect(isTransient(error)).toBe(true)
  })

  it('is transient for an aborted call', async () => {
    const database = libsqlDatabase(place(), Date.now)
    const error = await caught(database.write([statement('SELECT 1')], AbortSignal.abort()))
    expect(isTransient(error)).toBe(true)
  })

  it('is transient while another writer holds the database', async () => {
    // An open transaction, which the server ends after 5 s.
    const open = { requests: [{ type: 'execute', stmt: { sql: 'BEGIN IMMEDIATE' } }] }
    const call = (body: object) =>
      fetch(`${libsql.url}/v2/pipeline`, {
        method: 'POST',
        headers: { authorization: `Bearer ${libsql.token}` },
        body: JSON.stringify(body),
      })
    const response = await call(open)
    const { baton } = (await response.json()) as { baton: string }
    const landed = ledger.webhook(paid(0))
    await new Promise((resolve) => setTimeout(resolve, 100))
    const close = { baton, requests: [{ type: 'close' }] }
    await call(close)
    expect((await landed).outcome).toBe('parked')
  })

  it('names LIBSQL_AUTH_TOKEN at once where the server refuses it, to writes and to reads', async () => {
    const sent = vi.spyOn(globalThis, 'fetch')
    const refused = libsqlDatabase({ url: libsql.url, authToken: 'of-another' }, Date.now)
    const { webhook } = openLedger({
      database: refused,
      rules: RULES,
      subscribers: ALERTED,
      deliver: async () => [],
      clock: hostClock,
      log: () => undefined,
    })
    const sentence = expect.stringMatching(/answered 401, so LIBSQL_AUTH_TOKEN is missing, wrong/)
    const unavailable = { code: 'ledger_unavailable', message: sentence }
    await expect(webhook(paid(0))).rejects.toMatchObject(unavailable)
    const run = queryRunner(refused, () => undefined)
    const query = { statements: [statement('SELECT 1')], read: () => undefined }
    await expect(run(query)).rejects.toMatchObject(unavailable)
    expect(sent.mock.calls.length).toBeLessThan(5)
  })

  it.each([401, 403, 404])('names LIBSQL_AUTH_TOKEN for a %i', async (status) => {
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('no', { status }))
    const { write, read } = libsqlDatabase(place(), Date.now)
    const error = {
      code: 'ledger_unavailable',
      message: expect.stringMatching(/LIBSQL_AUTH_TOKEN/),
    }
    await expect(write([statement('SELECT 1')], never)).rejects.toMatchObject(error)
    await expect(read([statement('SELECT 1')])).rejects.toMatchObject(error)
  })

  it.each([
    ['a violated constraint', `INSERT INTO payment_outbox SELECT * FROM payment_outbox`],
    ['a syntax error', 'SELEC'],
    ['a missing table', 'SELECT * FROM nothing'],
  ])('is not transient for %s', async (_, sql) => {
    await insertPending(libsql, 1)
    await ledger.webhook(paid(0))
    const error = await caught(libsqlDatabase(place(), Date.now).write([statement(sql)], never))
    expect(error).toBeInstanceOf(Error)
    expect(isTransient(error)).toBe(false)
  })

  it('is thrown before anything is sent if a parameter has no value', () => {
    expect(() => statement('SELECT :a, :b', { a: 1 })).toThrow(':b')
  })
})
