// The configuration of Backlog.md, read as the tool itself reads it.

import { defined } from '../../worker/shared/json.ts'
import { Fields, sentence } from './fields.ts'
import type { Entry } from './layout.ts'
import { readYamlMap, YAML_BYTES } from './yaml.ts'

/** Where a board names none, or an id has none. */
export const PREFIX = 'task'
/** What the tool itself takes when its configuration names no statuses. */
export const CONFIG_STATES = { states: ['To Do', 'In Progress', 'Done'], closed: ['Done'] }

/**
 * Read key by key, as the tool does: it writes quotes within quotes itself, and a key that is no
 * YAML hides no other. The last of the statuses is the closed one; the tool knows no other sign.
 */
export function parseConfig(text: string): Entry {
  if (text.length > YAML_BYTES) {
    const invalid = 'The configuration is larger than 256 KiB.'
    return {
      kind: 'board',
      id: 'board',
      board: { layout: 'backlog-md', ...CONFIG_STATES, invalid },
    }
  }
  const lines = configLines(text)
  const yaml = readYamlMap(text)
  const problems: string[] = []
  const [statuses] = LISTS.map((key) => readList(text, key, problems))
  const states = statuses?.length ? statuses : CONFIG_STATES.states
  const extra = new Map(yaml.ok ? yaml.fields : [])
  for (const key of ['project_name', 'task_prefix', 'default_status', 'statuses']) extra.delete(key)
  const board = defined({
    layout: 'backlog-md' as const,
    project: lines.get('project_name') || undefined,
    prefix: lines.get('task_prefix') || PREFIX,
    states,
    closed: states.slice(-1),
    initial: lines.get('default_status') || undefined,
    extra: new Fields(extra).rest(),
    invalid: sentence('The configuration', problems),
  })
  return { kind: 'board', id: 'board', board }
}

/** The last of each key, without any quotes. */
export function configLines(text: string): Map<string, string> {
  const lines = new Map<string, string>()
  for (const each of text.split('\n')) {
    const line = each.trim()
    const colon = line.indexOf(':')
    if (line.startsWith('#') || colon < 0) continue
    lines.set(
      line.slice(0, colon).trim(),
      line
        .slice(colon + 1)
        .trim()
        .replace(/['"]/g, ''),
    )
  }
  return lines
}

/** With one of them that cannot be read, the tool does not start. The first is asked for here. */
const LISTS = ['statuses', 'labels', 'types', 'priorities', 'projects']
const NEXT_KEY = /^\s*(?!-\s)[^\s#][^:]*:/
/** Which YAML forbids, and the tool takes for a key all the same. */
const KEY_AFTER_TAB = /^\t\s*[\w-]+\s*:/

function readList(text: string, key: string, problems: string[]): string[] | undefined {
  const block = blockOf(text, key)
  if (block === undefined) return undefined
  const own = readYamlMap(block)
  const yaml = own.ok ? own : readYamlMap(text)
  const value = yaml.ok ? yaml.fields.get(key) : undefined
  if (value === null) return undefined
  if (!yaml.ok || !Array.isArray(value)) {
    problems.push(own.ok ? `"${key}" is not a list` : `"${key}" is not valid YAML: ${own.why}`)
    return undefined
  }
  return value.map((item) => String(item).trim()).filter((item) => item !== '')
}

/** Of the line of this key. */
function indentOf(key: string, line: string): string | undefined {
  const written = line.trimStart()
  const isNamed = written.startsWith(key) && written.slice(key.length).trimStart().startsWith(':')
  return isNamed ? line.slice(0, line.length - written.length) : undefined
}

/** The lines of one key, without their indentation. */
function blockOf(text: string, key: string): string | undefined {
  const lines = text.split(/\r?\n/)
  const indents = lines.map((line) => indentOf(key, line))
  const outer = indents.lastIndexOf('')
  const at = outer < 0 ? indents.findLastIndex((indent) => indent !== undefined) : outer
  if (at < 0) return undefined
  const indent = indents[at] ?? ''
  const isNext = (line: string) =>
    KEY_AFTER_TAB.test(line) || (NEXT_KEY.test(line) && line.search(/\S/) <= indent.length)
  const rest = lines.slice(at + 1)
  const end = rest.findIndex(isNext)
  const block = [lines[at] ?? '', ...(end < 0 ? rest : rest.slice(0, end))]
  return block
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n')
}
