// The doctor's checks of boards and of this machine. Reads, and changes nothing.

import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { discoverBoards, type FoundBoard } from '../../sidecar/boards/discover.ts'
import { nameBoards } from '../../sidecar/boards/names.ts'
import { parseFile } from '../../sidecar/files/parse-file.ts'
import { readSource } from '../../sidecar/files/read-source.ts'
import { linkedTreesOf, treeOf } from '../../sidecar/git/worktrees.ts'
import {
  type Entry,
  type FileKind,
  invalidOf,
  type Store,
  whyFewer,
} from '../../sidecar/layouts/layout.ts'
import { noBoardIn, type Search } from '../../sidecar/layouts/registry.ts'
import { isCut, sizeText } from '../../sidecar/layouts/text.ts'
import type { LocalTokens } from '../../system/data/local-json.ts'
import { RECORD_BYTES, TEXT_BYTES } from '../../worker/board/wire.ts'
import { error, type Finding, ok, some, warn } from './findings.ts'

/** The kernel's queue of events that are not read yet. A larger burst loses events. */
const QUEUE = 16_384

interface Checked {
  findings: Finding[]
  stores: readonly Store[]
  /** What they are called at the edge, if a name was given. */
  names: readonly string[]
  files: number
}

/** `tokens`: of the system that runs here, if one does. */
export const noBoard = (dir: string, tokens?: LocalTokens): Finding =>
  tokens && tokens.sidecar === undefined
    ? ok('board', 'None: the running signalbox has payments alone.')
    : error('board', noBoardIn(dir, 'above or below').message)

/**
 * All boards in `dirs` and below, as a start would find them. `repo`: what their names begin with,
 * as for `watch`.
 */
export async function checkBoards(
  dirs: readonly string[],
  search: Search,
  repo?: string,
): Promise<Checked> {
  const { boards, leftOut, projects } = await discoverBoards(dirs, search)
  const [project = ''] = projects
  const { named, leftOut: unnamed } = nameBoards(
    boards,
    repo === undefined ? { repo: project, project } : { repo, project, dirs: projects },
  )
  const findings: Finding[] = []
  let files = 0
  for (const { store } of named) {
    const checked = await checkStore(store)
    findings.push(...checked.findings)
    files += checked.files
  }
  findings.push(...(await checkTrees(named)))
  // Without any board it is the reason why.
  const level = named.length > 0 ? warn : error
  const left = [...leftOut, ...unnamed].map(({ message }) => level('board', message))
  return {
    findings: merged([...findings, ...left]),
    stores: named.map(({ store }) => store),
    names: named.map(({ name }) => name),
    files,
  }
}

/** The linked worktrees whose changes are on these boards. */
async function checkTrees(boards: readonly FoundBoard[]): Promise<Finding[]> {
  const trees = new Set<string>()
  for (const { dir } of boards) {
    const leading = await treeOf(dir)
    for (const tree of leading ? await linkedTreesOf(leading.common) : []) {
      if (tree.dir !== leading?.dir) trees.add(`${basename(tree.gitFolder)} in ${tree.dir}`)
    }
  }
  return trees.size === 0 ? [] : [ok('worktrees', `${some([...trees])}.`)]
}

/** Each board has its line; what is true of all of them, one line, and what is wrong, its own. */
function merged(findings: readonly Finding[]): Finding[] {
  const checks = [...new Set(findings.map(({ about }) => about))]
  return checks.flatMap((check) => {
    const own = findings.filter(({ about }) => about === check)
    const wrong = own.filter(({ level }) => level !== 'ok')
    if (check === 'board') return own
    return wrong.length > 0 ? wrong : own.slice(0, 1)
  })
}

