// The Backlog.md layout: `backlog/` with a markdown file per task, named after id and title.

import { basename, dirname, join, normalize, relative, sep } from 'node:path'
import { defined } from '../../worker/shared/json.ts'
import { CONFIG_STATES, configLines, PREFIX, parseConfig } from './backlog-md-config.ts'
import { type Fields, sentence, utcTime } from './fields.ts'
import { type Entry, type FileKind, type Layout, parsedAs, type Store } from './layout.ts'
import { isFile, readConfig, realFolder } from './store-folder.ts'
import { readFrontMatter } from './text.ts'

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
 * The tool takes what begins with its prefix: `back-5.2 - Title.md`, `back-5_notes.md`, `back-.md`.
 * A title may even hold a line break: such a task must not be skipped without a word.
 */
const TASK_NAME = /^[A-Za-z]+-.*\.md$/s
/** The part of a name that is its id, as the tool's doctor reads it. */
const ID_IN_NAME = /^([A-Za-z]+-[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*) -|^([A-Za-z]+-\d+(?:\.\d+)*)/
// The second are surrogates without their half, which YAML can write and the edge refuses.
const ID = /^[^\p{Cc}\p{Cs}]{1,200}$/u
const DRAFT_PREFIX = 'draft'
/** `m-6 - the-title.md`; its title and id are in its front matter. */
const MILESTONE_NAME = /^m-\d+(?:[ -].*)?\.md$/is
interface BacklogFolder {
  root: string
  /** Its path below the project's folder. */
  within: string
  /** Holds the folders of tasks. */
  folder: string
  configFile: string
}

export const backlogMd = {
  signs: 'Backlog.md (backlog/config.yml, .backlog/ or backlog.config.yml)',
  marks: [...STORES, ROOT_CONFIG],
  async detect(dir) {
    const found = (await atRoot(dir)) ?? (await inFolder(dir))
    return found && backlogStore(found)
  },
} satisfies Layout

/** `backlog.config.yml` beside the store, which may name another folder of the project. */
async function atRoot(dir: string): Promise<BacklogFolder | undefined> {
  const root = await realFolder(dir)
  if (root === undefined) return undefined
  const configFile = join(root, ROOT_CONFIG)
  if (!(await isFile(configFile))) return undefined
  const named = folderNamed(readConfig(configFile))
  for (const name of named === undefined ? STORES : [named]) {
    const folder = await realFolder(join(root, name))
    if (folder !== undefined) return { root, within: '', folder, configFile }
  }
  return undefined
}

async function inFolder(dir: string): Promise<BacklogFolder | undefined> {
  const candidates = STORES.map((within) => ({ within, path: join(dir, within) }))
  if (STORES.includes(basename(dir))) candidates.push({ within: basename(dir), path: dir })
  for (const { within, path } of candidates) {
    const root = await realFolder(path)
    if (root === undefined) continue
    for (const config of CONFIGS) {
      const configFile = join(root, config)
      if (await isFile(configFile)) return { root, within, folder: root, configFile }
    }
  }
  return undefined
}

function folderNamed(config: string): string | undefined {
  const lines = configLines(config)
  const named = lines.get('backlog_directory') ?? lines.get('backlogDirectory')
  if (named === undefined || named === '') return undefined
  const folder = normalize(named)
  // The tool refuses folders outside of the project as well.
  return folder.startsWith('..') || folder.startsWith(sep) ? undefined : folder
}

function backlogStore({ root, within, folder, configFile }: BacklogFolder): Store {
  const folders = FOLDERS.map((name) => join(folder, name))
  const milestones = join(folder, MILESTONES)
  const archivedMilestones = join(folder, ARCHIVED_MILESTONES)
  return {
    layout: 'backlog-md',
    root,
    within,
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
      const [found = ''] = relative(folder, path).split(sep)
      return parsedAs([parseTask(basename(path), found, text)])
    },
    whyIgnored(path, named = PREFIX) {
      const [within, name] = [dirname(path), basename(path)]
      const isMeant = name.endsWith('.md') && name.toLowerCase() !== 'readme.md'
      if (!folders.includes(within) || !isMeant) return undefined
      const prefix = basename(within) === 'drafts' ? DRAFT_PREFIX : named.toLowerCase()
      return name.startsWith(`${prefix}-`) ? undefined : `its name does not begin with "${prefix}-"`
    },
    unreadable,
    fold: foldId,
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
function idIn(file: string): string {
  const [, current, older] = ID_IN_NAME.exec(file) ?? []
  return taskId(current ?? older ?? basename(file, '.md'))
}

/** As the tool spells an id: `1` is `TASK-1`, and `task-5a` is `TASK-5A`. */
function taskId(written: string): string {
  const id = written.trim()
  return (/^[A-Za-z]+-/.test(id) ? id : `${PREFIX}-${id}`).toUpperCase()
}

/** The tool itself takes `back-5.2` and `BACK-5.02` for one task. */
function foldId(id: string): string {
  const folded = taskId(id).toLowerCase()
  return NUMBERED.test(folded) ? folded.replace(/([-.])0+(?=\d)/g, '$1') : folded
}
const NUMBERED = /^[a-z]+-\d+(?:\.\d+)*$/

/** How the tool names the file of a task. */
function fileOf(id: string, title: string): string {
  const words = title
    .replace(/[<>:"/\\|?*]/g, '-')
    .replace(/['(),!@#$%^&+=[\]{};]/g, '')
    .replace(/\s+/g, '-')
    .replace(/-+/g, '-')
    .replace(/^-|-$/g, '')
  return `${id.toLowerCase()} - ${words || 'untitled'}.md`
}

/** `place`: the folder of the board that the file is in. */
function parseTask(file: string, found: string, text: string): Entry {
  const { fields, body, invalid } = readFrontMatter(text, quoted)
  const written = fields.text('id')
  const isId = written !== undefined && ID.test(written)
  const id = isId ? taskId(written) : idIn(file)
  if (!invalid && !isId) fields.problems.push('"id" is no task id')

  const created = fields.text('created_date')
  const assignees = fields.texts('assignee') ?? []
  const parent = fields.text('parent_task_id')
  const known = {
    id,
    title: fields.text('title') ?? id,
    status: fields.text('status') ?? '',
    assignee: assignees[0],
    assignees: assignees.length > 1 ? assignees : undefined,
    deps: depsOf(fields),
    updatedAt: fields.time('updated_date') ?? (created && utcTime(created)),
    rank: fields.number('ordinal'),
    labels: fields.texts('labels'),
    priority: fields.text('priority'),
    parent: parent && taskId(parent),
    folder: found === 'tasks' ? undefined : found,
    milestone: fields.text('milestone'),
    dueDate: dueDateOf(fields),
    type: fields.text('type'),
  }
  const extra = defined({ ...fields.rest(), created_date: created })
  const task = defined({
    ...known,
    extra: Object.keys(extra).length > 0 ? extra : undefined,
    body,
    invalid: invalid ?? sentence('The front matter', fields.problems),
  })
  const isMisnamed = file !== fileOf(id, known.title)
  const entry = { kind: 'task', id, task, ...(isMisnamed && { isMisnamed }) } as const
  if (known.folder === undefined) return entry
  // The tool does not read it either, so nothing may be begun after it.
  const isClosed = found === 'completed' && invalid === undefined
  return { ...entry, standing: isClosed ? 'closed' : 'outside' }
}

/** An entry that is no text is a task that does not exist: the tool begins nothing after it. */
function depsOf(fields: Fields): string[] | undefined {
  const written = fields.list('dependencies')
  return written?.length ? written.map((dep) => taskId(String(dep))) : undefined
}

const DATE = /^\d{4}-\d\d-\d\d(?=$|[ T]\d\d:\d\d)/

function dueDateOf(fields: Fields): string | undefined {
  const written = fields.text('due_date')
  const [day] = DATE.exec(written ?? '') ?? []
  const isDay = day !== undefined && new Date(`${day}T00:00Z`).toJSON()?.startsWith(day)
  if (written !== undefined && !isDay) fields.problems.push('"due_date" is no date')
  return isDay ? day : undefined
}

/**
 * The front matter as the tool mends it before it reads it as YAML: names of people are text,
 * whatever they begin with.
 */
const quoted = (yaml: string): string =>
  yaml.replace(PEOPLE, (line, key: string, value: string) => {
    const list = listIn(value)
    if (list !== undefined) {
      const items = list.split(',').map((item) => item.trim())
      const texts = items.map((item) => (item.startsWith('@') ? JSON.stringify(item) : item))
      return `${key}[${texts.filter((item) => item !== '').join(', ')}]`
    }
    return /^[['"-]/.test(value) ? line : `${key}${JSON.stringify(value.trimEnd())}`
  })
const PEOPLE = /^([ \t]*(?:assignee|reporter):[ \t]+)(\S.*)$/gm

/** What stands between brackets; behind them there may be a comment. */
function listIn(value: string): string | undefined {
  if (!value.startsWith('[')) return undefined
  const end = [...value.matchAll(/\](?=\s*(?:#|$))/g)].at(-1)?.index
  return end === undefined ? undefined : value.slice(1, end)
}

/** Empty if it says no title: its tasks then keep its id. */
function parseMilestone(name: string, text: string): Entry[] {
  const { fields } = readFrontMatter(text)
  const id = fields.text('id')
  const title = fields.text('title')
  if (id === undefined || title === undefined) return []
  return [{ kind: 'setting', id: `${name}:${foldId(id)}`, value: title }]
}
