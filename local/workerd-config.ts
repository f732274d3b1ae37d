// The configuration of one workerd process, as Cap'n Proto text. Pure. No secret stands in it:
// bindings name variables of the process's environment.

import type { WorkerSettings } from './wrangler-toml.ts'

export interface WorkerdConfig {
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

export function workerdConfig(config: WorkerdConfig): string {
  const { settings, consoleDir } = config
  const assets = consoleDir === undefined ? undefined : settings.assets
  const bindings = [
    ...config.variables.map((name) => `(name = ${quote(name)}, fromEnvironment = ${quote(name)})`),
    ...settings.objects.map(
      ({ binding, className }) =>
        `(name = ${quote(binding)}, durableObjectNamespace = ${quote(className)})`,
    ),
    ...(assets === undefined ? [] : [`(name = ${quote(assets)}, service = "console")`]),
  ]
  // The key names the folder of the class's databases and goes into every object's id: with another
  // one all stored boards would be out of reach.
  const namespaces = settings.objects.map(
    ({ className }) =>
      `(className = ${quote(className)}, ` +
      `uniqueKey = ${quote(`signalbox-${className}`)}, enableSql = true)`,
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
  compatibilityDate = ${quote(settings.compatibilityDate)},
  compatibilityFlags = ${list(settings.compatibilityFlags.map(quote))},
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
