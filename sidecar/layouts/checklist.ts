// Tools that keep a folder for each change (a feature, a spec) with its checklist, `tasks.md`. The
// change is a task, and the parent of the tasks of its list. No tool has a file for statuses.

import { hash } from 'node:crypto'
import { type Dirent, readdirSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import type { BoardConfig } from '../../worker/board/wire.ts'
import { defined } from '../../worker/shared/json.ts'
import { cutTitle, headingText, type Item, readChecklist, TITLE_CHARS } from './checklist-items.ts'
import { type Order, waitsOf } from './checklist-order.ts'
import { type Entry, type FileKind, parsedAs, type Store, type TaskSource } from './layout.ts'
import { limitText } from './text.ts'

/** What each tool says of its checklists. */
interface Required {
  board: BoardConfig
  /** Holds all of it. Absolute. */
  root: string
  /** Its path below the project's folder. */
  within: string
  /** Holds a folder for each change. Absolute. */
  tasksIn: string
  /** What stands between the brackets of a task, and its status. Any other is open. */
  marks: Readonly<Record<string, string>>
  /** The files beside a checklist that say what the change is about. */
  about: readonly string[]
  /** The change's title, in the heading of such a file. */
  titleOf(heading: string): string | undefined
}

/** What some tools have besides. */
export interface Checklists extends Required {
  /** Folders besides `tasksIn` that hold changes. */
  othersIn?: readonly string[]
  /** See `Store`. */
  unread?: () => string | undefined
  /** The folder in `tasksIn` whose changes are closed. */
  archive?: string
  /** Which files a change has. Absent: a checklist and those that are about it. */
  files?: ChangeFiles
  /** What the tool has in the texts of a list's tasks. */
  fieldsIn?(list: List): (item: Item) => Partial<TaskSource>
  /** What comes before a task by the order of its list, or by what `text` says of it. */
  orderOf?(items: readonly Item[], text: string): Order
}

/** The files of a change of a tool that has more of them. `folder`: the change's own. */
export interface ChangeFiles {
  /** Below the change's folder. Absolute. */
  foldersIn(folder: string): string[]
  /** Undefined: it is none of the change's. */
  fileOf(folder: string, inside: readonly string[]): ChangeFile | undefined
}

export interface ChangeFile {
  /** `sign`: there is a change. The file says no more of it. */
  kind: 'tasks' | 'about' | 'sign'
  /** The lowest of the files that describe a change counts. */
  rank: number
  /** Why there should be more than this sign, in one sentence. */
  alone?: string
  /** Others hold tasks of the same change. */
  isOneOfMany?: boolean
}

/** What the tasks of one checklist have in common. */
export interface List {
  numbers: readonly string[]
  /** The id of the task with this number. */
  idOf(number: string): string
}

export const CHECKLIST = 'tasks.md'
/**
 * A person's longest lists have some hundred lines. 32,000 tasks took over 100 ms, in which no
 * webhook is taken.
 */
const LIST_BYTES = 512 << 10
const LIST_TASKS = 10_000
const BOX = /^[ \t]{0,40}(?:[-*+]|\d{1,9}[.)])[ \t]{0,40}\[/gm
const OPEN = 'todo'
const DONE = 'done'

export function checklistStore(tool: Checklists): Store {
  const { root, within, tasksIn, board, files = oneList(tool) } = tool
  const archive = tool.archive === undefined ? undefined : join(tasksIn, tool.archive)
  const { othersIn = [], unread } = tool
  const withChanges = [tasksIn, ...othersIn, ...(archive === undefined ? [] : [archive])]
  /** One may be within another one. */
  const places = [tasksIn, ...othersIn].toSorted((one, other) => other.length - one.length)
  /** Names of changes that have a date of their own: none is added when they are archived. */
  const dated = new Set<string>()
  const remember = (id: string): void => {
    const [name = ''] = id.split('/', 1)
    if (DATE.test(name)) dated.add(name)
  }
  const changeOf = (path: string): Change | undefined => {
    const place = places.find((each) => path.startsWith(each + sep))
    if (place === undefined) return undefined
    const parts = path.slice(place.length + 1).split(sep)
    const isArchived = archive !== undefined && parts[0] === tool.archive
    const [name = '', ...inside] = isArchived ? parts.slice(1) : parts
    if (inside.length === 0) return undefined
    const folder = join(isArchived ? archive : place, name)
    const id = isArchived && !dated.has(name) ? name.replace(DATE, '') : name
    return { id, isArchived, folder, inside }
  }
  const fileOf = (path: string) => {
    const change = changeOf(path)
    const file = change && files.fileOf(change.folder, change.inside)
    return file && { change, file }
  }
  return {
    layout: board.layout,
    root,
    within,
    tasksIn,
    board,
    listBytes: LIST_BYTES,
    folders() {
      const open = places.flatMap(foldersIn)
      for (const folder of open) remember(basename(folder))
      const changes = archive === undefined ? open : [...open, ...foldersIn(archive)]
      const below = changes.flatMap((each) => files.foldersIn(each))
      return [...new Set([...withChanges, ...changes, ...below])]
    },
    classify(path) {
      const kind = fileOf(path)?.file.kind
      return kind === 'sign' ? 'about' : kind
    },
    roleOf(path) {
      const found = fileOf(path)
      if (!found) return undefined
      const { change, file } = found
      const { id, folder } = change
      return { folder, rank: file.rank, ...(file.isOneOfMany && { isAbout: (it) => it === id }) }
    },
    remember,
    parse(path, kind, text) {
      const found = fileOf(path)
      if (!found) return parsedAs([])
      const { change, file } = found
      if (file.kind === 'sign') return parsedAs([signEntry(change, file)])
      const why = whyUnread(kind, text)
      if (why !== undefined) return { state: 'broken', entries: [changeEntry(change, OPEN, why)] }
      if (kind === 'about') return parsedAs([aboutEntry(tool, change, text)])
      const [own, ...tasks] = listEntries(tool, change, text)
      // Whether all others are done is not known here.
      const first = file.isOneOfMany ? changeEntry(change, OPEN, undefined) : own
      return { state: 'ok', entries: [first, ...tasks] }
    },
    // The tasks that were read from this file before are kept.
    unreadable(path, _kind, why) {
      const found = fileOf(path)
      if (!found) return []
      const { change, file } = found
      return [file.kind === 'sign' ? signEntry(change, file) : changeEntry(change, OPEN, why)]
    },
    ...(unread && { unread }),
    fold: (id) => id,
  } satisfies Store
}

/** What a tool adds to the name of a change that it archives. */
const DATE = /^\d{4}-\d\d-\d\d-(?=.)/

const oneList = ({ about }: Pick<Checklists, 'about'>): ChangeFiles => ({
  foldersIn: () => [],
  fileOf(_folder, [name = '', ...below]) {
    if (below.length > 0) return undefined
    if (name === CHECKLIST) return { kind: 'tasks', rank: 0 }
    return about.includes(name) ? { kind: 'about', rank: 0 } : undefined
  },
})

interface Change {
  id: string
  isArchived: boolean
  folder: string
  /** The file's path within it. */
  inside: readonly string[]
}

/** Folders, but no links. */
export function foldersIn(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) =>
    entry.isDirectory() ? [join(folder, entry.name)] : [],
  )
}

