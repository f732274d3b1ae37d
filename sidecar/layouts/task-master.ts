// The Task Master layout: one `.taskmaster/tasks/tasks.json` that holds every task of every tag.

import { basename, join } from 'node:path'
import { type Entry, type Layout, parsedAs, type Store } from './layout.ts'
import { isFile, realFolder } from './store-folder.ts'
import { parseState, parseTasks, TASK_MASTER_BOARD } from './task-master-tasks.ts'

const STORE = '.taskmaster'
/** Any of them marks the tool's folder. Its `init` writes the first two, and no task. */
const SIGNS = ['config.json', 'state.json', join('tasks', 'tasks.json')]

export const taskMaster = {
  name: 'task-master',
  async detect(dir) {
    const root = await realFolder(basename(dir) === STORE ? dir : join(dir, STORE))
    if (root === undefined) return undefined
    const found = await Promise.all(SIGNS.map((name) => isFile(join(root, name))))
    return found.includes(true) ? taskMasterStore(root) : undefined
  },
} satisfies Layout

function taskMasterStore(root: string): Store {
  const folder = join(root, 'tasks')
  // The tool's statuses are fixed, so the one file is the configuration too.
  const configFile = join(folder, 'tasks.json')
  const stateFile = join(root, 'state.json')
  return {
    layout: 'task-master',
    root,
    tasksIn: configFile,
    // The root too: in a fresh one the folder of the tasks may still have to be made.
    folders: () => [root, folder],
    configFile,
    classify(path) {
      if (path === stateFile) return 'setting'
      return path === configFile ? 'tasks' : undefined
    },
    parse(_path, kind, text) {
      if (kind === 'setting') return { state: 'ok', entries: parseState(text) }
      return kind === 'tasks' ? parseTasks(text) : parsedAs([])
    },
    unreadable: (_path, kind, why) => (kind === 'tasks' ? [unreadable(why)] : []),
    fold: (id) => id,
    foldStatus: (status) => status,
  } satisfies Store
}

/** Alone, without a task beside it, so that tasks read from this file before are kept. */
function unreadable(invalid: string): Entry {
  return { kind: 'board', id: 'board', board: { ...TASK_MASTER_BOARD, invalid } }
}
