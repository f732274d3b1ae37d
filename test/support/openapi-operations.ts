// The operations of the OpenAPI document, and what tests get of the edge held against them.

import document from '../../libraries/api/openapi.json' with { type: 'json' }
import type { Fetch } from './edge.ts'

export interface Operation {
  operationId: string
  tags: string[]
  security: Record<string, string[]>[]
  responses: Record<string, DocumentedResponse>
  requestBody?: { required: boolean; content: Record<string, { schema: object }> }
}

export interface DocumentedResponse {
  headers?: Record<string, { $ref: string }>
  content?: Record<string, { schema: object }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: {
    headers: Record<string, { required?: boolean }>
    schemas: Record<string, object>
  }
}

export const openapi = document as unknown as Document

/** By method and path of the router: `GET /api/tasks/:id`. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      operation,
    ]),
  ),
)

/** The codes that a response of an operation may have; none: it is no failure. */
export function codesOf({ content }: DocumentedResponse): readonly string[] {
  const schema: Failure | undefined = content?.['application/json']?.schema
  const all = schema?.anyOf ?? [schema]
  return all.flatMap((one) => one?.allOf?.[1]?.properties?.code?.enum ?? [])
}

interface Failure {
  anyOf?: Failure[]
  allOf?: { properties?: { code?: { enum: string[] } } }[]
}

/** A message of JSON-RPC has no code of ours. */
const RPC = 'of JSON-RPC'
const isRpc = ({ content }: DocumentedResponse): boolean =>
  JSON.stringify(content ?? {}).includes('"jsonrpc"')

// Webhooks are left out: a middleware of the shop may answer them as it likes.
const HELD = [...OPERATIONS]
  .filter(([, { tags }]) => !tags.includes('Webhooks'))
  .map(([route, operation]) => {
    const pattern = new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`)
    return { route, pattern, responses: operation.responses }
  })

/**
 * The answer to `path` as it is. Throws where the document does not list its status, or the code of
 * a failure, for the operation: whoever reads the document could not know of it.
 */
export async function documented(method: string, path: string, answer: Response) {
  const [pathname = ''] = path.split(/[?#]/)
  const asked = `${method === 'HEAD' ? 'GET' : method} ${pathname}`
  const operation = HELD.find(({ pattern }) => pattern.test(asked))
  if (!operation) return answer
  const { status } = answer
  const response = operation.responses[status]
  const code = status < 400 || method === 'HEAD' ? undefined : await codeIn(answer)
  const isListed =
    response &&
    (code === undefined || (code === RPC ? isRpc(response) : codesOf(response).includes(code)))
  if (isListed) return answer
  throw new Error(`${operation.route} answered ${status} ${code}, which its document does not list`)
}

/** Sends to paths of an edge, and holds each answer. */
export const documentedFetch =
  (origin: string, send: typeof fetch = fetch): Fetch =>
  async (path, init) =>
    documented(init?.method ?? 'GET', path, await send(`${origin}${path}`, init))

async function codeIn(answer: Response): Promise<string> {
  const text = await answer.clone().text()
  try {
    const { code, jsonrpc } = JSON.parse(text) as { code?: unknown; jsonrpc?: unknown }
    return jsonrpc === undefined ? String(code) : RPC
  } catch {
    return text
  }
}
