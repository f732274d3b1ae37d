// BMAD's spec folders: `SPEC.md`, `stories.yaml` with a list of the spec's stories, and from the
// first work on it a file for each story, `stories/<id>-*.md`. The list says which stories there
// are and in which order, a story's file its status. An id may have dashes, so of a file's name
// alone nobody knows which id is meant: the one that the list has.

import { basename, dirname, sep } from 'node:path'
import { defined } from '../../worker/shared/json.ts'
import { entriesOf, foldersIn } from './checklist.ts'
import { cutTitle, headingText } from './checklist-items.ts'
import { isRecord, sentence } from './fields.ts'
import { type Entry, type FileKind, type FileRole, type Parsed, parsedAs } from './layout.ts'
import type { Plain } from './plain-yaml.ts'
import { limitText, readFrontMatter, whyNoText } from './text.ts'
import { readYamlMap } from './yaml.ts'

const LIST = 'stories.yaml'
const SPEC = 'SPEC.md'
const STORIES = 'stories'
/** What the tool writes into a story's file, after what a story is that has none. */
export const STATES = [
  'backlog',
  'draft',
  'ready-for-dev',
  'in-progress',
  'in-review',
  'blocked',
  'done',
]
const [NEW = ''] = STATES
/** The tool lets nobody go on with such a story: a person must look at it. */
const BLOCKED = 'blocked'
/** As the tool wants it, and of a length that a file's name can begin with. */
const ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/
/** For the person or program that starts the story. */
const EXTRA = ['spec_checkpoint', 'done_checkpoint', 'invoke_dev_with']

interface SpecFile {
  kind: FileKind
  /** The spec's folder. */
  folder: string
}

/** `places`: what may hold a folder for each spec. Absolute. */
export class SpecFolders {
  readonly #places: readonly string[]
  readonly #board: Entry

  constructor(places: readonly string[], board: Entry) {
    this.#places = places
    this.#board = board
  }

