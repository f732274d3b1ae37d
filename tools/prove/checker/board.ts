// What the board promises: (a) at rest every view equals the files, (b) what a message points to
// can be read, (c) a client that resumes loses nothing and gets nothing twice.

import type { BoardMessage, Finding, History, Line, Versions } from './history.ts'
import { finding, numberOf, stepsBetween } from './history.ts'

/** So long after an eviction, in ms. */
const CAUGHT_UP_MS = 60_000

export function checkBoard(history: History): Finding[] {
  const received = receivedBy(history)
  return [
    ...viewsEqualFiles(history),
    ...readsKeepUp(history),
    ...changesHaveMessages(history, received),
    ...idsAreInOrder(history, received),
    ...nothingIsMissed(history, received),
  ]
}

/** `tasks T-1` and its version, of all that a read or the files list. */
const entriesOf = ({ tasks = {}, sessions = {} }: { tasks?: Versions; sessions?: Versions }) => [
  ...Object.entries(tasks).map(([id, version]) => ({ name: `tasks ${id}`, version })),
  ...Object.entries(sessions).map(([id, version]) => ({ name: `sessions ${id}`, version })),
]

/** (a) Whenever the board is at rest, what each client has read is what the files hold. */
function viewsEqualFiles(history: History): Finding[] {
  return history.of('files').flatMap((files) => {
    const expected = new Map(entriesOf(files).map(({ name, version }) => [name, version]))
    const reads = history.of('read').filter(({ line }) => line < files.line)
    return history.clients.flatMap((client) => {
      const view = viewOf(reads.filter((read) => read.client === client))
      return [...new Set([...expected.keys(), ...view.keys()])].flatMap((name) => {
        const { version = null, line = files.line } = view.get(name) ?? {}
        const right = expected.get(name) ?? null
        if (version === right) return []
        return [finding('a', line, `${client} keeps ${name} at ${version}, not ${right}`)]
      })
    })
  })
}

/** What a client knows in the end, by its reads alone, and the line that showed it. */
function viewOf(reads: Line<'read'>[]) {
  const view = new Map<string, { version: number | null; line: number }>()
  for (const read of reads) {
    const list = read.tasks ? 'tasks ' : 'sessions '
    const replaced = read.isWhole && (read.tasks ?? read.sessions) ? [...view.keys()] : []
    for (const name of replaced) if (name.startsWith(list)) view.delete(name)
    for (const { name, version } of entriesOf(read)) view.set(name, { version, line: read.line })
  }
  return view
}

/** (b) A read includes each message that came before it was asked, and what was read before. */
function readsKeepUp(history: History): Finding[] {
  const newest = new Map<string, string>()
  return history.of('read').flatMap(({ client, line, path, status, after, seq }) => {
    // A 404 has no seq.
    if (seq === undefined && status !== 200 && status !== 304) return []
    const known = [after, newest.get(client)].filter((id) => id !== undefined)
    if (seq !== undefined) newest.set(client, seq)
    if (seq !== undefined && known.every((id) => stepsBetween(id, seq) >= 0)) return []
    return [finding('b', line, `${client} knew of ${known.join(', ')}, and read ${path} at ${seq}`)]
  })
}

/** It is for the changes after `from`, up to `to`. `isFirst`: of its connection. */
type Received = Line<'message' | 'cursor'> & { from: number; to: number; isFirst: boolean }

/** A message for several changes does not name them. */
const isSingle = ({ data, from, to }: Received): boolean => data !== undefined && to - from === 1

function receivedBy({ lines }: History): Received[] {
  const ids = new Map<string, string>()
  const connecting = new Set<string>()
  /** By client: messages that wait for their id. */
  const waiting = new Map<string, Line<'message' | 'cursor'>[]>()
  return lines.flatMap((line) => {
    if (line.kind === 'connect') {
      connecting.add(line.client)
      waiting.delete(line.client)
      if (line.lastEventId !== undefined) ids.set(line.client, line.lastEventId)
    }
    if (line.kind !== 'message' && line.kind !== 'cursor') return []
    const { client, id, data } = line
    const blocks = [...(waiting.get(client) ?? []), line]
    waiting.set(client, id === undefined ? blocks : [])
    if (id === undefined) return []
    const isFirst = connecting.delete(client)
    const before = ids.get(client)
    ids.set(client, id)
    // The very first message is for one change, and a block with only an id is for none.
    const steps = before === undefined ? Number(data !== undefined) : stepsBetween(before, id)
    const to = numberOf(id)
    return blocks.map((block) => ({ ...block, from: to - steps, to, isFirst }))
  })
}

