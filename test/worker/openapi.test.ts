// The OpenAPI document: every answer is as it says. Its linter runs in `.ci/run`.

import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { generated } from '../../libraries/api/generate.ts'
import { WIRE } from '../../worker/board/wire.ts'
import { codeOf, type Reason, STATUS_OF } from '../../worker/shared/problem.ts'
import { publishedRepo } from '../support/edge.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { jsonOf } from '../support/json-of.ts'
import {
  ASKS,
  type Ask,
  bearer,
  edge,
  known,
  makeRecords,
  ORDER,
  posted,
  SYNC_PATH,
  SYNC_STEPS,
  send,
  setup,
} from '../support/openapi-asks.ts'
import {
  codesOf,
  type DocumentedResponse,
  documented,
  OPERATIONS,
  openapi,
} from '../support/openapi-operations.ts'
import { unavailable } from '../support/payments-setup.ts'

/** Schemas that refer to it add the codes, so it is closed there. */
const { Problem: PROBLEM } = openapi.components.schemas

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: {
    'date-time': (text) => /^\d{4}-.*T.*Z$/.test(text) && !Number.isNaN(Date.parse(text)),
    uri: URL.canParse,
  },
})
// Answers may get new fields, so the document leaves objects open. Here they are closed: a field
// that the document does not have fails.
const schemas = { ...(closed(openapi.components.schemas) as object), Problem: PROBLEM }
ajv.addSchema({ ...(closed(openapi) as object), components: { schemas } }, 'openapi')

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  if ('allOf' in value) return { ...value, unevaluatedProperties: false }
  const copy = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]))
  const isOpen = copy.type === 'object' && copy.properties && !('additionalProperties' in copy)
  return isOpen ? { ...copy, additionalProperties: false } : copy
}

const compiled = new Map<string, ValidateFunction>()

function validatorAt(pointer: string): ValidateFunction {
  const known = compiled.get(pointer)
  if (known) return known
  const made = ajv.compile({ $ref: `openapi#${pointer}` })
  compiled.set(pointer, made)
  return made
}

const pointerOf = (...parts: string[]): string =>
  parts
    .map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('')

function inOperation(route: string, ...parts: string[]): string {
  const [method = '', path = ''] = route.split(' ')
  return pointerOf('paths', path.replaceAll(/:(\w+)/g, '{$1}'), method.toLowerCase(), ...parts)
}