async function checkStore(store: Store): Promise<{ findings: Finding[]; files: number }> {
  const files = await listed(store)
  const known = files.flatMap((path) => {
    const kind = store.classify(path)
    return kind ? [{ path, kind }] : []
  })
  const counts = new Map<FileKind, number>()
  for (const { kind } of known) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const kinds = KINDS.filter((kind) => counts.has(kind))
  const counted = kinds.map((kind) => countOf(counts.get(kind) ?? 0, kind)).join(', ')
  const where = `${store.layout} in ${store.root}`
  const why = store.board?.invalid
  const { tasks, findings: ofFiles } = checkFiles(store, known)
  const fewer = whyFewer(store, tasks)
  const findings: Finding[] = [
    why === undefined
      ? ok('board', `${where}: ${counted || 'empty'}.`)
      : warn('board', `${where}: ${why}`),
    ...(fewer === undefined ? [] : [warn('board', fewer)]),
    checkNames(files, store),
    ...ofFiles,
  ]
  return { findings, files: known.length }
}

const NAMES: Record<FileKind, readonly [one: string, many: string]> = {
  task: ['task', 'tasks'],
  tasks: ['file of tasks', 'files of tasks'],
  about: ['text about a task', 'texts about tasks'],
  session: ['session', 'sessions'],
  live: ['live session', 'live sessions'],
  run: ['run', 'runs'],
  board: ['configuration', 'configurations'],
  setting: ['further setting', 'further settings'],
}

/** In the order in which they are printed. */
const KINDS = Object.keys(NAMES) as FileKind[]

const countOf = (n: number, kind: FileKind): string => `${n} ${NAMES[kind][n === 1 ? 0 : 1]}`

async function listed(store: Store): Promise<string[]> {
  const { configFile } = store
  const folders = new Set(store.folders())
  if (configFile !== undefined) folders.add(dirname(configFile))
  const names = await Promise.all(
    [...folders].map(async (folder) => {
      // A folder that is not there yet holds nothing.
      const inside = await readdir(folder).catch((): string[] => [])
      return inside.map((name) => join(folder, name))
    }),
  )
  return names.flat()
}

function checkNames(files: readonly string[], store: Store): Finding {
  const prefix = prefixOf(store)
  const ignored = files.flatMap((path) => {
    const why = store.whyIgnored?.(path, prefix)
    return why === undefined ? [] : [`${path} (${why})`]
  })
  if (ignored.length === 0) return ok('names', 'Every task file has a name that the tool reads.')
  const sentence = `${ignored.length} files among the tasks are ignored, because of their names`
  return warn('names', `${sentence}: ${some(ignored)}.`)
}

function prefixOf(store: Store): string | undefined {
  const { configFile } = store
  const source = configFile === undefined ? undefined : readSource(store, configFile)
  if (configFile === undefined || source?.state !== 'read') return undefined
  const { entries } = parseFile(store, configFile, 'board', source.text)
  return entries.find((entry) => entry.kind === 'board')?.board.prefix
}

function checkFiles(store: Store, files: { path: string; kind: FileKind }[]) {
  const broken: string[] = []
  let tasks = 0
  const texts: LongTexts = { cut: [], leftOut: [], near: [] }
  const holders = new Map<string, string[]>()
  for (const { path, kind } of files) {
    const source = readSource(store, path)
    if (source.state === 'gone') continue
    if (source.state === 'refused') {
      broken.push(`${path} (${source.why})`)
      continue
    }
    const { entries } = parseFile(store, path, kind, source.text)
    const why = entries.map(invalidOf).find((it) => it !== undefined)
    if (why !== undefined) broken.push(`${path} (${why})`)
    for (const entry of entries) {
      if (entry.kind === 'task') tasks++
      if (entry.kind !== 'task' || entry.standing === 'outside' || kind === 'about') continue
      const id = store.fold(entry.id)
      holders.set(id, [...(holders.get(id) ?? []), path])
    }
    if (source.text.length > SURELY_SHORT_CHARS) noteLongTexts(path, kind, entries, texts)
  }
  return { tasks, findings: [brokenFiles(broken), sharedIds(holders), ...longTexts(texts)] }
}

