// What the board promises: (a) views become right, (b) a message points to what can be read, (c) a
// client that resumes loses and doubles nothing.

import type { BoardMessage, Finding, History, Lines, Versions } from './history.ts'
import { position } from './history.ts'

export const checkBoard = (history: History): Finding[] => {
  const heard = heardBy(history)
  return [
    ...viewsEqualFiles(history),
    ...readsKeepUp(history),
    ...changesAreTold(history, heard),
    ...idsRise(history),
    ...nothingIsMissed(heard),
  ]
}

/** `tasks T-1` → the version of it, of all that a read or the files name. */
const named = ({ tasks = {}, sessions = {} }: { tasks?: Versions; sessions?: Versions }) => [
  ...Object.entries(tasks).map(([id, version]) => ({ name: `tasks ${id}`, version })),
  ...Object.entries(sessions).map(([id, version]) => ({ name: `sessions ${id}`, version })),
]

/** (a) At rest, what each client has read is what the files say. */
function viewsEqualFiles(history: History): Finding[] {
  const files = history.of('files').at(-1)
  if (!files) return [{ check: 'a', line: 0, what: 'what the files hold is not said' }]
  const expected = new Map(named(files).map(({ name, version }) => [name, version]))
  return [...Map.groupBy(history.of('read'), ({ client }) => client)].flatMap(([client, reads]) => {
    const view = viewOf(reads)
    const names = new Set([...expected.keys(), ...view.keys()])
    return [...names].flatMap((name) => {
      const { version = null, line = files.line } = view.get(name) ?? {}
      const right = expected.get(name) ?? null
      if (version === right) return []
      return [{ check: 'a', line, what: `${client} has ${name} at ${version}, not ${right}` }]
    })
  })
}

/** What a client knows in the end, by its reads alone, and the line that told it. */
function viewOf(reads: Lines['read'][]) {
  const view = new Map<string, { version: number | null; line: number }>()
  for (const read of reads) {
    for (const what of ['tasks', 'sessions'] as const) {
      if (!read.isWhole || !read[what]) continue
      for (const name of [...view.keys()]) if (name.startsWith(`${what} `)) view.delete(name)
    }
    for (const { name, version } of named(read)) view.set(name, { version, line: read.line })
  }
  return view
}

/** (b) A read includes each message that came before it was asked, and what was read before. */
function readsKeepUp(history: History): Finding[] {
  const newest = new Map<string, string>()
  return history.of('read').flatMap(({ client, line, after, seq }) => {
    if (seq === undefined) return []
    const known = [after, newest.get(client)].filter((id) => id !== undefined)
    newest.set(client, seq)
    const ahead = known.find((id) => position(id).n > position(seq).n)
    if (ahead === undefined) return []
    return [{ check: 'b', line, what: `${client} knew of ${ahead} and then read ${seq}` }]
  })
}

/** A block of a stream with an id, or what came before it without one. */
interface Heard {
  line: number
  client: string
  /** Missing: it only said where the client stands. */
  data: BoardMessage | undefined
  /** It stands for the changes after `from`, up to `to`. */
  from: number
  to: number
}

/** A message for several changes does not say which they were. */
const isSingle = ({ from, to }: Heard): boolean => to - from === 1

function heardBy({ lines }: History): Heard[] {
  const places = new Map<string, number>()
  /** By client: messages without an id, which the next id stands for. */
  const open = new Map<string, Heard[]>()
  return lines.flatMap((line) => {
    if (line.kind === 'disconnect') open.delete(line.client)
    if (line.kind === 'connect' && line.lastEventId !== undefined) {
      places.set(line.client, position(line.lastEventId).n)
    }
    if (line.kind !== 'message' && line.kind !== 'cursor') return []
    const { client } = line
    const data = line.kind === 'message' ? line.data : undefined
    const to = line.id === undefined ? 0 : position(line.id).n
    const from = places.get(client) ?? (data ? to - 1 : to)
    const heard = [...(open.get(client) ?? []), { line: line.line, client, data, from, to }]
    open.set(client, line.id === undefined ? heard : [])
    if (line.id === undefined) return []
    places.set(client, to)
    return heard.map((each) => ({ ...each, to }))
  })
}

