// The edge on workerd, the runtime that Cloudflare runs. It is started by itself and not through
// Miniflare: one process fewer stands between us and its death, and it is up in 0.1 s.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import * as z from 'zod'
import { LOOPBACK } from '../../system/local/ports.ts'
import { StartError } from '../../system/start-error.ts'
import { bundleWorker } from './bundle.ts'
import type { ChildSpec } from './child.ts'
import { EDGE_GRACE_MS, type EdgePlan } from './edge-plan.ts'

/** A PrepareEdge. `bundle`: how the script is made, by a caller that has made it before. */
export async function prepareWorkerd(plan: EdgePlan, bundle = bundleWorker): Promise<ChildSpec> {
  const settings = await settingsIn(plan.home)
  const script = 'worker.js'
  const objectsDir = join(plan.dir, 'objects')
  await mkdir(objectsDir, { recursive: true })
  await bundle(join(plan.home, settings.main), join(plan.dir, script))
  const variables = { ...settings.vars, ...plan.variables, HOST: LOOPBACK }
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

const text = z.string()
const SETTINGS = z.object({
  main: text,
  compatibility_date: text,
  compatibility_flags: z.array(text).default([]),
  vars: z.record(text, z.union([text, z.number(), z.boolean()]).transform(String)).default({}),
  assets: z.object({ binding: text }).optional(),
  durable_objects: z
    .object({ bindings: z.array(z.object({ name: text, class_name: text })) })
    .default({ bindings: [] }),
})

/** What a local edge must have in common with the deployed one. */
type WorkerSettings = z.infer<typeof SETTINGS>

/**
 * Reads wrangler.toml, so that the two cannot drift. Wrangler's own reader takes 1.5 s to load, a
 * third of a start. Throws where something is missing, with the reason.
 * @forTests Each reason is one.
 */
export function readWorkerSettings(toml: string): WorkerSettings {
  const { success, data, error } = SETTINGS.safeParse(parse(toml))
  if (success) return data
  throw new Error(z.prettifyError(error).replaceAll(/\s+/g, ' '))
}

async function settingsIn(home: string): Promise<WorkerSettings> {
  try {
    return readWorkerSettings(await readFile(join(home, 'wrangler.toml'), 'utf8'))
  } catch (cause) {
    const [why = ''] = cause instanceof Error ? cause.message.split('\n') : [String(cause)]
    throw new StartError('bad_configuration', `wrangler.toml cannot be used: ${why}`, { cause })
  }
}

/** The configuration of one workerd process. */
interface WorkerdConfig {
  settings: WorkerSettings
  /** The bundled Worker, relative to the configuration's file. */
  script: string
  /** Folder of the objects' databases, absolute; it must exist. */
  objectsDir: string
  /** Folder of the built page, absolute; it must exist. Undefined: the Worker gets none. */
  consoleDir: string | undefined
  address: string
  /** Variables that the Worker gets from the environment. */
  variables: readonly string[]
}

/**
 * The configuration as Cap'n Proto text. It contains no secrets: bindings name variables of the
 * process's environment.
 */
function workerdConfig(config: WorkerdConfig): string {
  const { settings, consoleDir } = config
  const objects = settings.durable_objects.bindings
  const assets = consoleDir === undefined ? undefined : settings.assets?.binding
  const bindings = [
    ...config.variables.map((name) => `(name = ${quote(name)}, fromEnvironment = ${quote(name)})`),
    ...objects.map(
      ({ name, class_name }) =>
        `(name = ${quote(name)}, durableObjectNamespace = ${quote(class_name)})`,
    ),
    ...(assets === undefined ? [] : [`(name = ${quote(assets)}, service = "console")`]),
  ]
  // The key names the folder of the class's databases and goes into every object's id: with another
  // one all stored boards would be out of reach.
  const namespaces = objects.map(
    ({ class_name }) =>
      `(className = ${quote(class_name)}, ` +
      `uniqueKey = ${quote(`signalbox-${class_name}`)}, enableSql = true)`,
  )
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge),
    (name = "objects", disk = (path = ${quote(config.objectsDir)}, writable = true)),
    ${consoleDir === undefined ? '' : `(name = "console", disk = (path = ${quote(consoleDir)})),`}
    # The database and a gateway to try things with stand on this machine, so private addresses too.
    (name = "internet", network = (
      allow = ["public", "private"],
      tlsOptions = (trustBrowserCas = true),
    )),
  ],
  sockets = [(name = "http", address = ${quote(config.address)}, service = "edge")],
);

const edge :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed ${quote(config.script)})],
  compatibilityDate = ${quote(settings.compatibility_date)},
  compatibilityFlags = ${list(settings.compatibility_flags.map(quote))},
  bindings = ${list(bindings)},
  durableObjectNamespaces = ${list(namespaces)},
  durableObjectStorage = (localDisk = "objects"),
);
`
}

const list = (items: string[]): string =>
  items.length === 0 ? '[]' : `[\n${items.map((item) => `    ${item},\n`).join('')}  ]`

/** Cap'n Proto escapes text as C does; beyond ASCII it takes UTF-8 as it is. */
function quote(text: string): string {
  const escaped = text.replaceAll(/[\\"]/g, '\\$&')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break would end the text.
  const printable = escaped.replaceAll(/[\u0000-\u001f\u007f]/g, hexEscape)
  return `"${printable}"`
}

const hexEscape = (control: string): string =>
  `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`
