// The command line under test, gateways that answer what a test says, and an edge that receives as
// the real one does.

import { expect } from 'vitest'
import type { Environment } from '../../../cli/context.ts'
import type { Finding } from '../../../cli/doctor/findings.ts'
import { secretValues } from '../../../cli/payments/target.ts'
import { readPayments } from '../../../worker/payments/config/payments-config.ts'
import { defineConfig, type SignalboxFile } from '../../../worker/payments/define-config.ts'
import { reportMask } from '../../../worker/payments/mask.ts'
import type { PaymentQueries } from '../../../worker/payments/queries/queries-libsql.ts'
import { createReceiver } from '../../../worker/payments/webhooks/receive.ts'
import { hostClock } from '../../../worker/shared/clock.ts'
import type { Fields, Level } from '../../../worker/shared/log.ts'
import { type Handler, serve, type TestServer } from '../../support/http.ts'
import { NOBODY } from '../../support/ledger-fakes.ts'
import { webhookRequest } from '../../support/payments.ts'
import { sqliteLedger } from '../../support/sqlite-database.ts'
import { type Run, run as runWords } from '../run.ts'

export const FILE = defineConfig({
  payments: {
    gateways: {
      redirect: { driver: 'redirect' },
      fib: { driver: 'fib' },
      stripe: { driver: 'stripe' },
      mollie: { driver: 'mollie' },
    },
  },
})

export const REDIRECT = {
  REDIRECT_GATEWAY_CLIENT_ID: 'merchant',
  REDIRECT_GATEWAY_CLIENT_SECRET: 'the-client-secret-of-the-merchant',
  REDIRECT_GATEWAY_API_KEY: 'the-api-key-of-the-merchant-32-bytes-long',
}
export const FIB = { FIB_CLIENT_ID: 'shop', FIB_CLIENT_SECRET: 'the-secret-of-the-shop' }
export const STRIPE = {
  STRIPE_SECRET_KEY: 'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
  STRIPE_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
}

/** Fails when any secret of the environment is printed. */
export async function run(argv: string, env: Environment = {}, file = FILE): Promise<Run> {
  const words = argv.split(' ').filter(Boolean)
  const done = await runWords(words, env, { loadFile: async () => file })
  for (const secret of secretValues(env)) expect(done.out + done.err).not.toContain(secret)
  return done
}

/** What the doctor found, as `level about: sentence` lines. */
export async function diagnose(
  argv: string,
  env: Environment,
  file = FILE,
): Promise<{ code: number; findings: string[] }> {
  const { code, out, err } = await run(`payments doctor --json ${argv}`, env, file)
  if (out === '') throw new Error(err)
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  return { code, findings: findings.map(lineOf) }
}

export const lineOf = ({ level, about, sentence }: Finding): string =>
  `${level} ${about}: ${sentence}`

/** Answers by path; what it has no answer for with 404. */
export function fakeGateway(
  answers: Record<string, (form: URLSearchParams, request: Request) => Response>,
  headers: () => Record<string, string> = () => ({}),
): Promise<TestServer> {
  return serve(async (request) => {
    const answer = answers[new URL(request.url).pathname]
    const form = new URLSearchParams(request.method === 'POST' ? await request.text() : '')
    const { status, body } = answer?.(form, request) ?? Response.json({}, { status: 404 })
    return new Response(body, { status, headers: headers() })
  })
}

/** A token endpoint that takes one pair. */
export const grants = (id: string, secret: string) => (form: URLSearchParams) =>
  form.get('client_id') === id && form.get('client_secret') === secret
    ? Response.json({ access_token: 'a-token-that-nobody-is-shown', expires_in: 60 })
    : Response.json({ error: 'invalid_client' }, { status: 401 })

export interface FakeEdge extends TestServer {
  queries: PaymentQueries
  /** Bodies of the webhooks that came. */
  bodies: string[]
  /** What the edge logs and counts. */
  lines: { level: Level; event: string; fields: Fields }[]
  /** Names of the events that it raised. */
  events: string[]
}

/** `first` answers what it wants to itself. */
export async function fakeEdge(
  env: Environment,
  first: (request: Request) => Response | undefined = () => undefined,
  file: SignalboxFile = FILE,
): Promise<FakeEdge> {
  const whole = { LIBSQL_URL: 'http://127.0.0.1', ...env }
  const { faults, payments } = readPayments(whole, file)
  if (!payments || faults.length > 0) throw new Error(faults.map(({ clause }) => clause).join())
  const { ledger, queries } = sqliteLedger({
    subscribers: NOBODY,
    deliver: async () => [],
    clock: hostClock,
    log: () => undefined,
  })
  const lines: FakeEdge['lines'] = []
  const events: string[] = []
  const receive = createReceiver({
    ...payments,
    ...payments.operations,
    mask: reportMask(payments.gateways),
    ledger,
    client: {
      run: () => Promise.reject(new Error('nobody is asked')),
      admit: () => Promise.reject(new Error('nobody is asked')),
    },
    refusals: { countRefused: async () => void events.push('refused') },
    notify: (name) => void events.push(name),
    later: () => undefined,
    clock: hostClock,
    log: (level, event, fields) => void lines.push({ level, event, fields }),
  })
  const bodies: string[] = []
  const handle: Handler = async (request) => {
    const own = first(request)
    if (own) return own
    const { pathname, searchParams: query } = new URL(request.url)
    const [, key] = /^\/payments\/webhooks\/([^/]+)$/.exec(pathname) ?? []
    if (key === undefined) return Response.json({ code: 'unauthorized' }, { status: 401 })
    const body = await request.text()
    bodies.push(body)
    const webhook = webhookRequest(body, Date.now(), request.headers, query)
    const answer = await receive(key, webhook, 'correlation-1')
    return new Response(answer.body, { status: answer.status })
  }
  return { ...(await serve(handle)), queries, bodies, lines, events }
}