  /** Its places, and its specs with their stories. Reads the disk. */
  folders(): string[] {
    const specs = this.#places.flatMap(foldersIn).filter((it) => has(it, LIST) || has(it, SPEC))
    const inside = specs.flatMap(foldersIn).filter((it) => basename(it) === STORIES)
    return [...this.#places, ...specs, ...inside]
  }

  /** The first place with a list of stories. Reads the disk. */
  placeOfStories(): string | undefined {
    return this.#places.find((place) => foldersIn(place).some((it) => has(it, LIST)))
  }

  classify = (path: string): FileKind | undefined => this.#fileOf(path)?.kind

  isGuess = (path: string): boolean => {
    const kind = this.classify(path)
    return kind !== undefined && kind !== 'tasks'
  }

  roleOf = (path: string): FileRole | undefined => {
    const file = this.#fileOf(path)
    if (!file) return undefined
    const { kind, folder } = file
    const spec = basename(folder)
    return { folder, rank: 0, ...(kind === 'tasks' && { isAbout: (id) => id !== spec }) }
  }

  /** Undefined: it is no file of a spec. */
  parse(path: string, text: string): Parsed | undefined {
    const file = this.#fileOf(path)
    if (!file) return undefined
    const spec = basename(file.folder)
    if (file.kind === 'task') return parseStory(spec, path, text)
    if (file.kind === 'about') return parsedAs([aboutEntry(spec, text)])
    const found = listIn(text)
    if (typeof found === 'string') {
      const why = `${LIST}: ${found} Its stories stay as they were last read.`
      return { state: 'broken', entries: [this.#board, specEntry(spec, why)] }
    }
    const entries = listEntries(spec, found.list, found.problems)
    return { state: 'ok', entries: [this.#board, ...entries] }
  }

  /** Undefined: it is no file of a spec. */
  unreadable(path: string, why: string): Entry[] | undefined {
    const file = this.#fileOf(path)
    if (!file) return undefined
    const spec = basename(file.folder)
    if (file.kind !== 'task') return [specEntry(spec, why)]
    return guessesIn(path).map((id) => storyEntry(spec, id, { status: '', invalid: why }))
  }

  #fileOf(path: string): SpecFile | undefined {
    const name = basename(path)
    const folder = dirname(path)
    if (name === LIST || name === SPEC) {
      const kind = name === LIST ? 'tasks' : 'about'
      return this.#places.includes(dirname(folder)) ? { kind, folder } : undefined
    }
    if (!folder.endsWith(sep + STORIES) || guessesIn(path).length === 0) return undefined
    const spec = dirname(folder)
    return this.#places.includes(dirname(spec)) ? { kind: 'task', folder: spec } : undefined
  }
}

const has = (folder: string, name: string): boolean =>
  entriesOf(folder).some((it) => it.name === name)

/** `3-2-tea.md` may be of the story 3 or 3-2. */
function guessesIn(path: string): string[] {
  if (!path.endsWith('.md')) return []
  const words = basename(path, '.md').split('-')
  return beginnings(words)
}

/** What an id may be that ends before another dash. */
const beginnings = (words: readonly string[]): string[] =>
  words.flatMap((_, at) => {
    const id = words.slice(0, at).join('-')
    return ID.test(id) ? [id] : []
  })

/** The spec itself: its stories are what is to be done. */
const specEntry = (id: string, invalid?: string, more = {}): Entry & { kind: 'task' } => ({
  kind: 'task',
  id,
  task: defined({ id, title: id, status: NEW, type: 'epic', ...more, invalid }),
  standing: 'held',
})

function aboutEntry(spec: string, text: string): Entry {
  const invalid = whyNoText(text)
  if (invalid !== undefined) return specEntry(spec, invalid)
  const heading = text.split('\n').find((line) => line.startsWith('# '))
  const title = (heading && headingText(heading)) || spec
  return specEntry(spec, undefined, { title, body: limitText(text) })
}

function storyEntry(
  spec: string,
  id: string,
  own: { status: string; title?: string; body?: string; invalid?: string },
): Entry {
  const task = { title: id, ...own, id: `${spec}/${id}` }
  const isBlocked = own.status === BLOCKED
  return { kind: 'task', id: task.id, task, ...(isBlocked && { standing: 'held' }) }
}

function parseStory(spec: string, path: string, text: string): Parsed {
  const { fields, body, invalid } = readFrontMatter(text)
  const status = fields.text('status') ?? ''
  const isKnown = STATES.includes(status) && status !== NEW
  const odd = isKnown ? undefined : `No story has the status "${status.slice(0, 40)}".`
  const own = defined({ status, title: fields.text('title'), body, invalid: invalid ?? odd })
  return parsedAs(guessesIn(path).map((id) => storyEntry(spec, id, own)))
}

/** The list, or why it cannot be read. */
function listIn(text: string): { list: Plain[]; problems: readonly string[] } | string {
  const none = whyNoText(text)
  if (none !== undefined) return none
  // What reads YAML wants a map.
  const yaml = readYamlMap(`stories:\n${text.replace(/^\ufeff|^---[ \t]*\r?$/gm, '')}`, 0)
  if (!yaml.ok) return `The file is not valid YAML: ${yaml.why}.`
  const list = yaml.fields.get('stories')
  return Array.isArray(list) ? { list, problems: yaml.problems } : 'The file is no list of stories.'
}

function listEntries(spec: string, list: readonly Plain[], problems: readonly string[]): Entry[] {
  const stories = list.flatMap((it) => (isRecord(it) && textOf(it.id) !== '' ? [it] : []))
  const whyOdd = oddIds(stories.map((it) => textOf(it.id)))
  const lost = stories.length < list.length ? ['an entry is no story with an id'] : []
  const entries = stories.map((it, at): Entry => {
    const id = textOf(it.id)
    const extra = EXTRA.flatMap((key) => (key in it ? [[key, it[key]]] : []))
    const task = defined({
      id: `${spec}/${id}`,
      title: cutTitle(textOf(it.title)) || id,
      status: NEW,
      type: 'story',
      parent: spec,
      extra: extra.length > 0 ? Object.fromEntries(extra) : undefined,
      body: limitText(textOf(it.description)),
      invalid: whyOdd(id),
    })
    // How many stories stand before it is nothing that it says itself.
    return {
      kind: 'task',
      id: task.id,
      task: { ...task, rank: at + 1 },
      source: JSON.stringify(task),
    }
  })
  const own = specEntry(spec, sentence(LIST, [...problems, ...lost]))
  // Of the list it has which stories there are, and in which order.
  return [{ ...own, source: JSON.stringify([own.task, stories.map(({ id }) => id)]) }, ...entries]
}

const textOf = (value: Plain | undefined): string =>
  value === undefined || value === null || typeof value === 'object' ? '' : String(value)

/** Why nobody can say which files are of a story. */
function oddIds(ids: readonly string[]): (id: string) => string | undefined {
  const counts = new Map<string, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  const longer = new Map<string, string>()
  const shorter = new Map<string, string>()
  for (const id of counts.keys()) {
    for (const other of beginnings(id.split('-'))) {
      if (!counts.has(other)) continue
      longer.set(other, id)
      shorter.set(id, other)
    }
  }
  return (id) => {
    if (!ID.test(id)) return 'The id of a story has letters, digits and dashes only.'
    if ((counts.get(id) ?? 0) > 1) return `Several stories of ${LIST} have the id "${id}".`
    const other = longer.get(id) ?? shorter.get(id)
    return other && `A file of the story "${id}" may be of the story "${other}", too.`
  }
}
