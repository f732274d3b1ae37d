// What the task, session, live and config files of the cairn layout say. No I/O.

import { defined, Fields, isRecord, sentence } from './fields.ts'
import { readFrontMatter, whyNoText } from './front-matter.ts'
import type { Entry } from './layout.ts'
import { utcTime } from './times.ts'
import { readYamlMap, YAML_BYTES } from './yaml-map.ts'
import type { Plain } from './yaml-scalar.ts'

/** The id is the name of the file. An id in its front matter is ignored. */
export function parseTask(id: string, text: string): Entry {
  const { fields, body, invalid } = readFrontMatter(text)
  fields.text('id')
  const provenance = fields.maps('provenance')?.map((entry) =>
    defined({
      who: entry.text('who') ?? '',
      at: utcTime(entry.text('at') ?? ''),
      did: entry.text('did') ?? '',
      text: entry.text('text'),
    }),
  )
  const checks = fields.maps('checks')?.map((check) =>
    defined({
      desc: check.text('desc') ?? '',
      cmd: check.text('cmd'),
      type: check.text('type'),
      result: check.text('result'),
      cwd: check.text('cwd'),
      timeout: check.number('timeout'),
    }),
  )
  const task = defined({
    id,
    title: fields.text('title') ?? id,
    status: fields.text('status') ?? '',
    assignee: fields.text('assignee'),
    deps: fields.texts('deps'),
    updatedAt: provenance?.at(-1)?.at || undefined,
    rank: fields.number('rank'),
    labels: fields.texts('labels'),
    priority: fields.text('priority'),
    parent: fields.text('parent'),
    activeAttempt: fields.text('active_attempt'),
    checks,
    provenance,
    extra: fields.rest(),
    body,
    invalid: invalid ?? sentence('The front matter', fields.problems),
  })
  return { kind: 'task', id, task }
}

export function parseSession(id: string, text: string): Entry {
  const { fields, invalid } = readYamlFile(text)
  fields.text('id')
  const required = (key: string): string => {
    const value = fields.text(key)
    if (value === undefined && !invalid) fields.problems.push(`"${key}" is missing`)
    return value ?? ''
  }
  const session = {
    id,
    task: required('task'),
    attempt: fields.text('attempt') ?? '',
    actor: fields.text('actor') ?? '',
    client: fields.text('client'),
    model: fields.text('model'),
    status: required('status'),
    startedAt: utcTime(required('started_at')),
    endedAt: timeOf(fields, 'ended_at'),
    branch: fields.text('branch'),
    headStarted: fields.text('head_started'),
    headFinished: fields.text('head_finished'),
    summary: fields.text('summary'),
    cancelReason: fields.text('cancel_reason'),
  }
  const why = invalid ?? sentence('The session', fields.problems)
  return { kind: 'session', id, session: defined({ ...session, invalid: why }) }
}

/** Empty if the file has no heartbeat: then the session correctly becomes stale. */
export function parseLive(id: string, text: string): Entry[] {
  const fields = readJsonFields(text)
  const heartbeatAt = fields?.text('heartbeatAt')
  if (!fields || heartbeatAt === undefined) return []
  const progress = fields.text('progress')
  const worktree = fields.text('worktree')
  return [
    { kind: 'live', id, live: defined({ heartbeatAt: utcTime(heartbeatAt), progress, worktree }) },
  ]
}

export function parseConfig(text: string): Entry {
  const { fields, invalid } = readYamlFile(text)
  const prefix = fields.text('prefix')
  const states = fields.texts('states')
  if (!states && !invalid) fields.problems.push('"states" is missing')
  const closed = fields.texts('closed') ?? []
  const initial = fields.text('initial')
  const stale = fields.number('session_stale_after')
  const board = defined({
    layout: 'cairn' as const,
    prefix,
    states: states ?? [],
    closed,
    initial,
    extra: fields.rest(),
    invalid: invalid ?? sentence('The configuration', fields.problems),
  })
  const staleAfterMs = stale !== undefined && stale > 0 ? 1000 * stale : undefined
  return { kind: 'board', id: 'board', board, ...(staleAfterMs && { staleAfterMs }) }
}

const timeOf = (fields: Fields, key: string): string | undefined => {
  const text = fields.text(key)
  return text === undefined ? undefined : utcTime(text)
}

function readYamlFile(text: string): { fields: Fields; invalid?: string } {
  const none = new Fields(new Map())
  const why = whyNoText(text)
  if (why !== undefined) return { fields: none, invalid: why }
  const yaml = readYamlMap(text)
  if (!yaml.ok) return { fields: none, invalid: `The file is not valid YAML: ${yaml.why}.` }
  return { fields: new Fields(yaml.fields, yaml.problems) }
}

function readJsonFields(text: string): Fields | undefined {
  if (text.length > YAML_BYTES) return undefined
  try {
    const value: Plain = JSON.parse(text.replace(/^\ufeff/, ''))
    return isRecord(value) ? new Fields(new Map(Object.entries(value))) : undefined
  } catch {
    // A half-written heartbeat: the next one follows within seconds.
    return undefined
  }
}
