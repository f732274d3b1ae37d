// Which files a change of OpenSpec has. Any folder in `changes/` is one, whatever it holds; the
// file of its tasks is the one that its schema tracks, a path or a pattern, else `tasks.md`.

import { join, relative, sep } from 'node:path'
import { CHECKLIST, type ChangeFiles, entriesOf, foldersIn } from './checklist.ts'
import { isRecord } from './fields.ts'
import { globMatcher, isGlob } from './glob.ts'
import { readSmall } from './open-here.ts'
import type { Plain } from './plain-yaml.ts'
import { isThere } from './store-folder.ts'
import { readYamlMap, YAML_BYTES } from './yaml.ts'

const METADATA = '.openspec.yaml'
/** What keeps an empty folder in git. */
const KEPT = '.gitkeep'
/** They only ever stand at the root of a change: below it they are of a change that is nested. */
const MARKERS = [METADATA, 'proposal.md', CHECKLIST, 'design.md']
const DELTAS = 'specs'
/** As deep as the tool looks for nested changes, and for the deltas in those. */
const DEPTH = 5
/** A change has some ten. */
const MAX_FOLDERS = 200
const NAMED_SCHEMA = /^[^.\\/:][^\\/:]*$/

/** The order of the files that describe a change. */
const RANK = { about: 0, list: 1, own: 2, delta: 3, nested: 4, other: 5 }

/** The file that a change's schema tracks. `found`: there is such a file. */
interface Tracked {
  matches: (inside: string) => boolean
  isPattern: boolean
  found: boolean
}

/** `root`: the folder `openspec`. */
export function openSpecFiles(root: string): ChangeFiles {
  const tracked = new Map<string, Tracked | undefined>()
  /** Names in a change's folder that are no files. */
  const folders = new Map<string, ReadonlySet<string>>()
  const trackedIn = (folder: string): Tracked | undefined => {
    if (!tracked.has(folder)) tracked.set(folder, trackedOf(root, folder))
    return tracked.get(folder)
  }
  return {
    foldersIn(folder) {
      tracked.delete(folder)
      const entries = entriesOf(folder)
      folders.set(folder, new Set(entries.flatMap((it) => (it.isDirectory() ? it.name : []))))
      const isCustom = trackedIn(folder) !== undefined
      return isCustom || !entries.some(isOwn) ? foldersBelow(folder) : []
    },
    fileOf(folder, inside) {
      const name = inside.at(-1) ?? ''
      const schema = trackedIn(folder)
      if (schema?.matches(inside.join('/'))) {
        return { kind: 'tasks', rank: RANK.list, isOneOfMany: schema.isPattern }
      }
      if (inside.slice(0, -1).some(isHidden)) return undefined
      if (isHidden(name) && name !== METADATA && name !== KEPT) return undefined
      if (inside.length > 1) return signBelow(root, folder, inside)
      if (name === CHECKLIST && !schema?.found) return { kind: 'tasks', rank: RANK.list }
      if (name === 'proposal.md') return { kind: 'about', rank: RANK.about }
      return folders.get(folder)?.has(name) ? undefined : { kind: 'sign', rank: RANK.own }
    },
  }
}

const isHidden = (name: string): boolean => name.startsWith('.')
const isOwn = (entry: { name: string; isFile(): boolean }): boolean =>
  entry.isFile() && (entry.name === METADATA || !isHidden(entry.name))

function signBelow(root: string, folder: string, inside: readonly string[]) {
  const above = inside.slice(0, -1)
  const deltas = above.indexOf(DELTAS)
  if (deltas === 0) return { kind: 'sign', rank: RANK.delta } as const
  const end = deltas > 0 ? deltas : MARKERS.includes(inside.at(-1) ?? '') ? above.length : 0
  if (end === 0 || end > 3) return { kind: 'sign', rank: RANK.other } as const
  const name = folder.slice(folder.lastIndexOf(sep) + 1)
  const nested = ['openspec', relative(root, folder), ...above.slice(0, end)].join('/')
  const alone =
    `"${name}" is not a change: it is a folder wrapping ${nested.replaceAll(sep, '/')}/. ` +
    'A change must be a directory directly under openspec/changes/.'
  return { kind: 'sign', rank: RANK.nested, alone } as const
}

function foldersBelow(folder: string): string[] {
  const found: string[] = []
  let level = [folder]
  for (let depth = 0; depth < DEPTH && found.length < MAX_FOLDERS; depth++) {
    level = level.flatMap((each) => foldersIn(each)).filter((each) => !isHidden(nameIn(each)))
    found.push(...level)
  }
  return found.slice(0, MAX_FOLDERS)
}

const nameIn = (path: string): string => path.slice(path.lastIndexOf(sep) + 1)

/** Undefined: the schema is the tool's own, or none that the tool could read. */
function trackedOf(root: string, folder: string): Tracked | undefined {
  if (!isThere(join(root, 'schemas'))) return undefined
  const metadata = readMap(join(folder, METADATA))
  // The tool takes nothing from metadata that it cannot read.
  if (metadata === 'unreadable') return undefined
  const project = readMap(join(root, 'config.yaml')) ?? readMap(join(root, 'config.yml'))
  const named = metadata
    ? metadata.get('schema')
    : project !== 'unreadable' && project?.get('schema')
  if (typeof named !== 'string' || !NAMED_SCHEMA.test(named)) return undefined
  const schema = readMap(join(root, 'schemas', named, 'schema.yaml'))
  const pattern = schema === 'unreadable' || !schema ? undefined : trackedBy(schema)
  if (pattern === undefined) return undefined
  const isPattern = isGlob(pattern)
  const normal = pattern.replace(/^(?:\.\/)+/, '')
  const matches = isPattern ? globMatcher(normal) : (inside: string) => inside === normal
  const files = [folder, ...foldersBelow(folder)].flatMap((each) =>
    entriesOf(each).flatMap((entry) => (entry.isFile() ? [join(each, entry.name)] : [])),
  )
  const found = files.some((path) => matches(relative(folder, path).replaceAll(sep, '/')))
  return { matches, isPattern, found }
}

function readMap(path: string): ReadonlyMap<string, Plain> | 'unreadable' | undefined {
  const text = readSmall(path, YAML_BYTES)
  if (text === undefined) return isThere(path) ? 'unreadable' : undefined
  const yaml = readYamlMap(text.replace(/^\ufeff/, ''))
  return yaml.ok ? yaml.fields : 'unreadable'
}

/** What the artifact generates that holds the tasks, as the tool selects it. */
function trackedBy(schema: ReadonlyMap<string, Plain>): string | undefined {
  const [artifacts, apply] = [schema.get('artifacts'), schema.get('apply')]
  const all = Array.isArray(artifacts) ? artifacts.filter((it) => isRecord(it)) : []
  const tracks = isRecord(apply) ? (apply.tracks ?? null) : null
  const chosen = all.find(({ id, generates }) =>
    tracks === null ? id === 'tasks' : generates === tracks,
  )?.generates
  if (typeof chosen !== 'string' || chosen.split(/[\\/]+/).includes('..')) return undefined
  return chosen
}
