// Makes an OpenAPI 3.1 document of the descriptions of routes.

import * as z from 'zod'
import { codeOf, type Reason, STATUS_OF } from '../../worker/shared/problem.ts'
import {
  type Answer,
  type Description,
  type Operation,
  REQUEST_HEADERS,
  RESPONSE_HEADERS,
  type RequestHeader,
  type ResponseHeader,
  SECURITY_SCHEMES,
  type SentWebhook,
} from './operation.ts'

type Json = Record<string, unknown>
interface Response {
  description: string
  headers: Json
  /** By type. */
  content?: Record<string, { schema: Json }>
}
type Responses = Record<string, Response>
/** A reference to a schema that has a name; any other schema unchanged. */
type Refer = (schema: z.ZodType) => Json

const JSON_TYPE = 'application/json'
const SCHEMAS = '#/components/schemas/'
const REASONS = [...new Set((Object.keys(STATUS_OF) as Reason[]).map(codeOf))]

const problemSchema = z.object({
  error: z.string().describe('A sentence for people. It may change.'),
  code: z.enum(REASONS).describe('Stable: programs decide by it.'),
  transactionId: z
    .string()
    .describe('A payment is stored: what became of it can be looked up.')
    .exactOptional(),
  by: z.string().describe('At a claim: who holds the task.').exactOptional(),
  since: z.string().describe('At a claim: since when.').exactOptional(),
  expiresAt: z.string().describe('At a claim: until when, unless it is renewed.').exactOptional(),
  task: z.string().describe('At a claim: the task that the actor holds.').exactOptional(),
  generation: z.int().describe('The generation of the claim that is lost.').exactOptional(),
})

export function makeDocument(info: Json, parts: readonly Description[]): Json {
  const registry = z.registry<{ id: string }>()
  registry.add(problemSchema, { id: 'Problem' })
  for (const { schemas } of parts) {
    for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id })
  }
  const refer: Refer = (schema) => {
    const id = registry.get(schema)?.id
    return id === undefined
      ? bare(z.toJSONSchema(schema, { io: 'input', override }))
      : { $ref: `${SCHEMAS}${id}` }
  }
  const uri = (id: string) => `${SCHEMAS}${id}`
  const named = z.toJSONSchema(registry, { io: 'input', uri, override }).schemas
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: '/', description: 'The edge that sent this document.' }],
    tags: parts.map(({ tag }) => tag),
    paths: pathsOf(parts, refer),
    webhooks: Object.fromEntries(parts.flatMap((part) => sentBy(part, refer))),
    components: {
      schemas: Object.fromEntries(Object.entries(named).map(([id, json]) => [id, bare(json)])),
      headers: RESPONSE_HEADERS,
      parameters: Object.fromEntries(
        Object.entries(REQUEST_HEADERS).map(([name, header]) => [
          name,
          { name, in: 'header', ...header },
        ]),
      ),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

/** Drops zod's ±2^53 bounds. */
function override({ jsonSchema }: { jsonSchema: Json }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

const bare = ({ $schema, $id, ...json }: Json): Json => json

function pathsOf(parts: readonly Description[], refer: Refer): Json {
  const paths: Record<string, Json> = {}
  for (const part of parts) {
    for (const [route, operation] of Object.entries(part.operations)) {
      const [method = '', pattern = ''] = route.split(' ')
      const path = pattern.replaceAll(/:(\w+)/g, '{$1}')
      paths[path] = {
        ...paths[path],
        [method.toLowerCase()]: describe(method, part, operation, refer),
      }
    }
  }
  return paths
}

function describe(method: string, part: Description, operation: Operation, refer: Refer): Json {
  const { id, summary, description, body, isBodyOptional = body === 'any' } = operation
  const parameters = parametersOf(part, operation)
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    tags: [part.tag.name],
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !isBodyOptional, content: contentOf(body, refer) } }),
    responses: responsesOf(
      Object.entries(operation.answers).map(([status, answer]) => [
        status,
        responseOf(answer, part, refer),
      ]),
      failuresOf([...operation.failures, ...commonFailures(method, operation)], operation),
    ),
  }
}

/** Answers in the words of others and our codes may share a status: then both are listed. */
function responsesOf(answers: [status: string, Response][], failures: Responses): Responses {
  const merged = answers.map(([status, answer]): [string, Response] => {
    const failure = failures[status]
    if (!failure) return [status, answer]
    const description = `${answer.description}; ${failure.description}`
    const content = { ...answer.content, ...failure.content }
    const [ours, theirs] = [failure.content?.[JSON_TYPE], answer.content?.[JSON_TYPE]]
    if (ours && theirs) content[JSON_TYPE] = { schema: { anyOf: [theirs.schema, ours.schema] } }
    return [status, { ...answer, description, content }]
  })
  return { ...failures, ...Object.fromEntries(merged) }
}