function faultsOf(pointer: string, value: unknown): string[] {
  const validate = validatorAt(pointer)
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

/** Differences between a posted event and the document. */
const eventDeviations = (event: { type: string }): string[] =>
  faultsOf(
    pointerOf(
      'webhooks',
      event.type,
      'post',
      'requestBody',
      'content',
      'application/json',
      'schema',
    ),
    event,
  )

/** What the document does not allow in a request's body that the edge accepts. */
function requestDeviations(route: string, body: unknown): string[] {
  const { requestBody } = OPERATIONS.get(route) ?? {}
  if (!requestBody?.content['application/json']) return []
  if (body === undefined && !requestBody.required) return []
  return faultsOf(inOperation(route, 'requestBody', 'content', 'application/json', 'schema'), body)
}

/** Differences between a response and the document. */
async function deviations(route: string, answer: Response): Promise<string[]> {
  const operation = OPERATIONS.get(route)
  if (!operation) return [`${route} is not in the document`]
  const { status, headers } = answer
  const response = operation.responses[status]
  if (!response) return [`${status} is not in the document: ${await answer.text()}`]
  const missing = Object.entries(response.headers ?? {})
    .filter(([name, { $ref }]) => {
      const { required = false } =
        openapi.components.headers[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}
      return required && !headers.has(name)
    })
    .map(([name]) => `the header ${name} is missing`)
  return [...missing, ...(await bodyDeviations(route, answer, response))]
}

async function bodyDeviations(route: string, answer: Response, { content }: DocumentedResponse) {
  const type = answer.headers.get('Content-Type')?.split(';')[0] ?? ''
  if (!content) return type === '' ? [] : [`it has a body of ${type}`]
  if (!content[type]) return [`its type is ${type}`]
  if (type === 'text/event-stream') {
    await answer.body?.cancel()
    return []
  }
  const body: unknown = type === 'application/json' ? await answer.json() : await answer.text()
  const at = ['responses', String(answer.status), 'content', type, 'schema']
  return faultsOf(inOperation(route, ...at), body)
}

beforeAll(makeRecords)

async function answersAsDocumented(route: string, ask: Ask): Promise<void> {
  const answer = await send(route, ask)
  if (answer.ok) expect([route, requestDeviations(route, ask.body)]).toEqual([route, []])
  expect([route, answer.status, await deviations(route, answer)]).toEqual([route, ask.status, []])
}

describe('The document', () => {
  it('is what the edge sends to everybody, to be kept for some minutes', async () => {
    const answer = await edge.fetch('/openapi.json')
    expect(answer.headers.get('Cache-Control')).toBe('public, max-age=300')
    expect(await answer.json()).toEqual(openapi)
  })

  it('has the paths of webhooks as they are configured', async () => {
    const { payments } = setup
    const config = { ...payments.config, routePrefix: 'hooks/$&' }
    const answer = await processEdge({ payments: { ...payments, config } }).fetch('/openapi.json')
    const { paths } = await jsonOf<typeof openapi>(answer, 200)
    const theirs = ['/payments/webhooks/{gateway}', '/payments/webhooks/{gateway}/callback']
    const renamed = ['/hooks/$&/{gateway}', '/hooks/$&/{gateway}/callback']
    const before = Object.keys(openapi.paths)
    expect(before).toEqual(expect.arrayContaining(theirs))
    const expected = before.map((path) => renamed[theirs.indexOf(path)] ?? path)
    expect(Object.keys(paths)).toEqual(expected)
    for (const [at, path] of theirs.entries()) {
      expect(paths[renamed[at] ?? '']).toEqual(openapi.paths[path])
    }
  })

  it('has every operation that is asked here, and no other', () => {
    expect(new Set(OPERATIONS.keys())).toEqual(new Set(Object.keys(ASKS)))
  })

  it('lists each code of a failure for some operation, but for those of other routes', () => {
    const responses = [...OPERATIONS.values()].flatMap((each) => Object.values(each.responses))
    const listed = new Set(responses.flatMap(codesOf))
    const others = ['not_found', 'console_not_built']
    const reasons = Object.keys(STATUS_OF) as Reason[]
    expect(new Set([...listed, ...others])).toEqual(new Set(reasons.map(codeOf)))
  })

  it('is what every test holds the answers of an edge against', async () => {
    const task = '/api/tasks/A-1?path=a'
    const failure = (status: number, code: string) => Response.json({ code }, { status })
    const known = failure(404, 'unknown_task')
    expect(await documented('GET', task, known)).toBe(known)
    for (const [method, answer] of [
      ['GET', failure(404, 'unknown_session')],
      ['GET', failure(409, 'unknown_task')],
      ['GET', new Response('Bad gateway', { status: 404 })],
      ['HEAD', new Response(null, { status: 201 })],
    ] as const) {
      await expect(documented(method, task, answer)).rejects.toThrow('does not list')
    }
    const elsewhere = failure(404, 'not_found')
    expect(await documented('GET', '/api/tasks/A-1/other', elsewhere)).toBe(elsewhere)
  })

  it('is current, and so are the types and the page that are made of it', () => {
    for (const [file, text] of generated()) {
      expect(readFileSync(file, 'utf8'), 'Run: npm run generate').toBe(text)
    }
  })
})

describe('As the document says', () => {
  it.each(Object.entries(ASKS))('is answered, well and badly: %s', async (route, asks) => {
    for (const ask of asks()) await answersAsDocumented(route, ask)
  })

  const behindTokens = [...OPERATIONS].filter(([, { security }]) => security.length > 0)
  it.each(behindTokens)('is refused without a token, or without its scope: %s', async (route) => {
    const [{ path }] = ASKS[route]?.() ?? [{ path: '' }]
    await answersAsDocumented(route, { path, status: 401, headers: { Authorization: 'Bearer x' } })
    const Authorization = await bearer('nothing')
    const answer = await send(route, { path, status: 403, headers: { Authorization } })
    // A good token is enough for MCP, and the message is missing.
    const known = route === 'POST /mcp' ? [400] : [200, 204, 403]
    expect(known).toContain(answer.status)
    expect(await deviations(route, answer)).toEqual([])
  })

  it('is answered every step of a sync', async () => {
    for (const body of SYNC_STEPS) {
      await answersAsDocumented('POST /api/sync', { path: SYNC_PATH, status: 200, body })
    }
  })

  it('is refused a message for the wrong run, epoch, batch or version, with each code', async () => {
    const board = await publishedRepo(edge)
    await board.begin()
    await board.changes({})
    const { run } = board
    const part = board.part({})
    const entries = { wire: WIRE, step: 'entries', run, batch: 9, more: false, buckets: {} }
    const refused = {
      'POST /api/sync': [
        { ...entries, run: run + 1 },
        { ...entries, run: run - 1 },
        { ...entries, batch: 0 },
        { ...entries, wire: WIRE + 1 },
      ],
      'POST /api/changes': [
        { ...part, epoch: 'another' },
        { ...part, run: run - 1 },
        { ...part, batch: 0 },
        { ...part, wire: WIRE + 1 },
      ],
    }
    for (const [route, bodies] of Object.entries(refused)) {
      const [, pathname] = route.split(' ')
      const path = `${pathname}?path=${encodeURIComponent(board.path)}`
      const codes: string[] = []
      for (const body of bodies) {
        const answer = await send(route, { path, status: 409, body })
        codes.push((await jsonOf<{ code: string }>(answer.clone(), 409)).code)
        expect([route, await deviations(route, answer)]).toEqual([route, []])
      }
      expect(codes).toEqual(['sync_required', 'superseded', 'stale_batch', 'wire_version'])
      expect(new Set(codesOf(OPERATIONS.get(route)?.responses[409] ?? {}))).toEqual(new Set(codes))
    }
  })

  it('is answered a charge or a refund that the gateway does not take', async () => {
    const charge = (reference: string, status: number, more = {}) =>
      answersAsDocumented('POST /api/payments/charges', {
        path: '/api/payments/charges',
        status,
        body: { ...ORDER, reference, ...more },
      })
    const { charge: accept } = setup.script
    setup.script.charge = unavailable
    await charge('order-2', 503)
    setup.script.charge = () => ({ ok: false, error: { code: 'declined', message: 'No.' } })
    await charge('order-3', 422)
    setup.script.charge = accept
    await charge('order-1', 409, { amount: 1 })
    setup.script.refund = unavailable
    const refund = { gateway: 'bank', transactionId: known.transaction, amount: 1, reason: 'x' }
    for (const status of [503, 409]) {
      const ask = { path: '/api/payments/refunds', status, body: refund }
      await answersAsDocumented('POST /api/payments/refunds', ask)
    }
  })

  it('is every event that was posted to the shop', async () => {
    await setup.quiet()
    const types = posted.map(({ type }) => type)
    for (const type of ['PaymentInitiated', 'PaymentSucceeded', 'AlertRaised', 'WebhookReceived']) {
      expect(types).toContain(type)
    }
    expect(posted.flatMap(eventDeviations)).toEqual([])
  })
})
