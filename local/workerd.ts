// The edge on workerd, the runtime that Cloudflare runs. It is started by itself and not through
// Miniflare: one process fewer stands between us and its death, and it is up in 0.1 s.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundling } from './bundling.ts'
import type { ChildSpec } from './child.ts'
import { EDGE_GRACE_MS, type EdgePlan, type PrepareEdge } from './edge.ts'
import { LOOPBACK } from './ports.ts'
import { StartError } from './start-error.ts'
import { workerdConfig } from './workerd-config.ts'
import { readWorkerSettings, type WorkerSettings } from './wrangler-toml.ts'

export const prepareWorkerd: PrepareEdge = async (plan) => {
  const settings = await readSettings(plan.home)
  const script = 'worker.js'
  const objectsDir = join(plan.dir, 'objects')
  await mkdir(objectsDir, { recursive: true })
  await bundle(join(plan.home, settings.main), join(plan.dir, script))
  const variables = { ...settings.vars, ...plan.variables }
  const configFile = join(plan.dir, 'workerd.capnp')
  const address = `${LOOPBACK}:${plan.port}`
  const names = Object.keys(variables)
  const folders = { objectsDir, consoleDir: plan.consoleDir }
  const config = workerdConfig({ settings, script, ...folders, address, variables: names })
  await writeFile(configFile, config)
  return workerd(plan, configFile, variables)
}

function workerd(plan: EdgePlan, configFile: string, variables: Record<string, string>): ChildSpec {
  return {
    name: 'workerd',
    command: workerdBinary(),
    // Objects stored on a disk count as experimental; --experimental is what permits them.
    args: ['serve', '--experimental', configFile],
    env: { ...plan.env, ...variables },
    logFile: plan.logFile,
    graceMs: EDGE_GRACE_MS,
  }
}

/** The package's export is its binary's path; it brings no types. */
function workerdBinary(): string {
  try {
    const workerd = createRequire(import.meta.url)('workerd') as { default: string }
    return workerd.default
  } catch (cause) {
    throw new StartError('not_installed', 'workerd is not installed (run npm ci).', { cause })
  }
}

async function readSettings(home: string): Promise<WorkerSettings> {
  try {
    return readWorkerSettings(await readFile(join(home, 'wrangler.toml'), 'utf8'))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new StartError('bad_configuration', why, { cause })
  }
}

/** One ES module, made as wrangler makes it; what the runtime brings stays an import. */
const bundle = (entry: string, outfile: string): Promise<void> =>
  bundling('The Worker', () =>
    build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
      target: 'es2024',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['cloudflare:*', 'node:*'],
      sourcemap: 'inline',
      sourcesContent: false,
      logLevel: 'silent',
    }),
  )