/** (b) Between two versions that were read there is a message: one that came early leaves none. */
function changesAreTold(history: History, heard: Heard[]): Finding[] {
  const single = new Set(heard.filter(isSingle).map(({ to }) => to))
  const counts = heard.filter((each) => isSingle(each) || !single.has(each.to))
  return [...Map.groupBy(sightsOf(history), ({ name }) => name)].flatMap(([name, sights]) => {
    const versions = [...Map.groupBy(sights, ({ version }) => version ?? 0)]
    const sorted = versions.sort(([one], [other]) => one - other)
    return sorted.flatMap(([version, reads], at) => {
      const [older, before] = sorted[at - 1] ?? []
      if (!before) return []
      const last = Math.max(...before.map(({ n }) => n))
      const first = Math.min(...reads.map(({ end }) => end))
      const isIn = ({ from, to }: Heard) => to > last && from < first
      if (counts.some((each) => isIn(each) && isAbout(each.data, name))) return []
      const line = Math.min(...reads.map((read) => read.line))
      const what = `${name} went from ${older} to ${version}, and no message told of it`
      return [{ check: 'b', line, what }]
    })
  })
}

/** What each read says of each entry: it includes the changes up to `n`, and none after `end`. */
function sightsOf(history: History) {
  const next = new Map<string, number>()
  const reads = history.of('read').toReversed()
  return reads.flatMap(({ client, seq, line, ...read }) => {
    if (seq === undefined) return []
    const { n } = position(seq)
    // The same client's next read was asked when this one had been answered.
    const end = next.get(client) ?? Number.POSITIVE_INFINITY
    next.set(client, n)
    return named(read).map((entry) => ({ ...entry, n, end, line }))
  })
}

/** Whether a client reads the entry again when it is told this. Sessions it reads every time. */
const isAbout = (message: BoardMessage | undefined, name: string): boolean =>
  message !== undefined &&
  (name.startsWith('sessions ') ||
    message.type === 'tasks-changed' ||
    (message.type === 'task-changed' && name === `tasks ${message.id}`))

/** (c) The ids that one client gets rise, also from one connection to the next. */
function idsRise({ lines }: History): Finding[] {
  const last = new Map<string, string>()
  return lines.flatMap((line) => {
    if ((line.kind !== 'message' && line.kind !== 'cursor') || line.id === undefined) return []
    const before = last.get(line.client)
    last.set(line.client, line.id)
    if (before === undefined) return []
    const step = position(line.id).n - position(before).n
    const isSameLog = position(line.id).epoch === position(before).epoch
    // A block with only an id says where the client stands, and may repeat what it knows.
    if (isSameLog && (step > 0 || (step === 0 && line.kind === 'cursor'))) return []
    return [{ check: 'c', line: line.line, what: `${line.client} got ${line.id} after ${before}` }]
  })
}

/** (c) What anybody was told, every client was told. All of them stay until the end. */
function nothingIsMissed(heard: Heard[]): Finding[] {
  const everything = new Map(heard.filter(isSingle).map((each) => [each.to, each]))
  return [...Map.groupBy(heard, ({ client }) => client)].flatMap(([client, own]) => {
    const first = own[0]?.from ?? 0
    const missed = [...everything.values()].filter(({ to, data }) => {
      const isIn = (each: Heard) => each.from < to && to <= each.to
      return to > first && !own.some((each) => isIn(each) && covers(each.data, data))
    })
    return missed.map(({ line, to }) => {
      return { check: 'c', line, what: `${client} was never told of change ${to}` }
    })
  })
}

/** Whether a client that got the one reads again what it would have read for the other. */
const covers = (own: BoardMessage | undefined, missed: BoardMessage | undefined): boolean =>
  missed?.type === 'task-changed'
    ? isAbout(own, `tasks ${missed.id}`)
    : own !== undefined && (missed?.type !== 'tasks-changed' || own.type === 'tasks-changed')
