// The Task Master layout: one `.taskmaster/tasks/tasks.json` that holds every task of every tag.

import { basename, join } from 'node:path'
import type { BoardConfig } from '../../worker/board/wire.ts'
import { defined } from '../../worker/shared/json.ts'
import { foldStatus } from '../../worker/shared/status.ts'
import { Fields, isRecord, sentence } from './fields.ts'
import {
  type Entry,
  type Layout,
  type Parsed,
  parsedAs,
  type Store,
  type TaskSource,
} from './layout.ts'
import type { Plain } from './plain-yaml.ts'
import { isFile, realFolder } from './store-folder.ts'
import { limitText } from './text.ts'
import { MAX_DEPTH, YAML_BYTES } from './yaml.ts'

const STORE = '.taskmaster'
/** Any of them marks the tool's folder. Its `init` writes the first two, and no task. */
const SIGNS = ['config.json', 'state.json', join('tasks', 'tasks.json')]

/** The tool's statuses are fixed. */
const BOARD = {
  layout: 'task-master',
  states: ['pending', 'in-progress', 'blocked', 'review', 'done', 'deferred', 'cancelled'],
  closed: ['done', 'cancelled', 'completed'],
  initial: 'pending',
  // That of the tool, until its state or configuration names another one.
  currentTag: 'master',
} satisfies BoardConfig
const CLOSED = new Set(BOARD.closed)
/** The tool begins only these, whatever their deps. */
const BEGUN = ['pending', 'in-progress', 'review']

/** No person writes a task whose fields or id are longer. */
const FIELDS_CHARS = YAML_BYTES
const ID_CHARS = 200
/** It holds all tasks of all tags; what is in it is bounded below. */
const LIST_BYTES = 32 << 20
/** Tags, tasks and subtasks of a file, which are all read at once: a large real one has 1,100. */
const MAX_TASKS = 5_000
/**
 * Values of a file, and different names of its fields: the real one has 10,500 and some twenty,
 * beside its tags. While a file of 4 MiB with millions is read, for half a second and more, no
 * webhook is taken.
 */
const MAX_VALUES = 150_000
const MAX_NAMES = MAX_TASKS + 1_000

export const taskMaster = {
  signs: 'Task Master (.taskmaster/tasks/tasks.json or .taskmaster/config.json)',
  marks: [STORE],
  async detect(dir) {
    const root = await realFolder(basename(dir) === STORE ? dir : join(dir, STORE))
    if (root === undefined) return undefined
    const found = await Promise.all(SIGNS.map((name) => isFile(join(root, name))))
    return found.includes(true) ? taskMasterStore(root) : undefined
  },
} satisfies Layout

function taskMasterStore(root: string): Store {
  const folder = join(root, 'tasks')
  // Where a tool's statuses are fixed, the one file is the configuration too.
  const configFile = join(folder, 'tasks.json')
  const stateFile = join(root, 'state.json')
  const settings = [stateFile, join(root, 'config.json')]
  return {
    layout: 'task-master',
    root,
    within: STORE,
    tasksIn: configFile,
    // The root too: in a fresh one the folder of the tasks may still have to be made.
    folders: () => [root, folder],
    configFile,
    listBytes: LIST_BYTES,
    classify(path) {
      if (settings.includes(path)) return 'setting'
      return path === configFile ? 'tasks' : undefined
    },
    parse(path, kind, text) {
      if (kind === 'setting') {
        const named = path === stateFile ? parseState(text) : parseConfig(text)
        return { state: 'ok', entries: named }
      }
      return kind === 'tasks' ? parseTasks(text) : parsedAs([])
    },
    // Without a task beside it, so that tasks read from this file before are kept.
    unreadable: (_path, kind, why) => (kind === 'tasks' ? [boardEntry(why)] : []),
    fold: (id) => id,
  } satisfies Store
}

/**
 * The board and all of its tasks, in the file's order; ids may repeat. A file that is not whole
 * (the tool writes in place) is broken and gives the board alone: the tasks that were read before
 * are kept, or every half-written save would delete the board.
 */
function parseTasks(text: string): Parsed {
  if (isCrowded(text)) return { state: 'broken', entries: [boardEntry(CROWDED)] }
  const file = readJson(text)
  if (!isRecord(file)) {
    return { state: 'broken', entries: [boardEntry(file === undefined ? NOT_JSON : NOT_TAGS)] }
  }
  if (hasTooMany(file)) return { state: 'broken', entries: [boardEntry(TOO_MANY)] }
  const problems: string[] = []
  const tags = tagsOf(file, problems)
  const tasks = tags.flatMap(([tag, value]) => {
    const name = idPart(tag)
    const shown = tag.slice(0, 40).toWellFormed()
    if (name !== tag) problems.push(`the tag "${shown}" has a name that no id can hold whole`)
    if (isTag(value)) return tagEntries(name, value.tasks)
    problems.push(`the tag "${shown}" holds no list of tasks`)
    return []
  })
  // One tag or task that is out of order is how its author left it: the file was read whole.
  return { state: 'ok', entries: [boardEntry(sentence('The file', problems)), ...tasks] }
}

