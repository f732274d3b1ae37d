// The cairn layout: `.cairn/` with a file per task, session, live session and run.

import { basename, dirname, extname, join } from 'node:path'
import { defined } from '../../worker/shared/json.ts'
import { parseRun, RUN_NAME, runEntry } from './cairn-run.ts'
import { Fields, isRecord, sentence } from './fields.ts'
import { type Entry, type FileKind, type Layout, parsedAs, type Store } from './layout.ts'
import type { Plain } from './plain-yaml.ts'
import { isFile, realFolder } from './store-folder.ts'
import { readFrontMatter, whyNoText } from './text.ts'
import { readYamlMap, YAML_BYTES } from './yaml.ts'

const STORE = '.cairn'
const TASK_NAME = /^[A-Za-z0-9_-]+\.md$/
const SESSION_NAME = /^ses_[0-9a-f]{24}\.yaml$/
const LIVE_NAME = /^ses_[0-9a-f]{24}\.json$/

export const cairn = {
  signs: 'cairn (.cairn/config.yaml or .cairn/tasks/)',
  marks: [STORE],
  async detect(dir) {
    const root = await realFolder(basename(dir) === STORE ? dir : join(dir, STORE))
    if (root === undefined) return undefined
    const found =
      (await isFile(join(root, 'config.yaml'))) || (await realFolder(join(root, 'tasks')))
    return found ? cairnStore(root) : undefined
  },
} satisfies Layout

function cairnStore(root: string): Store {
  const tasks = join(root, 'tasks')
  const sessions = join(root, 'sessions')
  const live = join(root, 'live')
  const runs = join(root, 'runs')
  const configFile = join(root, 'config.yaml')

  return {
    layout: 'cairn',
    root,
    within: STORE,
    tasksIn: tasks,
    folders: () => [root, tasks, sessions, live, runs],
    configFile,
    classify(path) {
      if (path === configFile) return 'board'
      const name = basename(path)
      switch (dirname(path)) {
        case tasks:
          return TASK_NAME.test(name) ? 'task' : undefined
        case sessions:
          return SESSION_NAME.test(name) ? 'session' : undefined
        case live:
          return LIVE_NAME.test(name) ? 'live' : undefined
        case runs:
          return RUN_NAME.test(name) ? 'run' : undefined
        default:
          return undefined
      }
    },
    parse(path, kind, text) {
      switch (kind) {
        case 'task':
          return parsedAs([parseTask(stem(path), text)])
        case 'session':
          return parsedAs([parseSession(stem(path), text)])
        case 'live':
          return parsedAs(parseLive(stem(path), text))
        case 'run':
          return parsedAs([parseRun(basename(path), text)])
        case 'board':
          return parsedAs([parseConfig(text)])
        case 'tasks':
        case 'about':
        case 'setting':
          return parsedAs([])
      }
    },
    whyIgnored(path) {
      const name = basename(path)
      const isMeant = dirname(path) === tasks && extname(name) === '.md'
      if (!isMeant || name.startsWith('.tmp-') || TASK_NAME.test(name)) return undefined
      return 'its name is no id'
    },
    unreadable,
    fold: (id) => id,
  } satisfies Store
}

function unreadable(path: string, kind: FileKind, invalid: string): Entry[] {
  const id = stem(path)
  switch (kind) {
    case 'task':
      return [{ kind, id, task: { id, title: id, status: '', invalid } }]
    case 'session': {
      const blank = { task: '', attempt: '', actor: '', status: '', startedAt: '' }
      return [{ kind, id, session: { id, ...blank, invalid } }]
    }
    case 'run':
      return [runEntry(basename(path), { timedout: false, invalid })]
    case 'board':
      return [{ kind, id: 'board', board: { layout: 'cairn', states: [], closed: [], invalid } }]
    // A heartbeat that cannot be read is ignored: its session becomes stale, which is shown.
    case 'live':
    case 'tasks':
    case 'about':
    case 'setting':
      return []
  }
}

const stem = (path: string): string => basename(path, extname(path))

