// The product's source files and their imports, for tests of its structure.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export const SIDECAR_CORE = [
  'watch/watch',
  'watch/hints',
  'board/record-source',
  'board/relations',
  'board/derive',
  'board/hash-tree',
  'board/compose',
  'board/id-holders',
  'files/file-table',
  'layouts/layout',
  'publish/edge',
  'publish/directory',
  'publish/outbox',
  'publish/split',
  'publish/retry',
]

export interface Source {
  file: string
  text: string
  /** The import specifiers. */
  imports: string[]
  /** The relative ones, as paths from the root. */
  local: string[]
  /** Those of them that import more than types. */
  values: string[]
}

export const sources: Source[] = [
  'worker',
  'libraries',
  'console',
  'sidecar',
  'system',
  'cli',
  'simulator',
  'tools/package',
  'tools/start',
  'tools/harness',
  'tools/prove',
  'tools/bench',
].flatMap(all)

/** Of the tests, and of what only they use. */
export const tests = all('test')

function all(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => read(join(folder, name)))
}

function read(file: string): Source {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b(?:[^'"]*?from)?\s*'([^']+)'|import\(\s*'([^']+)'/g,
  )
  const matches = [...found].map((match) => ({ text: match[0], name: match[1] ?? match[2] ?? '' }))
  const pathOf = (name: string) => normalize(join(dirname(file), name))
  const relative = matches.filter(({ name }) => name.startsWith('.'))
  return {
    file,
    text,
    imports: matches.map(({ name }) => name),
    local: relative.map(({ name }) => pathOf(name)),
    values: relative
      .filter(({ text }) => !/^\s*(import|export) type\b/.test(text))
      .map(({ name }) => pathOf(name)),
  }
}

export const inside = (folder: string) =>
  sources.filter(({ file }) => file.startsWith(`${folder}/`))

/** Throws for one that does not exist: a file that was renamed would leave its rule in silence. */
export const named = (folder: string, names: readonly string[]): Source[] =>
  names.map((name) => {
    const file = `${folder}/${name}.ts`
    const found = sources.find((source) => source.file === file)
    if (!found) throw new Error(`there is no ${file}`)
    return found
  })

/** `file → import` for every import that the rule forbids. */
export function offences(
  of: Source[],
  forbidden: (name: string, source: Source) => boolean,
): string[] {
  return of.flatMap((source) =>
    [...source.imports.filter((name) => !name.startsWith('.')), ...source.local]
      .filter((name) => forbidden(name, source))
      .map((name) => `${source.file} → ${name}`),
  )
}
