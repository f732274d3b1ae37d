// The Backlog.md layout: `backlog/` with a markdown file per task, named after id and title.

import { basename, dirname, join, normalize, relative, sep } from 'node:path'
import { defined, Fields, sentence, utcTime } from './fields.ts'
import { type Entry, type FileKind, type Layout, parsedAs, type Store } from './layout.ts'
import { isFile, readConfig, realFolder } from './store-folder.ts'
import { readFrontMatter } from './text.ts'
import { readYamlMap } from './yaml.ts'

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
const ARCHIVED_MILESTONES = join('archive', MILESTONES)
/**
 * `back-5.2 - Title.md`; old files are named `back-5-title.md`, or `back-5.md`. A title may even
 * hold a line break: such a task must not be skipped without a word.
 */
const TASK_NAME = /^([A-Za-z]+-\d+(?:\.\d+)*)(?:[ -].*)?\.md$/s
const ID = /^[A-Za-z]+-[\w.-]{1,100}$/
/** `m-6 - the-title.md`; its title and id are in its front matter. */
const MILESTONE_NAME = /^m-\d+(?:[ -].*)?\.md$/is
/** What the tool itself takes when its configuration names no statuses. */
const CONFIG_STATES = { states: ['To Do', 'In Progress', 'Done'], closed: ['Done'] }

interface Place {
  root: string
  /** Holds the folders of tasks. */
  folder: string
  configFile: string
}

export const backlogMd = {
  signs: 'Backlog.md (backlog/config.yml, .backlog/ or backlog.config.yml)',
  marks: [...STORES, ROOT_CONFIG],
  async detect(dir) {
    const place = (await atRoot(dir)) ?? (await inFolder(dir))
    return place && backlogStore(place)
  },
} satisfies Layout

/** `backlog.config.yml` beside the store, which may name another folder of the project. */
async function atRoot(dir: string): Promise<Place | undefined> {
  const root = await realFolder(dir)
  if (root === undefined) return undefined
  const configFile = join(root, ROOT_CONFIG)
  if (!(await isFile(configFile))) return undefined
  const named = folderNamed(readConfig(configFile))
  for (const name of named === undefined ? STORES : [named]) {
    const folder = await realFolder(join(root, name))
    if (folder !== undefined) return { root, folder, configFile }
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
  const archivedMilestones = join(folder, ARCHIVED_MILESTONES)
  return {
    layout: 'backlog-md',
    root,
    tasksIn: join(folder, 'tasks'),
    folders: () => [dirname(configFile), ...folders, milestones, archivedMilestones],
    configFile,
    classify(path) {
      if (path === configFile) return 'board'
      const [within, name] = [dirname(path), basename(path)]
      const isMilestone = within === milestones || within === archivedMilestones
      if (isMilestone) return MILESTONE_NAME.test(name) ? 'setting' : undefined
      return folders.includes(within) && TASK_NAME.test(name) ? 'task' : undefined
    },
    parse(path, kind, text) {
      if (kind === 'board') return parsedAs([parseConfig(text)])
      if (kind === 'setting') {
        const name = dirname(path) === milestones ? 'milestone' : 'archived-milestone'
        return { state: 'ok', entries: parseMilestone(name, text) }
      }
      if (kind !== 'task') return parsedAs([])
      const [place = ''] = relative(folder, path).split(sep)
      return parsedAs([parseTask(basename(path), place, text)])
    },
    unreadable,
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
  const id = idIn(basename(path))
  return [{ kind, id, task: { id, title: id, status: '', invalid } }]
}

/** The id in a file's name. */
const idIn = (file: string): string => TASK_NAME.exec(file)?.[1]?.toUpperCase() ?? file

/** The tool itself takes `back-5.2` and `BACK-5.02` for one task. */
const foldId = (id: string): string => id.toLowerCase().replace(/([-.])0+(?=\d)/g, '$1')

// What the files say.

/** `place`: the folder of the board that the file is in. */
function parseTask(file: string, place: string, text: string): Entry {
  const { fields, body, invalid } = readFrontMatter(text)
  const named = idIn(file)
  const written = fields.text('id')
  const id = written !== undefined && ID.test(written) ? written : named
  if (!invalid && id !== written) fields.problems.push('"id" is no task id')

  const created = fields.text('created_date')
  const assignees = fields.texts('assignee') ?? []
  const known = {
    id,
    title: fields.text('title') ?? id,
    status: fields.text('status') ?? '',
    assignee: assignees[0],
    assignees: assignees.length > 1 ? assignees : undefined,
    deps: fields.texts('dependencies'),
    updatedAt: fields.time('updated_date') ?? (created && utcTime(created)),
    rank: fields.number('ordinal'),
    labels: fields.texts('labels'),
    priority: fields.text('priority'),
    parent: fields.text('parent_task_id'),
    folder: place === 'tasks' ? undefined : place,
    milestone: fields.text('milestone'),
    dueDate: fields.text('due_date')?.slice(0, 'YYYY-MM-DD'.length),
    type: fields.text('type'),
  }
  const extra = defined({ ...fields.rest(), created_date: created })
  const task = defined({
    ...known,
    extra: Object.keys(extra).length > 0 ? extra : undefined,
    body,
    invalid: invalid ?? sentence('The front matter', fields.problems),
  })
  if (known.folder === undefined) return { kind: 'task', id, task }
  return { kind: 'task', id, task, standing: place === 'completed' ? 'closed' : 'outside' }
}

/** Empty if it says no title: its tasks then keep its id. */
function parseMilestone(name: string, text: string): Entry[] {
  const { fields } = readFrontMatter(text)
  const id = fields.text('id')
  const title = fields.text('title')
  if (id === undefined || title === undefined) return []
  return [{ kind: 'setting', id: `${name}:${foldId(id)}`, value: title }]
}

/** The last of the statuses is the closed one: the tool knows no other sign. */
function parseConfig(text: string): Entry {
  const yaml = readYamlMap(text)
  const fields = new Fields(yaml.ok ? yaml.fields : new Map(), yaml.ok ? yaml.problems : [])
  const prefix = fields.text('task_prefix')
  const states = fields.texts('statuses') ?? CONFIG_STATES.states
  const board = defined({
    layout: 'backlog-md' as const,
    project: fields.text('project_name'),
    prefix,
    states,
    closed: states.slice(-1),
    initial: fields.text('default_status'),
    extra: fields.rest(),
    invalid: yaml.ok
      ? sentence('The configuration', fields.problems)
      : `The configuration is not valid YAML: ${yaml.why}.`,
  })
  return { kind: 'board', id: 'board', board }
}