/** By its marks alone, whether it is valid or not. */
function isCrowded(text: string): boolean {
  let values = 0
  const names = new Set<string>()
  /** Where the last string is. */
  let [from, to] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        from = at
        at = to = endOfString(text, at)
        break
      case COLON:
        names.add(text.slice(from, to))
        if (names.size > MAX_NAMES) return true
        break
      case COMMA:
      case BRACKET:
      case BRACE:
        if (++values > MAX_VALUES) return true
    }
  }
  return false
}

const [QUOTE, COLON, COMMA, BRACKET, BRACE, BACKSLASH] = [0x22, 0x3a, 0x2c, 0x5b, 0x7b, 0x5c]

/** Where the string that begins `at` has its closing quote: looked for, since prose is long. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === BACKSLASH) before--
    if ((end - before) % 2 === 0) return end
  }
  return text.length
}

function hasTooMany(file: { [key: string]: Plain }): boolean {
  const tags = Object.values(file)
  let count = 0
  for (const tag of tags) {
    const tasks = isRecord(tag) ? tag.tasks : tag
    count += 1 + (Array.isArray(tasks) ? tasks.length : 0)
    if (count > MAX_TASKS) return true
    for (const task of Array.isArray(tasks) ? tasks : []) {
      if (isRecord(task) && Array.isArray(task.subtasks)) count += task.subtasks.length
    }
  }
  return count > MAX_TASKS
}

type Tag = { tasks: Plain[] }

const isTag = (value: Plain | Tag): value is Tag => isRecord(value) && Array.isArray(value.tasks)

/**
 * The tool's older files hold a list and no tags. Beside tags that list is an old copy, from which
 * the tool once made them: its ids would hide theirs.
 */
function tagsOf(file: { [key: string]: Plain }, problems: string[]): [string, Plain | Tag][] {
  const { tasks, metadata, ...tags } = file
  const named: [string, Plain | Tag][] = Object.entries(tags)
  for (const [name, value] of Object.entries({ tasks, metadata })) {
    if (isTag(value ?? null)) named.push([name, value ?? null])
  }
  if (!Array.isArray(tasks)) return named
  if (!named.some(([, value]) => isTag(value))) return [['master', { tasks }]]
  problems.push('the list "tasks" beside the tags is of an older form, and the tool ignores it')
  return named
}

/** The tag that the tool works in. Empty if its `state.json` names none. */
function parseState(text: string): Entry[] {
  const state = readJson(text)
  return tagSetting('currentTag', isRecord(state) ? state.currentTag : undefined)
}

/** The tag that it works in where no state names one. */
function parseConfig(text: string): Entry[] {
  const config = readJson(text)
  const { global } = isRecord(config) ? config : {}
  return tagSetting('defaultTag', isRecord(global) ? global.defaultTag : undefined)
}

const tagSetting = (id: string, tag: Plain | undefined): Entry[] =>
  typeof tag === 'string' && tag !== '' ? [{ kind: 'setting', id, value: idPart(tag) }] : []

const STAY = 'its tasks stay as they were last read.'
const NOT_JSON = `tasks.json is not valid JSON; ${STAY}`
const TOO_MANY = `tasks.json holds more than ${MAX_TASKS} tasks; ${STAY}`
const LARGEST = `more than ${MAX_VALUES} values, or ${MAX_NAMES} names of fields`
const CROWDED = `tasks.json holds ${LARGEST}; ${STAY}`
const NOT_TAGS = `tasks.json is not a map of tags; ${STAY}`

function boardEntry(invalid: string | undefined): Entry {
  return { kind: 'board', id: 'board', board: defined({ ...BOARD, invalid }) }
}

function tagEntries(tag: string, tasks: Plain[]): Entry[] {
  const inTag = (id: string): string => `${tag}:${id}`
  const groups = tasks.map((value, index) => {
    const number = numberOf(value, index)
    const subtasks = isRecord(value) && Array.isArray(value.subtasks) ? value.subtasks : []
    const siblings = new Set(subtasks.map(numberOf))
    const inTask = (id: string): string => inTag(siblings.has(id) ? `${number}.${id}` : id)
    const whole = taskEntry({ id: inTag(number), tag }, value, inTag)
    const parts = subtasks.map((subtask, at) => {
      const id = inTag(`${number}.${numberOf(subtask, at)}`)
      return taskEntry({ id, tag, parent: whole.id }, subtask, inTask)
    })
    return { whole, parts }
  })
  const isClosed = new Map<string, boolean>()
  for (const { id, task } of groups.flatMap(({ whole, parts }) => [whole, ...parts])) {
    if (!isClosed.has(id)) isClosed.set(id, CLOSED.has(foldStatus(task.status)))
  }
  return groups.flatMap(({ whole, parts }) =>
    isWaiting(whole, isClosed) ? [whole, ...parts.map(held)] : [whole, ...parts],
  )
}