function securityOf({ needs, takesTicket }: Operation): Json[] {
  if (needs === 'nothing') return []
  const scopes = needs === 'token' ? [] : [needs]
  return [{ bearer: scopes }, { cookie: scopes }, ...(takesTicket ? [{ ticket: scopes }] : [])]
}

function parametersOf(part: Description, { path = {}, query, headers = [] }: Operation): Json[] {
  const inPath = Object.entries(path).map(([name, description]) => {
    return { name, in: 'path', required: true, description, schema: { type: 'string' } }
  })
  const { properties = {}, required = [] } = query
    ? z.toJSONSchema(query, { io: 'input', override })
    : {}
  const inQuery = Object.entries(properties).map(([name, json]) => {
    const { description, ...schema } = json as Json
    const isRequired = required.includes(name)
    return {
      name,
      in: 'query',
      required: isRequired,
      ...(description !== undefined && { description }),
      schema,
    }
  })
  const all: RequestHeader[] = [...headers, ...(part.isBare ? [] : ['X-Request-Id' as const])]
  return [
    ...inPath,
    ...inQuery,
    ...all.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

const contentOf = (body: z.ZodType | 'any', refer: Refer, type = JSON_TYPE) =>
  body === 'any' ? { '*/*': { schema: {} } } : { [type]: { schema: refer(body) } }

const headersOf = (names: readonly ResponseHeader[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

function responseOf(
  { description, schema, type, texts = [], headers = [] }: Answer,
  part: Description,
  refer: Refer,
): Response {
  return {
    description,
    headers: headersOf([...headers, ...(part.isBare ? [] : ['X-Request-Id' as const])]),
    ...(schema && {
      content: {
        ...contentOf(schema, refer, type),
        ...Object.fromEntries(texts.map((each) => [each, { schema: { type: 'string' } }])),
      },
    }),
  }
}

/** Every route behind the authentication has them. */
function commonFailures(method: string, { needs }: Operation): Reason[] {
  if (needs === 'nothing') return []
  return [
    ...(['invalid_request', 'unauthorized', 'internal'] as const),
    ...(['not_configured', 'misconfigured', 'keys_unavailable'] as const),
    ...(needs === 'token' ? [] : ['forbidden' as const]),
    ...(method === 'GET' ? [] : (['bad_origin', 'sessions_unavailable'] as const)),
  ]
}

function failuresOf(reasons: readonly Reason[], { answers }: Operation): Responses {
  const byStatus = Map.groupBy([...new Set(reasons)].toSorted(), (reason) => STATUS_OF[reason])
  const hasCorrelation = Object.values(answers).some(({ headers }) =>
    headers?.includes('X-Correlation-Id'),
  )
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => {
      const codes = own.map(codeOf).toSorted()
      const headers: ResponseHeader[] = [
        ...(['Cache-Control', 'X-Request-Id'] as const),
        ...(hasCorrelation ? ['X-Correlation-Id' as const] : []),
        ...(status === 401 ? ['WWW-Authenticate' as const] : []),
        ...(status === 503 || codes.includes('in_progress') ? ['Retry-After' as const] : []),
      ]
      const code = { type: 'object', properties: { code: { enum: codes } }, required: ['code'] }
      return [
        status,
        {
          description: codes.map((each) => `\`${each}\``).join(', '),
          headers: headersOf(headers),
          content: {
            [JSON_TYPE]: { schema: { allOf: [{ $ref: `${SCHEMAS}Problem` }, code] } },
          },
        },
      ]
    }),
  )
}

const sentBy = ({ tag, webhooks = {} }: Description, refer: Refer): [string, Json][] =>
  Object.entries(webhooks).map(([name, { summary, headers, body }]: [string, SentWebhook]) => [
    name,
    {
      post: {
        operationId: `on${name}`,
        summary,
        tags: [tag.name],
        security: [],
        parameters: Object.entries(headers).map(([header, description]) => {
          return {
            name: header,
            in: 'header',
            required: true,
            description,
            schema: { type: 'string' },
          }
        }),
        requestBody: { required: true, content: contentOf(body, refer) },
        responses: {
          '2XX': { description: 'It was handled. After any other answer it is sent again.' },
          '4XX': { description: 'It was not handled.' },
        },
      },
    },
  ])
