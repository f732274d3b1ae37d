// The few settings of wrangler.toml that a local edge must share with the deployed one. Read from
// there so that they cannot drift; wrangler's own reader takes 1.5 s to load, a third of a start.
// Pure. It knows only the part of TOML that is used in that file, and refuses everything else.

export interface WorkerSettings {
  /** Entry of the Worker, relative to the file. */
  main: string
  compatibilityDate: string
  compatibilityFlags: string[]
  /** Objects with SQLite storage. */
  objects: { binding: string; className: string }[]
  /** Plain text variables. */
  vars: Record<string, string>
  /** The binding of static assets, where there is one. */
  assets?: string
}

type Value = string | string[]
type Table = Map<string, Value>

export class TomlError extends Error {
  override readonly name = 'TomlError'
  readonly code = 'unknown_toml'
}

export function readWorkerSettings(toml: string): WorkerSettings {
  const tables = readTables(toml)
  const root = tables.get('')?.[0]
  const objects = tables.get('durable_objects.bindings') ?? []
  const assets = tables.get('assets')?.[0]
  return {
    main: text(root, 'main'),
    compatibilityDate: text(root, 'compatibility_date'),
    compatibilityFlags: texts(root, 'compatibility_flags'),
    objects: objects.map((object) => ({
      binding: text(object, 'name'),
      className: text(object, 'class_name'),
    })),
    vars: Object.fromEntries(
      [...(tables.get('vars')?.[0] ?? new Map())].map(([name, value]) => [name, String(value)]),
    ),
    ...(assets && { assets: text(assets, 'binding') }),
  }
}

function text(table: Table | undefined, key: string): string {
  const value = table?.get(key)
  if (typeof value !== 'string') throw new TomlError(`wrangler.toml has no text ${key}.`)
  return value
}

function texts(table: Table | undefined, key: string): string[] {
  const value = table?.get(key) ?? []
  if (typeof value === 'string') throw new TomlError(`${key} in wrangler.toml must be a list.`)
  return value
}

/** The tables that matter; a key of any other is not even looked at. */
const WANTED = new Set(['', 'assets', 'durable_objects.bindings', 'vars'])
/** Keys of the file's top that matter. */
const WANTED_KEYS = new Set(['main', 'compatibility_date', 'compatibility_flags'])

function readTables(toml: string): Map<string, Table[]> {
  const root: Table = new Map()
  const tables = new Map<string, Table[]>([['', [root]]])
  let name = ''
  let table = root
  for (const line of logicalLines(toml)) {
    const header = /^\[\[?\s*([\w.-]+)\s*\]?\]$/.exec(line)
    if (header?.[1] !== undefined) {
      name = header[1]
      table = new Map()
      tables.set(name, [...(tables.get(name) ?? []), table])
      continue
    }
    const [, key, value] = /^([\w-]+)\s*=\s*(.+)$/s.exec(line) ?? []
    if (!WANTED.has(name) || (name === '' && !WANTED_KEYS.has(key ?? ''))) continue
    if (key === undefined || value === undefined) throw unknown(line)
    table.set(key, readValue(value, line))
  }
  return tables
}

/** Lines without comments; a list that spans lines is one of them. */
function* logicalLines(toml: string): Iterable<string> {
  let held = ''
  for (const raw of toml.split(/\r?\n/)) {
    const line = withoutComment(raw).trim()
    if (line === '') continue
    held = held === '' ? line : `${held} ${line}`
    if (/=\s*\[[^\]]*$/.test(held)) continue
    yield held
    held = ''
  }
  if (held !== '') throw unknown(held)
}

const withoutComment = (line: string): string =>
  /^(?:[^"'#]|"(?:[^"\\]|\\.)*"|'[^']*')*/.exec(line)?.[0] ?? ''

const TEXT = /"(?:[^"\\]|\\.)*"|'[^']*'/g

function readValue(value: string, line: string): Value {
  const whole = value.trim()
  const items = whole.match(TEXT) ?? []
  const rest = whole.replaceAll(TEXT, '').replaceAll(/[\s,]/g, '')
  if (rest === '[]') return items.map(readText)
  const [only] = items
  if (rest === '' && items.length === 1 && only !== undefined) return readText(only)
  if (/^(?:\d+|true|false)$/.test(rest) && items.length === 0) return rest
  throw unknown(line)
}

/** A basic string escapes as JSON does, a literal one not at all. */
const readText = (quoted: string): string =>
  quoted.startsWith("'") ? quoted.slice(1, -1) : (JSON.parse(quoted) as string)

const unknown = (line: string): TomlError =>
  new TomlError(`This line of wrangler.toml is beyond what the local start reads: ${line}`)
