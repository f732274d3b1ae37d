// What the task and config files of the Backlog.md layout say. No I/O.

import { defined, Fields, sentence } from './fields.ts'
import { readFrontMatter } from './front-matter.ts'
import type { Entry } from './layout.ts'
import { utcTime } from './times.ts'
import { readYamlMap } from './yaml-map.ts'

/**
 * `back-5.2 - Title.md`; old files are named `back-5-title.md`, or `back-5.md`. A title may even
 * hold a line break: such a task must not be skipped without a word.
 */
export const TASK_NAME = /^([A-Za-z]+-\d+(?:\.\d+)*)(?:[ -].*)?\.md$/s
const ID = /^[A-Za-z]+-[\w.-]{1,100}$/
/** `m-6 - the-title.md`; its title and id are in its front matter. */
export const MILESTONE_NAME = /^m-\d+(?:[ -].*)?\.md$/is

/** The tool itself takes `back-5.2` and `BACK-5.02` for one task. */
export const foldId = (id: string): string => id.toLowerCase().replace(/([-.])0+(?=\d)/g, '$1')

/** What the tool itself takes when its configuration names no statuses. */
export const CONFIG_STATES = { states: ['To Do', 'In Progress', 'Done'], closed: ['Done'] }

/** `place`: the folder of the board that the file is in. */
export function parseTask(file: string, place: string, text: string): Entry {
  const { fields, body, invalid } = readFrontMatter(text)
  const named = TASK_NAME.exec(file)?.[1]?.toUpperCase() ?? file
  const written = fields.text('id')
  const id = written !== undefined && ID.test(written) ? written : named
  if (!invalid && id !== written) fields.problems.push('"id" is no task id')

  const created = fields.text('created_date')
  const updated = fields.text('updated_date') ?? created
  const assignees = fields.texts('assignee') ?? []
  const known = {
    id,
    title: fields.text('title') ?? id,
    status: fields.text('status') ?? '',
    assignee: assignees[0],
    assignees: assignees.length > 1 ? assignees : undefined,
    deps: fields.texts('dependencies'),
    updatedAt: updated === undefined ? undefined : utcTime(updated),
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
export function parseMilestone(text: string): Entry[] {
  const { fields } = readFrontMatter(text)
  const id = fields.text('id')
  const title = fields.text('title')
  if (id === undefined || title === undefined) return []
  return [{ kind: 'setting', id: `milestone:${foldId(id)}`, value: title }]
}

/** The last of the statuses is the closed one: the tool knows no other sign. */
export function parseConfig(text: string): Entry {
  const yaml = readYamlMap(text)
  const fields = new Fields(yaml.ok ? yaml.fields : new Map(), yaml.ok ? yaml.problems : [])
  const prefix = fields.text('task_prefix')
  const states = fields.texts('statuses') ?? CONFIG_STATES.states
  const board = defined({
    layout: 'backlog-md' as const,
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
