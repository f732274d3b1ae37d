// Compares responses of the edge with its OpenAPI document.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type DocumentedResponse, OPERATIONS, openapi } from './openapi-operations.ts'

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
export const eventDeviations = (event: { type: string }): string[] =>
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
export function requestDeviations(route: string, body: unknown): string[] {
  const { requestBody } = OPERATIONS.get(route) ?? {}
  if (!requestBody?.content['application/json']) return []
  if (body === undefined && !requestBody.required) return []
  return faultsOf(inOperation(route, 'requestBody', 'content', 'application/json', 'schema'), body)
}

/** Differences between a response and the document. */
export async function deviations(route: string, answer: Response): Promise<string[]> {
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
