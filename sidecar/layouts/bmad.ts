// The BMAD layout: `sprint-status.yaml` with the status of each epic and story, and a file for each
// story beside it. Where they differ, the YAML leads.

import { basename, dirname, join, resolve, sep } from 'node:path'
import type { BoardConfig } from '../../worker/board/wire.ts'
import { defined, Fields, isRecord, sentence } from './fields.ts'
import { type Entry, type Layout, type Parsed, parsedAs, type Store } from './layout.ts'
import { isFile, readConfig, realFolder } from './store-folder.ts'
import { limitText, whyNoText } from './text.ts'
import { type Plain, readYamlMap } from './yaml.ts'

const MANIFEST = '_bmad/_config/manifest.yaml'
/** Of older versions. Other projects may have such a folder, so they need a status file, too. */
const OLDER = ['bmad', '.bmad-core']
const CONFIGS = ['_bmad/bmm/config.yaml', 'bmad/bmm/config.yaml']
const ARTIFACTS = '_bmad-output/implementation-artifacts'
const STATUS_FILE = 'sprint-status.yaml'
const OLDER_STATUS_FILE = 'sprint_status.yaml'

const STORY = ['backlog', 'ready-for-dev', 'in-progress', 'review', 'done']
const BOARD = {
  layout: 'bmad',
  states: STORY,
  closed: ['done'],
  initial: 'backlog',
} satisfies BoardConfig
const STATUSES: Readonly<Record<Kind, readonly string[]>> = {
  epic: ['backlog', 'in-progress', 'done'],
  story: STORY,
  retrospective: ['optional', 'done'],
}
/** As older versions wrote them. */
const RENAMED = new Map([
  ['drafted', 'ready-for-dev'],
  ['contexted', 'in-progress'],
])