export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // None yet, or it cannot be read: the scan says so.
    return []
  }
}

function whyUnread(kind: FileKind, text: string): string | undefined {
  if (text.includes('\0')) return 'The file is not text: it holds NUL bytes.'
  if (kind !== 'tasks') return undefined
  if (!hasMore(text.matchAll(BOX), LIST_TASKS)) return undefined
  const what = `more than ${LIST_TASKS} tasks`
  return `The checklist is too large: ${what}; its tasks stay as they were last read.`
}

function hasMore(found: Iterable<unknown>, most: number): boolean {
  let count = 0
  for (const _ of found) if (++count > most) return true
  return false
}

/** The change itself. Nobody begins it: its tasks are what is to be done. */
function changeEntry(
  { id, isArchived }: Pick<Change, 'id' | 'isArchived'>,
  status: string,
  invalid: string | undefined,
  more: Partial<TaskSource> = {},
): Entry & { kind: 'task' } {
  const folder = isArchived ? 'archive' : undefined
  const shown = isArchived ? DONE : status
  const task = defined({ id, title: id, status: shown, folder, ...more, invalid })
  return { kind: 'task', id, task, standing: isArchived ? 'outside' : 'held' }
}

const signEntry = (change: Change, { alone }: ChangeFile): Entry => ({
  ...changeEntry(change, OPEN, undefined),
  ...(alone !== undefined && { alone }),
})