/** The tool begins a subtask with its task, or once that has begun. */
function isWaiting({ id, task, standing }: TaskEntry, isClosed: ReadonlyMap<string, boolean>) {
  if (foldStatus(task.status) === 'in-progress' || isClosed.get(id)) return false
  return standing === 'held' || task.deps?.some((dep) => !isClosed.get(dep)) === true
}

const held = (entry: TaskEntry): TaskEntry => ({ ...entry, standing: 'held' })

/**
 * The edge takes ids up to a length, and none with half of a surrogate pair, which JSON can hold:
 * one such id in a sync would keep every other task from its clients.
 */
const idPart = (text: string): string => text.slice(0, ID_CHARS).toWellFormed()

/** The tool's own number of a task; one without any is named after its position in the list. */
function numberOf(value: Plain, index: number): string {
  const id = isRecord(value) ? value.id : undefined
  const text = typeof id === 'number' || typeof id === 'string' ? String(id).trim() : ''
  return text === '' ? `unnumbered-${index + 1}` : idPart(text)
}

/** What the file's structure says of a task. */
interface Position {
  id: string
  tag: string
  parent?: string
}

type TaskEntry = Entry & { kind: 'task' }

function taskEntry(position: Position, value: Plain, resolve: (dep: string) => string): TaskEntry {
  const { id } = position
  const { task, deps } = isRecord(value)
    ? readTask(position, value, resolve)
    : { task: { ...position, title: id, status: '', invalid: 'The task is not a map of fields.' } }
  // With its deps as they stand there: what they resolve to may change with a sibling, and then it
  // is the sibling's entry that changed.
  const source = JSON.stringify({ ...task, deps })
  const entry: TaskEntry = { kind: 'task', id, task, source }
  return BEGUN.includes(foldStatus(task.status)) ? entry : held(entry)
}

function readTask(
  position: Position,
  value: { [key: string]: Plain },
  resolve: (dep: string) => string,
): { task: TaskSource; deps?: readonly string[] | undefined } {
  const { id: number, description, details, testStrategy, subtasks, ...others } = value
  const problems: string[] = []
  if (typeof number !== 'number' && typeof number !== 'string') problems.push('"id" is missing')
  if (!Array.isArray(subtasks ?? [])) problems.push('"subtasks" is not a list')
  const { id } = position
  const nested = position.parent !== undefined && Array.isArray(subtasks) && subtasks.length > 0
  const texts = Object.entries({
    description: description ?? null,
    details: details ?? null,
    testStrategy: testStrategy ?? null,
  })
  const prose = new Fields(new Map(texts), problems)
  const body = [
    prose.text('description'),
    section('Details', prose.text('details')),
    section('Test strategy', prose.text('testStrategy')),
  ]
  const fields = new Fields(new Map(Object.entries(others)), problems)
  const deps = fields.texts('dependencies')
  const known = {
    ...position,
    title: fields.text('title') ?? id,
    status: fields.text('status') ?? '',
    assignee: fields.text('assignee'),
    deps: deps?.map(resolve),
    updatedAt: fields.time('updatedAt'),
    labels: fields.texts('labels'),
    priority: fields.text('priority'),
    dueDate: fields.text('dueDate'),
    complexity: fields.number('complexity'),
    extra: nested ? { ...fields.rest(), subtasks } : fields.rest(),
  }
  const limited = isSmall(known) ? known : { ...position, title: id, status: '' }
  if (limited !== known) problems.push('its fields are too large or nested too deeply')
  const invalid = sentence('The task', problems)
  return { task: defined({ ...limited, body: limitText(joined(body)), invalid }), deps }
}

const section = (title: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : `## ${title}\n\n${text}`

const joined = (parts: (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join('\n\n')

/** JSON.parse reads any depth; to write it again, here or in a client, overflows the stack. */
const isSmall = (fields: object): boolean =>
  // One alone may have 32 MiB, and it takes half a second to write that.
  Object.values(fields).every((it) => typeof it !== 'string' || it.length <= FIELDS_CHARS) &&
  !isDeeperThan(MAX_DEPTH, fields) &&
  JSON.stringify(fields).length <= FIELDS_CHARS

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner)))

function readJson(text: string): Plain | undefined {
  try {
    const json: Plain = JSON.parse(text.replace(/^\ufeff/, ''))
    if (MAYBE_PROTO.test(text)) dropProto(json)
    return json
  } catch {
    return undefined
  }
}

const MAYBE_PROTO = /__proto__|\\u00/

/** `__proto__` is a plain key to JSON.parse, but not to code that copies objects key by key. */
function dropProto(json: Plain): void {
  const open = [json]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) Reflect.deleteProperty(value, '__proto__')
    for (const inner of Object.values(value)) {
      if (typeof inner === 'object') open.push(inner)
    }
  }
}
