// The BMAD layout: `sprint-status.yaml` with the status of each epic and story, and a file for each
// story beside it. Where they differ, the YAML leads. Beside it, or instead, a project has folders
// of specs: bmad-specs.ts.

import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { BoardConfig } from '../../worker/board/wire.ts'
import { defined } from '../../worker/shared/json.ts'
import { SpecFolders, STATES } from './bmad-specs.ts'
import { Fields, isRecord, sentence } from './fields.ts'
import { type Entry, type Layout, type Parsed, parsedAs, type Store } from './layout.ts'
import type { Plain } from './plain-yaml.ts'
import { isFile, readConfig, realFolder } from './store-folder.ts'
import { limitText, whyNoText } from './text.ts'
import { readYamlMap } from './yaml.ts'

/** The tool's folder, now and in the versions 6 alpha, which marks what it installed in `_cfg`. */
const TOOL = ['_bmad', '.bmad', 'bmad']
const MANIFESTS = TOOL.flatMap((name) => [
  join(name, '_config/manifest.yaml'),
  join(name, '_cfg/manifest.yaml'),
])
/** Other projects may have such a folder, so without a manifest they need a status file, too. */
const OLDER = ['bmad', '.bmad', '.bmad-core']
const CONFIGS = TOOL.map((name) => join(name, 'bmm/config.yaml'))
/** What names the folder of the status file; the last two are those of the versions 6 alpha. */
const NAMED_BY = ['implementation_artifacts', 'sprint_artifacts', 'output_folder']
const ARTIFACTS = '_bmad-output/implementation-artifacts'
const STATUS_FILE = 'sprint-status.yaml'
/** Where the tool looks for specs: in `specs` of the output folder, and in these two. */
const SPECS_BY = ['planning_artifacts', 'implementation_artifacts']
const SPECS = ['_bmad-output/specs', '_bmad-output/planning-artifacts', ARTIFACTS]
const OLDER_STATUS_FILE = 'sprint_status.yaml'

const STORY = ['backlog', 'ready-for-dev', 'in-progress', 'review', 'done']
const BOARD = {
  layout: 'bmad',
  states: STORY,
  closed: ['done'],
  initial: 'backlog',
} satisfies BoardConfig
const SPEC_BOARD: Entry = { kind: 'board', id: 'board', board: { ...BOARD, states: STATES } }
const STATUSES: Readonly<Record<Kind, readonly string[]>> = {
  epic: ['backlog', 'in-progress', 'done'],
  story: STORY,
  retrospective: ['optional', 'done'],
}
/** As older versions wrote them. */
const OF_WORK = new Map([
  ['drafted', 'ready-for-dev'],
  ['contexted', 'in-progress'],
])
const RENAMED: Readonly<Record<Kind, ReadonlyMap<string, string>>> = {
  epic: OF_WORK,
  story: OF_WORK,
  retrospective: new Map([['completed', 'done']]),
}