function aboutEntry({ titleOf }: Checklists, change: Change, text: string): Entry {
  const heading = text.split('\n').find((line) => line.startsWith('# '))
  const title = (heading && titleOf(headingText(heading))) || change.id
  return changeEntry(change, OPEN, undefined, { title, body: limitText(text) })
}

function listEntries(tool: Checklists, change: Change, text: string): [Entry, ...Entry[]] {
  const { items, rest } = readChecklist(text)
  const idOf = (name: string): string => `${change.id}/${name}`
  const seen = new Map<string, number>()
  const ids = new Map(items.map((it) => [it, idOf(it.number ?? nameOf(it.text, seen))]))
  const byId = new Map(items.flatMap((it) => (it.isTwin ? [] : [[ids.get(it), it]])))
  const numbers = items.flatMap(({ number }) => number ?? [])
  const fieldsOf = tool.fieldsIn?.({ numbers, idOf })
  const fields = new Map(items.map((it) => [it, fieldsOf?.(it) ?? {}]))
  const named = (item: Item) => (fields.get(item)?.deps ?? []).flatMap((id) => byId.get(id) ?? [])
  const waits = waitsOf(items, named, tool.orderOf?.(items, text) ?? new Map())
  const tasks = items.map((item, at): Entry & { kind: 'task' } => {
    const { number, whole, mark, group, lines } = item
    const id = ids.get(item) ?? ''
    const { title = item.text, deps = [], ...more } = fields.get(item) ?? {}
    const below = unindented(lines.slice(1))
    const body = (title.length > TITLE_CHARS ? [title, ...below] : below).join('\n')
    const before = new Set([...(waits.get(item) ?? [])].flatMap((other) => ids.get(other) ?? []))
    const own = deps.filter((dep) => before.has(dep) || !byId.has(dep))
    const all = new Set([...own, ...before])
    const task = defined({
      id,
      status: tool.marks[mark] ?? OPEN,
      parent: change.id,
      partOf: whole && ids.get(whole),
      unnumbered: number === undefined || undefined,
      deps: all.size > 0 ? [...all] : undefined,
      // Each one: those with a rank come before all others, whatever their numbers are.
      rank: at + 1,
      folder: change.isArchived ? 'archive' : undefined,
      milestone: group,
      ...more,
      title: cutTitle(title) || id,
      body: body === '' ? undefined : limitText(body),
    })
    const source = lines.join('\n')
    return { kind: 'task', id, task, source, ...(change.isArchived && { standing: 'outside' }) }
  })
  // The lines of its tasks are not its own.
  const own = { ...changeEntry(change, statusOf(tasks), undefined), source: rest.join('\n') }
  return [own, ...tasks]
}

/** Of a change, by those of its tasks that it is not done without. */
function statusOf(entries: readonly (Entry & { kind: 'task' })[]): string {
  const needed = entries.filter(({ task }) => !task.optional)
  const counted = needed.length > 0 ? needed : entries
  const statuses = new Set(counted.map(({ task }) => task.status))
  if (statuses.size === 1 && statuses.has(DONE)) return DONE
  return statuses.has('in-progress') ? 'in-progress' : OPEN
}

/** For a task without a number: its text's hash. Of the same text each has another name. */
function nameOf(text: string, seen: Map<string, number>): string {
  const name = hash('sha256', text, 'hex').slice(0, 8)
  const count = (seen.get(name) ?? 0) + 1
  seen.set(name, count)
  return count === 1 ? name : `${name}-${count}`
}

function unindented(lines: readonly string[]): string[] {
  const texts = lines.filter((line) => line.trim() !== '')
  const least = texts.reduce((min, line) => Math.min(min, line.search(/\S/)), Infinity)
  return lines.map((line) => line.slice(least))
}
