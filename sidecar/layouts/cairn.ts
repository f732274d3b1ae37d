// The cairn layout: `.cairn/` with a file per task, session, live session and run.

import { basename, dirname, extname, join } from 'node:path'
import { parseConfig, parseLive, parseSession, parseTask } from './cairn-files.ts'
import { parseRun, RUN_NAME, unreadableRun } from './cairn-run.ts'
import { type Entry, type FileKind, type Layout, parsedAs, type Store } from './layout.ts'
import { isFile, realFolder } from './store-folder.ts'

const STORE = '.cairn'
const TASK_NAME = /^[A-Za-z0-9_-]+\.md$/
const SESSION_NAME = /^ses_[0-9a-f]{24}\.yaml$/
const LIVE_NAME = /^ses_[0-9a-f]{24}\.json$/

export const cairn = {
  name: 'cairn',
  async detect(dir) {
    const root = await realFolder(basename(dir) === STORE ? dir : join(dir, STORE))
    if (root === undefined) return undefined
    const found =
      (await isFile(join(root, 'config.yaml'))) || (await realFolder(join(root, 'tasks')))
    return found ? cairnStore(root) : undefined
  },
} satisfies Layout

/**
 * Whether a path is a markdown file among the tasks whose name is no id. Such a file is no task;
 * the doctor names it to its author.
 */
export function isMisnamed(path: string): boolean {
  const name = basename(path)
  if (basename(dirname(path)) !== 'tasks' || extname(name) !== '.md') return false
  return !name.startsWith('.tmp-') && !TASK_NAME.test(name)
}

function cairnStore(root: string): Store {
  const tasks = join(root, 'tasks')
  const sessions = join(root, 'sessions')
  const live = join(root, 'live')
  const runs = join(root, 'runs')
  const configFile = join(root, 'config.yaml')

  return {
    layout: 'cairn',
    root,
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
        case 'setting':
          return parsedAs([])
      }
    },
    unreadable: (path, kind, why) => unreadable(path, kind, why),
    fold: (id) => id,
    foldStatus: (status) => status,
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
      return [unreadableRun(basename(path), invalid)]
    case 'board':
      return [{ kind, id: 'board', board: { layout: 'cairn', states: [], closed: [], invalid } }]
    // A heartbeat that cannot be read is ignored: its session becomes stale, which is shown.
    case 'live':
    case 'tasks':
    case 'setting':
      return []
  }
}

const stem = (path: string): string => basename(path, extname(path))
