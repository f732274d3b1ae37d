// The Backlog.md layout: `backlog/` with a markdown file per task, named after id and title.

import { readFile } from 'node:fs/promises'
import { basename, dirname, join, normalize, relative, sep } from 'node:path'
import {
  CONFIG_STATES,
  foldId,
  MILESTONE_NAME,
  parseConfig,
  parseMilestone,
  parseTask,
  TASK_NAME,
} from './backlog-md-files.ts'
import { type Entry, type FileKind, type Layout, parsedAs, type Store } from './layout.ts'
import { isFile, realFolder } from './store-folder.ts'
import { readYamlMap } from './yaml-map.ts'

const STORES = ['backlog', '.backlog']
const CONFIGS = ['config.yml', 'config.yaml']
const ROOT_CONFIG = 'backlog.config.yml'
const FOLDERS = [
  'tasks',
  'completed',
  'drafts',
  join('archive', 'tasks'),
  join('archive', 'drafts'),
]
const MILESTONES = 'milestones'

interface Place {
  root: string
  /** Holds the folders of tasks. */
  folder: string
  configFile: string
}

export const backlogMd = {
  name: 'backlog-md',
  async detect(dir) {
    const place = (await atRoot(dir)) ?? (await inFolder(dir))
    return place && backlogStore(place)
  },
} satisfies Layout

/** `backlog.config.yml` beside the store, which may name another folder of the project. */
async function atRoot(dir: string): Promise<Place | undefined> {
  const config = join(dir, ROOT_CONFIG)
  const root = await realFolder(dir)
  if (root === undefined || !(await isFile(config))) return undefined
  const named = folderNamed(await readFile(config, 'utf8'))
  for (const name of named === undefined ? STORES : [named]) {
    const folder = await realFolder(join(root, name))
    if (folder !== undefined) return { root, folder, configFile: join(root, ROOT_CONFIG) }
  }
  return undefined
}

async function inFolder(dir: string): Promise<Place | undefined> {
  const candidates = STORES.map((name) => join(dir, name))
  if (STORES.includes(basename(dir))) candidates.push(dir)
  for (const candidate of candidates) {
    const root = await realFolder(candidate)
    if (root === undefined) continue
    for (const config of CONFIGS) {
      const configFile = join(root, config)
      if (await isFile(configFile)) return { root, folder: root, configFile }
    }
  }
  return undefined
}

function folderNamed(config: string): string | undefined {
  const yaml = readYamlMap(config)
  const named =
    yaml.ok && (yaml.fields.get('backlog_directory') ?? yaml.fields.get('backlogDirectory'))
  if (typeof named !== 'string' || named === '') return undefined
  const folder = normalize(named)
  // The tool refuses folders outside of the project as well.
  return folder.startsWith('..') || folder.startsWith(sep) ? undefined : folder
}

function backlogStore({ root, folder, configFile }: Place): Store {
  const folders = FOLDERS.map((name) => join(folder, name))
  const milestones = join(folder, MILESTONES)
  return {
    layout: 'backlog-md',
    root,
    tasksIn: folder,
    folders: () => [dirname(configFile), ...folders, milestones],
    configFile,
    classify(path) {
      if (path === configFile) return 'board'
      const [within, name] = [dirname(path), basename(path)]
      if (within === milestones) return MILESTONE_NAME.test(name) ? 'setting' : undefined
      return folders.includes(within) && TASK_NAME.test(name) ? 'task' : undefined
    },
    parse(path, kind, text) {
      if (kind === 'board') return parsedAs([parseConfig(text)])
      if (kind === 'setting') return { state: 'ok', entries: parseMilestone(text) }
      if (kind !== 'task') return parsedAs([])
      const [place = ''] = relative(folder, path).split(sep)
      return parsedAs([parseTask(basename(path), place, text)])
    },
    unreadable: (path, kind, why) => unreadable(path, kind, why),
    fold: foldId,
    foldStatus: (status) => status.toLowerCase().replaceAll(/\s+/g, ''),
  } satisfies Store
}

function unreadable(path: string, kind: FileKind, invalid: string): Entry[] {
  if (kind === 'board') {
    const board = { layout: 'backlog-md' as const, ...CONFIG_STATES, invalid }
    return [{ kind, id: 'board', board }]
  }
  if (kind !== 'task') return []
  const id = TASK_NAME.exec(basename(path))?.[1]?.toUpperCase() ?? basename(path)
  return [{ kind, id, task: { id, title: id, status: '', invalid } }]
}