/** The id is the name of the file. An id in its front matter is ignored. */
function parseTask(id: string, text: string): Entry {
  const { fields, body, invalid } = readFrontMatter(text)
  fields.text('id')
  const provenance = fields.maps('provenance')?.map((entry) =>
    defined({
      who: entry.text('who') ?? '',
      at: entry.time('at') ?? '',
      did: entry.text('did') ?? '',
      text: entry.text('text'),
    }),
  )
  const checks = fields.maps('checks')?.map((check) =>
    defined({
      desc: check.text('desc') ?? '',
      cmd: check.text('cmd'),
      type: check.text('type'),
      result: check.text('result'),
      cwd: check.text('cwd'),
      timeout: check.number('timeout'),
    }),
  )
  const task = defined({
    id,
    title: fields.text('title') ?? id,
    status: fields.text('status') ?? '',
    assignee: fields.text('assignee'),
    deps: fields.texts('deps'),
    updatedAt: provenance?.at(-1)?.at || undefined,
    rank: fields.number('rank'),
    labels: fields.texts('labels'),
    priority: fields.text('priority'),
    parent: fields.text('parent'),
    activeAttempt: fields.text('active_attempt'),
    checks,
    provenance,
    extra: fields.rest(),
    body,
    invalid: invalid ?? sentence('The front matter', fields.problems),
  })
  return { kind: 'task', id, task }
}

function parseSession(id: string, text: string): Entry {
  const { fields, invalid } = readYamlFile(text)
  fields.text('id')
  const required = (key: string, as: 'text' | 'time' = 'text'): string => {
    const value = fields[as](key)
    if (value === undefined && !invalid) fields.problems.push(`"${key}" is missing`)
    return value ?? ''
  }
  const session = {
    id,
    task: required('task'),
    attempt: fields.text('attempt') ?? '',
    actor: fields.text('actor') ?? '',
    client: fields.text('client'),
    model: fields.text('model'),
    status: required('status'),
    startedAt: required('started_at', 'time'),
    endedAt: fields.time('ended_at'),
    branch: fields.text('branch'),
    headStarted: fields.text('head_started'),
    headFinished: fields.text('head_finished'),
    summary: fields.text('summary'),
    cancelReason: fields.text('cancel_reason'),
  }
  const why = invalid ?? sentence('The session', fields.problems)
  return { kind: 'session', id, session: defined({ ...session, invalid: why }) }
}

/** Empty if the file has no heartbeat: then the session correctly becomes stale. */
function parseLive(id: string, text: string): Entry[] {
  const fields = readJsonFields(text)
  const heartbeatAt = fields?.time('heartbeatAt')
  if (!fields || heartbeatAt === undefined) return []
  const progress = fields.text('progress')
  const worktree = fields.text('worktree')
  return [{ kind: 'live', id, live: defined({ heartbeatAt, progress, worktree }) }]
}

function parseConfig(text: string): Entry {
  const { fields, invalid } = readYamlFile(text)
  const prefix = fields.text('prefix')
  const states = fields.texts('states')
  if (!states && !invalid) fields.problems.push('"states" is missing')
  const closed = fields.texts('closed') ?? []
  const initial = fields.text('initial')
  const stale = fields.number('session_stale_after')
  const board = defined({
    layout: 'cairn' as const,
    prefix,
    states: states ?? [],
    closed,
    initial,
    extra: fields.rest(),
    invalid: invalid ?? sentence('The configuration', fields.problems),
  })
  const staleAfterMs = stale !== undefined && stale > 0 ? 1000 * stale : undefined
  return { kind: 'board', id: 'board', board, ...(staleAfterMs && { staleAfterMs }) }
}

function readYamlFile(text: string): { fields: Fields; invalid?: string } {
  const none = new Fields(new Map())
  const why = whyNoText(text)
  if (why !== undefined) return { fields: none, invalid: why }
  const yaml = readYamlMap(text)
  if (!yaml.ok) return { fields: none, invalid: `The file is not valid YAML: ${yaml.why}.` }
  return { fields: new Fields(yaml.fields, yaml.problems) }
}

function readJsonFields(text: string): Fields | undefined {
  if (text.length > YAML_BYTES) return undefined
  try {
    const value: Plain = JSON.parse(text.replace(/^\ufeff/, ''))
    return isRecord(value) ? new Fields(new Map(Object.entries(value))) : undefined
  } catch {
    // A half-written heartbeat: the next one follows within seconds.
    return undefined
  }
}
