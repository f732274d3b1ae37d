// Generates openapi.json, which the edge serves, and what is derived from it: the types in
// types.ts, and the table of operations in docs/api.md. `npm run generate` writes all three; a test
// compares them.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openapiDocument } from './openapi.ts'
import { declaration, type JsonSchema } from './print-types.ts'

const ROOT = join(import.meta.dirname, '../..')
const DOCUMENT = join(ROOT, 'libraries/api/openapi.json')
const TYPES = join(ROOT, 'libraries/api/types.ts')
const PAGE = join(ROOT, 'docs/api.md')

interface Response {
  content?: Record<string, { schema: { allOf?: [unknown, { properties: { code: JsonSchema } }] } }>
}

interface Operation {
  operationId: string
  summary: string
  tags: [string]
  security: Record<string, string[]>[]
  responses: Record<string, Response>
}

interface OpenApi {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, unknown>
  components: { schemas: Record<string, JsonSchema> }
}

/** Each file that is generated, with its text. */
export function generated(): Map<string, string> {
  const document = openapiDocument() as unknown as OpenApi
  return new Map([
    [DOCUMENT, `${JSON.stringify(document, null, 1)}\n`],
    [TYPES, typesOf(document)],
    [PAGE, pageWith(tablesOf(document))],
  ])
}

function typesOf({ components, paths, webhooks }: OpenApi): string {
  const schemas = Object.entries(components.schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const text = [
    '// Made by `npm run generate` from the OpenAPI document: change the schemas.',
    '',
    ...schemas.map(([name, schema]) => declaration(name, schema)),
    '/** The payload of each event of payments. */',
    'export interface PaymentEvents {',
    ...Object.keys(webhooks).map((name) => `${name}: ${name}Event['data']`),
    '}',
    '',
    '/** The codes of the failures of each operation. */',
    'export interface FailureCodes {',
    ...operations.map((operation) => {
      const codes = codesOf(operation).map(([code]) => `'${code}'`)
      return `${operation.operationId}: ${codes.join(' | ') || 'never'}`
    }),
    '}',
  ].join('\n')
  const biome = join(ROOT, 'node_modules/.bin/biome')
  const options = { cwd: ROOT, input: text, encoding: 'utf8' } as const
  return execFileSync(biome, ['format', '--stdin-file-path=libraries/api/types.ts'], options)
}

/** Each code with its status. */
const codesOf = ({ responses }: Operation): [code: string, status: string][] =>
  Object.entries(responses).flatMap(([status, { content }]) => {
    const codes = content?.['application/json']?.schema.allOf?.[1].properties.code.enum ?? []
    return codes.map((code): [string, string] => [String(code), status])
  })

function tablesOf({ tags, paths }: OpenApi): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const sections = tags.map(({ name, description }) => {
    const own = rows.filter(({ operation }) => operation.tags[0] === name)
    const lines = own.map(({ method, path, operation }) => {
      const { summary, security, responses } = operation
      const scopes = security[0]
        ? (Object.values(security[0]).flat()[0] ?? 'any token')
        : 'no token'
      const statuses = Object.keys(responses).join(' ')
      return `| \`${method.toUpperCase()} ${path}\` | ${summary} | ${scopes} | ${statuses} |`
    })
    const head = '| | | scope | answers |\n|---|---|---|---|'
    return `### ${name}\n\n${description}\n\n${head}\n${lines.join('\n')}\n`
  })
  return sections.join('\n')
}

const BEGIN = '<!-- operations: made by libraries/api/generate.ts -->\n'
const END = '<!-- end of operations -->\n'

function pageWith(tables: string): string {
  const page = readFileSync(PAGE, 'utf8')
  const [before = '', rest = ''] = page.split(BEGIN)
  const [, after = ''] = rest.split(END)
  return `${before}${BEGIN}\n${tables}\n${END}${after}`
}

if (import.meta.main) {
  for (const [file, text] of generated()) writeFileSync(file, text)
}
