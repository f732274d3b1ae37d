// Tools that keep a folder for each change (a feature, a spec) with its checklist, `tasks.md`. The
// change is a task, and the parent of the tasks of its list. No tool has a file for statuses.

import { hash } from 'node:crypto'
import { type Dirent, readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { BoardConfig } from '../../worker/board/wire.ts'
import { defined } from './fields.ts'
import { type Entry, type FileKind, parsedAs, type Store, type TaskSource } from './layout.ts'
import { limitText, sizeText } from './text.ts'

/** What one tool's checklists have of their own. */
export interface Checklists {
  board: BoardConfig
  /** Holds all of it. Absolute. */
  root: string
  /** Its path below the project's folder. */
  within: string
  /** Holds a folder for each change. Absolute. */
  tasksIn: string
  /** The folder in `tasksIn` whose changes are closed. */
  archive?: string
  /** What stands between the brackets of a task, and its status. Any other is open. */
  marks: Readonly<Record<string, string>>
  /** The files beside a checklist that say what the change is about. */
  about: readonly string[]
  /** Which files a change has. Absent: a checklist and those that are about it. */
  files?: ChangeFiles
  /** The change's title, in the heading of such a file. */
  titleOf(heading: string): string | undefined
  /** What the tool has in the text of a task. */
  fieldsOf?(item: Item, list: List): Partial<TaskSource>
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
  /** The lowest of the files that tell of a change counts. */
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

/** A task of a checklist. */
export interface Item {
  /** Without its number. */
  text: string
  /** The line, and those that are indented below it. */
  lines: string[]
  mark: string
  /** Brackets with an asterisk: `[ ]*`. */
  isOptional: boolean
  number: string | undefined
  /** The task that it is indented under. */
  above: Item | undefined
  /** The heading it stands under. */
  group: string | undefined
  indent: number
}

export const CHECKLIST = 'tasks.md'
/**
 * A person's longest lists have some hundred lines. 32,000 tasks took over 100 ms, in which no
 * webhook is taken.
 */
const LIST_BYTES = 512 << 10
const LIST_TASKS = 10_000
const BOX = /^[ \t]{0,40}(?:[-*+]|\d{1,9}[.)])[ \t]{0,40}\[/gm
const TITLE_CHARS = 300
const OPEN = 'todo'
const DONE = 'done'

/**
 * A task as OpenSpec counts it, in code fences, too: any bullet, and brackets with one mark at
 * most, unless they begin a link. Spaces are bounded, or a line of spaces would take minutes.
 */
const TASK = /^(\s*)(?:[-*+]|\d{1,9}[.)])\s*\[(?:\s{0,40}([^\]\s]?)\s{0,40}\](?![([])|\s+\])\s*(.*)/
const NUMBER =
  /^([*_~`]*)(T\d{1,6}[A-Za-z]?|\d{1,5}(?:\.\d{1,5}){0,20}[a-z]?)\\?[.):]?([*_~`]*)(?:\s+|$)/
const FENCE = /^\s*(?:```|~~~)/
/** A line that goes on with the text above it, though it is not indented. */
const GOES_ON = /^\s*(?![-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|```|~~~|[>|<]|[-*_=]{3})\S/

export function checklistStore(tool: Checklists): Store {
  const { root, within, tasksIn, board, files = oneList(tool) } = tool
  const archive = tool.archive === undefined ? undefined : join(tasksIn, tool.archive)
  const withChanges = archive === undefined ? [tasksIn] : [tasksIn, archive]
  /** Names of changes that have a date of their own: none is added when they are archived. */
  const dated = new Set<string>()
  const remember = (id: string): void => {
    const [name = ''] = id.split('/', 1)
    if (DATE.test(name)) dated.add(name)
  }
  const changeOf = (path: string): Change | undefined => {
    if (!path.startsWith(tasksIn + sep)) return undefined
    const parts = path.slice(tasksIn.length + 1).split(sep)
    const isArchived = archive !== undefined && parts[0] === tool.archive
    const [name = '', ...inside] = isArchived ? parts.slice(1) : parts
    if (inside.length === 0) return undefined
    const folder = join(isArchived ? archive : tasksIn, name)
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
    folders() {
      const open = foldersIn(tasksIn)
      for (const folder of open) remember(folder.slice(tasksIn.length + 1))
      const changes = archive === undefined ? open : [...open, ...foldersIn(archive)]
      return [...withChanges, ...changes, ...changes.flatMap((each) => files.foldersIn(each))]
    },
    classify(path) {
      const kind = fileOf(path)?.file.kind
      return kind === 'sign' ? 'about' : kind
    },
    roleOf(path) {
      const found = fileOf(path)
      if (!found) return { folder: path, rank: 0 }
      const { change, file } = found
      const { id, folder } = change
      return { folder, rank: file.rank, ...(file.isOneOfMany && { about: id }) }
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
    fold: (id) => id,
    foldStatus: (status) => status,
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
  const most =
    text.length > LIST_BYTES
      ? `${sizeText(text.length)}, and at most ${sizeText(LIST_BYTES)} are read`
      : hasMore(text.matchAll(BOX), LIST_TASKS) && `more than ${LIST_TASKS} tasks`
  return most
    ? `The checklist is too large: ${most}; its tasks stay as they were last read.`
    : undefined
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
  const numbers = items.flatMap(({ number }) => number ?? [])
  const seen = new Map<string, number>()
  const numbered = new Map<string, Item>()
  /** Without those whose number another one has. */
  const ids = new Map<Item, string>()
  const entries = items.map((item, at): Entry & { kind: 'task' } => {
    const { number } = item
    const id = idOf(number ?? nameOf(item.text, seen))
    const whole = item.above ?? numberedAbove(number, numbered)
    if (number === undefined || !numbered.has(number)) {
      ids.set(item, id)
      if (number !== undefined) numbered.set(number, item)
    }
    const fields = tool.fieldsOf?.(item, { numbers, idOf }) ?? {}
    const { title = item.text } = fields
    const below = unindented(item.lines.slice(1))
    const body = (title.length > TITLE_CHARS ? [title, ...below] : below).join('\n')
    const task = defined({
      id,
      status: tool.marks[item.mark] ?? OPEN,
      parent: change.id,
      partOf: whole && ids.get(whole),
      unnumbered: number === undefined || undefined,
      // Each one: those with a rank come before all others, whatever their numbers are.
      rank: at + 1,
      folder: change.isArchived ? 'archive' : undefined,
      milestone: item.group,
      ...fields,
      title: cut(title) || id,
      body: body === '' ? undefined : limitText(body),
    })
    const source = item.lines.join('\n')
    return { kind: 'task', id, task, source, ...(change.isArchived && { standing: 'outside' }) }
  })
  const statuses = new Set(entries.map(({ task }) => task.status))
  const isDone = statuses.size === 1 && statuses.has(DONE)
  const status = isDone ? DONE : statuses.has('in-progress') ? 'in-progress' : OPEN
  // The lines of its tasks are not its own.
  const own = { ...changeEntry(change, status, undefined), source: rest.join('\n') }
  return [own, ...entries]
}

/** The task above that has the number which this one goes on from: `1.2` for `1.2.3`, else `1`. */
function numberedAbove(number = '', above: ReadonlyMap<string, Item>): Item | undefined {
  for (let end = number.lastIndexOf('.'); end > 0; end = number.lastIndexOf('.', end - 1)) {
    const found = above.get(number.slice(0, end))
    if (found) return found
  }
  return undefined
}

/** For a task without a number: its text's hash. Of the same text each has another name. */
function nameOf(text: string, seen: Map<string, number>): string {
  const name = hash('sha256', text, 'hex').slice(0, 8)
  const count = (seen.get(name) ?? 0) + 1
  seen.set(name, count)
  return count === 1 ? name : `${name}-${count}`
}

/** Cut first: looking for the end of a line of spaces takes the square of its length. */
const headingText = (line: string): string => cut(line.trim()).replace(/^#+\s+|[\s#]+$/g, '')

const cut = (title: string): string =>
  title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS).toWellFormed()}…` : title

/** `rest`: the lines that are of no task. */
function readChecklist(text: string): { items: Item[]; rest: string[] } {
  const items: Item[] = []
  const rest: string[] = []
  /** The tasks that an indented line may belong to, the innermost last. */
  const open: Item[] = []
  let group: string | undefined
  let isFenced = false
  let isInText = false
  for (const line of text.split(/\r?\n/)) {
    const found = TASK.exec(line)
    const indent = widthOf(found?.[1] ?? /^\s*/.exec(line)?.[0] ?? '')
    const isBlank = line.trim() === ''
    const goesOn = isInText && !isFenced && found === null && GOES_ON.test(line)
    while (!isBlank && !goesOn && indent <= (open.at(-1)?.indent ?? -1)) open.pop()
    if (found) {
      const [, , mark = '', written = ''] = found
      const text = written.replace(/^\*\s+/, '')
      const number = NUMBER.exec(text)
      const item = {
        text: withoutNumber(text, number),
        lines: [line],
        mark,
        isOptional: text !== written,
        number: number?.[2],
        above: open.at(-1),
        group,
        indent,
      }
      items.push(item)
      open.push(item)
      isInText = true
      continue
    }
    if (FENCE.test(line)) isFenced = !isFenced
    else if (!isFenced && line.startsWith('## ')) group = headingText(line)
    const of = open.at(-1)
    isInText = of !== undefined && !isBlank
    if (of) of.lines.push(line)
    else if (!isBlank) rest.push(line)
  }
  for (const { lines } of items) while (lines.at(-1)?.trim() === '') lines.pop()
  return { items, rest }
}

/** Emphasis that begins before the number and ends in the text is of neither. */
function withoutNumber(text: string, number: RegExpExecArray | null): string {
  const [all = '', opening = '', , closing = ''] = number ?? []
  const rest = text.slice(all.length).trim()
  return closing.length < opening.length ? rest.replace(opening.slice(closing.length), '') : rest
}

const widthOf = (space: string): number => space.replaceAll('\t', '    ').length

function unindented(lines: readonly string[]): string[] {
  const texts = lines.filter((line) => line.trim() !== '')
  const least = texts.reduce((min, line) => Math.min(min, line.search(/\S/)), Infinity)
  return lines.map((line) => line.slice(least))
}