const EPIC_KEY = /^epic-(\d+)(-retrospective)?$/
const STORY_KEY = /^(\d+)-(\d+)([a-z]?)-(.+)$/
/** Other documents of a story, such as `1-2-decision.md`, have no such line. */
const STATUS_LINE = /^(?:Status:|## Status\b)/m

export const bmad = {
  signs: 'BMAD (_bmad/_config/manifest.yaml)',
  marks: ['_bmad', ...OLDER],
  async detect(dir) {
    const root = await realFolder(dir)
    if (root === undefined) return undefined
    const marks = await Promise.all(OLDER.map((name) => realFolder(join(root, name))))
    const isMarked = await isFile(join(root, MANIFEST))
    if (!isMarked && marks.every((mark) => mark === undefined)) return undefined
    const folder = artifactsOf(root)
    const [current, older] = [join(folder, STATUS_FILE), join(folder, OLDER_STATUS_FILE)]
    const isOlder = !(await isFile(current)) && (await isFile(older))
    const file = isOlder ? older : current
    return isMarked || (await isFile(file)) ? bmadStore(root, file) : undefined
  },
} satisfies Layout

/** The folder that the configuration names, if it is in the project. */
function artifactsOf(root: string): string {
  for (const config of CONFIGS) {
    const yaml = readYamlMap(readConfig(join(root, config)))
    const named = yaml.ok && yaml.fields.get('implementation_artifacts')
    if (typeof named !== 'string') continue
    const folder = resolve(root, named.replace('{project-root}', root))
    if (folder.startsWith(root + sep)) return folder
  }
  return join(root, ARTIFACTS)
}

function bmadStore(root: string, statusFile: string): Store {
  const folder = dirname(statusFile)
  const name = basename(statusFile)
  const alone = `${name} names no such story.`
  return {
    layout: 'bmad',
    root,
    tasksIn: statusFile,
    folders: () => [folder],
    configFile: statusFile,
    classify(path) {
      if (path === statusFile) return 'tasks'
      const isStory = dirname(path) === folder && path.endsWith('.md') && STORY_KEY.test(stem(path))
      return isStory ? 'about' : undefined
    },
    parse(path, kind, text) {
      if (kind === 'tasks') return parseStatuses(text)
      return kind === 'about' ? parseStory(stem(path), text, alone) : parsedAs([])
    },
    unreadable(path, kind, invalid) {
      // Without a task beside it, so that tasks read from this file before are kept.
      if (kind === 'tasks') return [boardEntry(invalid)]
      const id = stem(path)
      return [{ kind: 'task', id, alone, task: { id, title: titleOf(id), status: '', invalid } }]
    },
    fold: (id) => id,
    foldStatus: (status) => status,
  } satisfies Store
}

const stem = (path: string): string => basename(path, '.md')

const boardEntry = (invalid: string | undefined, project?: string): Entry => ({
  kind: 'board',
  id: 'board',
  board: defined({ ...BOARD, project, invalid }),
})

function parseStatuses(text: string): Parsed {
  const yaml = readYamlMap(text)
  const keys = yaml.ok ? yaml.fields.get('development_status') : undefined
  if (!yaml.ok || !isRecord(keys)) {
    const why = yaml.ok ? 'has no map "development_status"' : `is not valid YAML: ${yaml.why}`
    return { state: 'broken', entries: [boardEntry(`The file ${why}; ${KEPT}`)] }
  }
  const titles = new Map([...text.matchAll(EPIC_TITLE)].map(([, n, title]) => [n, title?.trim()]))
  const items = yaml.fields.get('action_items')
  const actions = Array.isArray(items) ? items.filter((item) => isRecord(item)) : []
  const tasks = Object.entries(keys).map(([key, value]) => {
    const epic = EPIC_KEY.exec(key)?.[1]
    const own = actions.filter((item) => epic !== undefined && epicIn(item.epic) === epic)
    return taskEntry(key, value, { title: titles.get(epic), actions: own })
  })
  const project = new Fields(yaml.fields, yaml.problems).text('project')
  const board = boardEntry(sentence('The file', yaml.problems), project)
  return { state: 'ok', entries: [board, ...tasks] }
}

const KEPT = 'its tasks stay as they were last read.'
/** The tool has the titles of epics in comments alone. */
const EPIC_TITLE = /^[ \t]*#[ \t]*Epic (\d+)[ \t]*[:—–-](.{1,300})$/gm

const epicIn = (value: Plain | undefined): string => String(value ?? '').replace(/^epic-/, '')

type Kind = 'epic' | 'story' | 'retrospective'

/** What a key of the file is; undefined: nothing that the tool knows. */
function placeOf(key: string): { type: Kind; parent?: string; rank: number } | undefined {
  const [epicKey, epic = '', retrospective] = EPIC_KEY.exec(key) ?? []
  const [storyKey, of = '', story = '', part = ''] = STORY_KEY.exec(key) ?? []
  const first = Number(epic || of) * 1e6
  if (storyKey) {
    // A story that was split has letters: 2-6a, 2-6b.
    const rank = first + Number(story) * 100 + (part === '' ? 0 : part.charCodeAt(0) - 96)
    return { type: 'story', parent: `epic-${of}`, rank }
  }
  if (!epicKey) return undefined
  if (retrospective === undefined) return { type: 'epic', rank: first }
  return { type: 'retrospective', parent: `epic-${epic}`, rank: first + 999_999 }
}

function taskEntry(
  key: string,
  value: Plain,
  { title, actions }: { title: string | undefined; actions: readonly Plain[] },
): Entry {
  const place = placeOf(key)
  const written = typeof value === 'object' ? '' : String(value)
  const status = RENAMED.get(written) ?? written
  const isRetrospective = place?.type === 'retrospective'
  const task = defined({
    id: key,
    title: (isRetrospective ? undefined : title) ?? titleOf(key),
    status,
    ...place,
    rank: Number.isSafeInteger(place?.rank) ? place?.rank : undefined,
    extra: actions.length > 0 && !isRetrospective ? { action_items: actions } : undefined,
    invalid: whyOdd(place?.type, status),
  })
  const source = JSON.stringify(task)
  // Nobody begins an epic: its stories are what is to be done. A retrospective is optional.
  const isHeld = place?.type !== 'story'
  return { kind: 'task', id: key, task, source, ...(isHeld && { standing: 'held' }) }
}

function whyOdd(type: Kind | undefined, status: string): string | undefined {
  if (type === undefined) return 'The key names no epic, story or retrospective.'
  if (STATUSES[type].includes(status)) return undefined
  return `No ${type} has the status "${status.slice(0, 40)}".`
}

/** Of a key without a title of its own: the words of its slug. */
function titleOf(key: string): string {
  const words = (STORY_KEY.exec(key)?.[4] ?? key).replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function parseStory(id: string, text: string, alone: string): Parsed {
  const invalid = whyNoText(text)
  if (invalid === undefined && !STATUS_LINE.test(text)) return { state: 'ok', entries: [] }
  const heading = text.split('\n').find((line) => line.startsWith('# '))
  const title = heading
    ?.slice(2, 300)
    .replace(/^Story\s+[\d.]+[a-z]?\s*[:—–-]\s*/, '')
    .trim()
  const task = defined({
    id,
    title: title || titleOf(id),
    // That of the YAML counts.
    status: '',
    ...placeOf(id),
    body: invalid === undefined ? limitText(text) : undefined,
    invalid,
  })
  return parsedAs([{ kind: 'task', id, task, alone }])
}