const EPIC_KEY = /^epic-(\d+)(-retrospective)?$/
const STORY_KEY = /^(\d+)-(\d+)([a-z]?)-(.+)$/
/** Other documents of a story, such as `1-2-decision.md`, have no such line. */
const STATUS_LINE = /^(?:Status:|## Status\b)/m

export const bmad = {
  signs: 'BMAD (_bmad/_config/manifest.yaml)',
  marks: [...TOOL, '.bmad-core'],
  async detect(dir) {
    const root = await realFolder(dir)
    if (root === undefined) return undefined
    const isAnyThere = (names: string[], look: (path: string) => Promise<unknown>) =>
      Promise.all(names.map((name) => look(join(root, name)))).then((found) => found.some(Boolean))
    const isMarked = await isAnyThere(MANIFESTS, isFile)
    if (!isMarked && !(await isAnyThere(OLDER, realFolder))) return undefined
    const found = await statusFileIn(root)
    if (!isMarked && found.missing !== undefined) return undefined
    const places: string[] = []
    for (const path of new Set([...found.specsIn, dirname(found.statusFile)])) {
      // For a link the whole board would be refused.
      if (((await realFolder(path)) ?? path) === path) places.push(path)
    }
    return bmadStore(root, found, new SpecFolders(places, SPEC_BOARD))
  },
} satisfies Layout

interface StatusFile {
  statusFile: string
  /** There is none, in one sentence. */
  missing?: string
  /** May hold a folder for each spec. */
  specsIn: readonly string[]
}

/** The first status file in a folder that the configuration names, else where one is to be. */
async function statusFileIn(root: string): Promise<StatusFile> {
  const folders: { path: string; by: string }[] = []
  const specsIn = SPECS.map((path) => join(root, path))
  for (const config of CONFIGS) {
    const yaml = readYamlMap(readConfig(join(root, config)))
    if (!yaml.ok) {
      folders.push({ path: join(root, ARTIFACTS), by: `${config} (${yaml.why})` })
      continue
    }
    const { fields } = yaml
    for (const path of foldersOf(root, fields, NAMED_BY)) folders.push({ path, by: config })
    specsIn.push(...foldersOf(root, fields, ['output_folder'], 'specs'))
    specsIn.push(...foldersOf(root, fields, SPECS_BY))
  }
  folders.push({ path: join(root, ARTIFACTS), by: 'the tool by itself' })
  for (const { path } of folders) {
    for (const name of [STATUS_FILE, OLDER_STATUS_FILE]) {
      if (await isFile(join(path, name))) return { statusFile: join(path, name), specsIn }
    }
  }
  const [{ path, by } = { path: root, by: '' }] = folders
  const where = relative(root, path)
  const missing = `There is no ${STATUS_FILE} in ${where}, the folder named by ${by}.`
  return { statusFile: join(path, STATUS_FILE), missing, specsIn }
}

/** The folders that a configuration names (or one `below` each), if they are in the project. */
function foldersOf(
  root: string,
  fields: ReadonlyMap<string, Plain>,
  keys: readonly string[],
  below = '',
): string[] {
  const output = String(fields.get('output_folder') ?? '')
  return keys.flatMap((key) => {
    const named = fields.get(key)
    if (typeof named !== 'string') return []
    const path = named.replace('{output_folder}', output).replace('{project-root}', root)
    const folder = resolve(root, path, below)
    return folder.startsWith(root + sep) ? [folder] : []
  })
}

function bmadStore(root: string, { statusFile, missing }: StatusFile, specs: SpecFolders): Store {
  const folder = dirname(statusFile)
  const name = basename(statusFile)
  const alone = `${name} names no such story.`
  const storiesIn = missing === undefined ? undefined : specs.placeOfStories()
  const why = storiesIn === undefined ? missing : undefined
  return {
    layout: 'bmad',
    root,
    within: '',
    tasksIn: storiesIn ?? statusFile,
    folders: () => [folder, ...specs.folders()],
    configFile: statusFile,
    ...(missing !== undefined && { board: defined({ ...BOARD, invalid: why }) }),
    classify(path) {
      if (path === statusFile) return 'tasks'
      const isStory = dirname(path) === folder && path.endsWith('.md') && STORY_KEY.test(stem(path))
      return isStory ? 'about' : specs.classify(path)
    },
    roleOf: specs.roleOf,
    isGuess: specs.isGuess,
    parse(path, kind, text) {
      const ofSpec = specs.parse(path, text)
      if (ofSpec) return ofSpec
      if (kind === 'tasks') return parseStatuses(text)
      return kind === 'about' ? parseStory(stem(path), text, alone) : parsedAs([])
    },
    unreadable(path, kind, invalid) {
      const ofSpec = specs.unreadable(path, invalid)
      if (ofSpec) return ofSpec
      // Without a task beside it, so that tasks read from this file before are kept.
      if (kind === 'tasks') return [boardEntry(invalid)]
      const id = stem(path)
      return [{ kind: 'task', id, alone, task: { id, title: titleOf(id), status: '', invalid } }]
    },
    fold: (id) => id,
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
function partsOf(
  key: string,
): { type: Kind; parent?: string; rank: number; optional?: true } | undefined {
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
  const rank = first + 999_999
  return { type: 'retrospective', parent: `epic-${epic}`, rank, optional: true }
}

function taskEntry(
  key: string,
  value: Plain,
  { title, actions }: { title: string | undefined; actions: readonly Plain[] },
): Entry {
  const found = partsOf(key)
  const written = typeof value === 'object' ? '' : String(value)
  const status = (found && RENAMED[found.type].get(written)) ?? written
  const isRetrospective = found?.type === 'retrospective'
  const task = defined({
    id: key,
    title: (isRetrospective ? undefined : title) ?? titleOf(key),
    status,
    ...found,
    rank: Number.isSafeInteger(found?.rank) ? found?.rank : undefined,
    extra: actions.length > 0 && !isRetrospective ? { action_items: actions } : undefined,
    invalid: whyOdd(found?.type, status),
  })
  const source = JSON.stringify(task)
  // Nobody begins an epic: its stories are what is to be done. A retrospective is optional.
  const isHeld = found?.type !== 'story'
  return { kind: 'task', id: key, task, source, ...(isHeld && { standing: 'held' }) }
}

function whyOdd(type: Kind | undefined, status: string): string | undefined {
  if (type === undefined) return 'The key names no epic, story or retrospective.'
  if (STATUSES[type].includes(status)) return undefined
  return `No ${type} has the status "${status.slice(0, 40)}".`
}

/** The title of a key that has none: the words of its slug. */
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
    ...partsOf(id),
    body: invalid === undefined ? limitText(text) : undefined,
    invalid,
  })
  return parsedAs([{ kind: 'task', id, task, alone }])
}