/** `holders`: the paths of the tasks of each id. */
function sharedIds(holders: ReadonlyMap<string, string[]>): Finding {
  const shared = [...holders].filter(([, paths]) => paths.length > 1)
  if (shared.length === 0) return ok('ids', 'Every task has an id of its own.')
  const named = shared.map(([id, paths]) => {
    return `${id} (${paths.length} times, in ${[...new Set(paths)].join(' and ')})`
  })
  const sentence = `${shared.length} ids belong to several tasks, and only one of them keeps its id`
  return warn('ids', `${sentence}; the others are listed as invalid: ${some(named)}.`)
}

function brokenFiles(broken: string[]): Finding {
  if (broken.length === 0) return ok('files', 'Every file can be read.')
  const sentence = `${broken.length} files cannot be read completely and are listed as invalid`
  return warn('files', `${sentence}: ${some(broken)}.`)
}

interface LongTexts {
  cut: string[]
  leftOut: string[]
  near: string[]
}

/** A character is six bytes of JSON at most, so a shorter file comes near no limit. */
const SURELY_SHORT_CHARS = 256 << 10
const NEAR_BYTES = RECORD_BYTES * 0.9

function noteLongTexts(
  path: string,
  kind: FileKind,
  entries: readonly Entry[],
  into: LongTexts,
): void {
  for (const entry of entries) {
    const name = kind === 'tasks' ? `${entry.id} of ${path}` : path
    const bytes = Buffer.byteLength(JSON.stringify(entry))
    if (bytes > RECORD_BYTES) into.leftOut.push(name)
    else if (isCut(textOf(entry))) into.cut.push(name)
    else if (bytes > NEAR_BYTES) into.near.push(name)
  }
}

function textOf(entry: Entry): string | undefined {
  if (entry.kind === 'task') return entry.task.body
  return entry.kind === 'run' ? entry.run.output : undefined
}

function longTexts({ cut, leftOut, near }: LongTexts): Finding[] {
  const [text, record] = [sizeText(TEXT_BYTES), `${RECORD_BYTES / 1e6} MB`]
  const sentences: [paths: string[], what: string][] = [
    [cut, `texts are longer than ${text} and will be cut`],
    [leftOut, `records are larger than ${record} of JSON, and their texts will be left out`],
    [near, `records are near ${record} of JSON; beyond that their texts are left out`],
  ]
  const found = sentences.flatMap(([paths, what]) =>
    paths.length === 0 ? [] : [warn('texts', `${paths.length} ${what}: ${some(paths)}.`)],
  )
  if (found.length > 0) return found
  return [ok('texts', `Nothing will be cut: every text is shorter than ${text}.`)]
}

/** Linux only: elsewhere watching has no such limits. `files` is what the watcher would see. */
export async function checkInotify(stores: readonly Store[], files: number): Promise<Finding[]> {
  const limit = async (name: string): Promise<number> =>
    Number(await readFile(`/proc/sys/fs/inotify/${name}`, 'utf8').catch(() => 'NaN'))
  const [watches, instances, queue] = await Promise.all([
    limit('max_user_watches'),
    limit('max_user_instances'),
    limit('max_queued_events'),
  ])
  if (Number.isNaN(watches)) return []
  // One a folder, and one for the root or a folder between it and those of the tasks.
  const needed = stores.reduce((sum, store) => sum + store.folders().length + 1, 0)
  const sentence =
    `${watches} watches (${needed} needed for ${files} files), ` +
    `${instances} instances, a queue of ${queue} events`
  if (watches < needed * 2 || instances < 2) {
    const raise = 'raise fs.inotify.max_user_watches and max_user_instances, or use --poll'
    return [error('inotify', `${sentence}: ${raise}.`)]
  }
  if (queue < QUEUE) {
    const lost = 'a large burst overflows it, and only the next scan finds what was lost'
    return [warn('inotify', `${sentence}: ${lost}.`)]
  }
  return [ok('inotify', `${sentence}.`)]
}