/**
 * (b) Between the last read of a version and the first read of the next one some client got a
 * message about it. Where the message came before the version could be read, it is not in between.
 */
function changesHaveMessages(history: History, received: Received[]): Finding[] {
  const single = new Set(received.filter(isSingle).map(({ to }) => to))
  const known = received.filter((each) => isSingle(each) || !single.has(each.to))
  return [...Map.groupBy(sightingsOf(history), ({ name }) => name)].flatMap(([name, sightings]) => {
    const [list, id = ''] = name.split(' ')
    const message = list === 'tasks' ? { type: 'task-changed', id } : { type: 'session-changed' }
    const versions = [...Map.groupBy(sightings, ({ version }) => version)]
    const sorted = versions.sort(([one], [other]) => one - other)
    return sorted.flatMap(([version, reads], at) => {
      const [older, before] = sorted[at - 1] ?? []
      if (!before) return []
      const last = Math.max(...before.map(({ n }) => n))
      const first = Math.min(...reads.map(({ end }) => end))
      const isBetween = ({ from, to }: Received) => to > last && from < first
      if (known.some((each) => isBetween(each) && covers(each.data, message))) return []
      const line = Math.min(...reads.map((read) => read.line))
      return [finding('b', line, `${name} went from ${older} to ${version} without a message`)]
    })
  })
}

/** Each version that a client read, with the changes up to `n`, and none after `end`. */
function sightingsOf(history: History) {
  const next = new Map<string, number>()
  const reads = history.of('read').toReversed()
  return reads.flatMap(({ client, seq, line, ...read }) => {
    if (seq === undefined) return []
    const n = numberOf(seq)
    // The same client's next read was asked when this one had been answered.
    const end = next.get(client) ?? Number.POSITIVE_INFINITY
    next.set(client, n)
    return entriesOf(read).flatMap(({ name, version }) =>
      version === null ? [] : [{ name, version, n, end, line }],
    )
  })
}

/** Whether a client that got the one reads again what it would have read for the other. */
const covers = (own: BoardMessage | undefined, other: BoardMessage): boolean =>
  own !== undefined &&
  // Sessions are read at every message.
  (other.type === 'session-changed' ||
    own.type === 'tasks-changed' ||
    (own.type === other.type && own.id === other.id))

/** (c) A client gets each id once and in order, and skips ids only where it resumes. */
function idsAreInOrder({ of }: History, received: Received[]): Finding[] {
  const evictions = of('fault').filter(({ name }) => name === 'evict-board')
  // A stream stays open then, and asks for what it missed as one that resumes.
  const catchesUp = ({ line, t }: Received) =>
    evictions.some((it) => it.line < line && t - it.t < CAUGHT_UP_MS)
  return received.flatMap((block) => {
    const { line, client, data, from, to, isFirst } = block
    const resumes = isFirst || catchesUp(block)
    // A block with only an id may repeat where the client is.
    const isRight = to - from === 1 || (to > from && resumes) || (to === from && !data)
    return isRight ? [] : [finding('c', line, `${client} got change ${to} after ${from}`)]
  })
}

/** (c) What one client was sent, every client was sent. All of them stay until the end. */
function nothingIsMissed(history: History, received: Received[]): Finding[] {
  const everything = new Map(
    received.filter(isSingle).map((each) => [`${each.to} ${JSON.stringify(each.data)}`, each]),
  )
  return history.clients.flatMap((client) => {
    const own = received.filter((each) => each.client === client)
    const first = own[0]?.from ?? 0
    const missed = [...everything.values()].filter(({ to, data }) => {
      const isIn = (each: Received) => each.from < to && to <= each.to
      return data && to > first && !own.some((each) => isIn(each) && covers(each.data, data))
    })
    return missed.map(({ line, to }) => finding('c', line, `${client} missed change ${to}`))
  })
}
