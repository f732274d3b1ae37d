// What each fault did to clients, as rows of a table: measured from the lines of the history alone.

import type { Recorder } from './recorder.ts'

type Line = Recorder['lines'][number]

interface Row {
  fault: string
  times: number
  /** Charges and refunds without an answer, or with 503, of all that were asked for. */
  refused: number
  asked: number
  /** The slowest answer, in ms. */
  slowest: number
  /** Webhooks without an answer, or with 503: the gateway sends them again. */
  webhooks: number
  /** The longest time until a write could be seen by each client, in ms. */
  behind: number
  /** Durable events that listener or endpoint took more than once. */
  doubled: number
}

const HEAD =
  '| fault | times | refused | slowest | webhooks refused | clients behind | delivered twice |\n' +
  '|---|---|---|---|---|---|---|'
const isRefused = ({ status }: Line) => status === 0 || status === 503
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

export function summaryOf(lines: readonly Line[]): string {
  const begins = lines.filter(({ kind, phase }) => kind === 'fault' && phase === 'begin')
  const heals = lines.find(({ kind }) => kind === 'sweep')?.t ?? Number.POSITIVE_INFINITY
  const lags = lagsOf(lines)
  const twice = repeatedOf(lines)
  const spans = [
    { fault: 'none', from: 0, to: begins[0]?.t ?? heals },
    ...begins.map(({ t, name }, at) => {
      return { fault: String(name), from: t, to: begins[at + 1]?.t ?? heals }
    }),
  ]
  const rows = [...Map.groupBy(spans, ({ fault }) => fault)].map(([fault, own]): Row => {
    const isIn = (t: number) => own.some(({ from, to }) => t >= from && t < to)
    const asked = lines.filter(
      ({ kind, t, tookMs }) => ['charge', 'refund'].includes(kind) && isIn(t - Number(tookMs)),
    )
    const answered = asked.filter(({ status }) => status !== 0)
    const webhooks = lines.filter(({ kind, t }) => kind === 'webhook' && isIn(t))
    return {
      fault,
      times: own.length,
      refused: asked.filter(isRefused).length,
      asked: asked.length,
      slowest: Math.max(0, ...answered.map(({ tookMs }) => Number(tookMs))),
      webhooks: webhooks.filter(isRefused).length,
      behind: Math.max(0, ...lags.filter(({ t }) => isIn(t)).map(({ lag }) => lag)),
      doubled: twice.filter(({ t }) => isIn(t)).length,
    }
  })
  return [HEAD, ...rows.map(textOf)].join('\n')
}

const textOf = (row: Row): string =>
  `| ${[
    `\`${row.fault}\``,
    row.times,
    `${row.refused} of ${row.asked}`,
    seconds(row.slowest),
    row.webhooks,
    seconds(row.behind),
    row.doubled,
  ].join(' | ')} |`

/** How long after each write that a client could see the last of the clients had it. */
function lagsOf(lines: readonly Line[]): { t: number; lag: number }[] {
  const lags: { t: number; lag: number }[] = []
  /** By client and entry: writes that it has not seen yet. */
  const unseen = new Map<string, { t: number; version: number }[]>()
  const clients = [...new Set(lines.flatMap(({ client }) => (client ? [String(client)] : [])))]
  for (const line of lines) {
    if (line.kind === 'write' && typeof line.version === 'number') {
      const write = { t: line.t, version: line.version }
      for (const client of clients) {
        const key = `${client} ${String(line.task ?? line.session)}`
        unseen.set(key, [...(unseen.get(key) ?? []), write])
      }
    }
    // What was deleted meanwhile need not be seen.
    if (line.kind === 'write' && line.version === null) {
      for (const client of clients) unseen.delete(`${client} ${String(line.task)}`)
    }
    if (line.kind !== 'read') continue
    const read = { ...(line.tasks as object), ...(line.sessions as object) }
    for (const [id, version] of Object.entries(read)) {
      const key = `${String(line.client)} ${id}`
      const waiting = unseen.get(key) ?? []
      const seen = waiting.filter((write) => write.version <= Number(version))
      lags.push(...seen.map(({ t }) => ({ t, lag: line.t - t })))
      unseen.set(
        key,
        waiting.filter((write) => write.version > Number(version)),
      )
    }
  }
  return lags
}

/** Lines by which a listener or the endpoint took an event that it had taken before. */
function repeatedOf(lines: readonly Line[]): Line[] {
  const taken = new Set<string>()
  return lines.filter((line) => {
    const { kind, type, status } = line
    if (!/^(Payment|Alert)/.test(String(type))) return false
    const about = line.alert ?? line.transaction ?? {}
    const { id, status: at } = about as { id?: string; status?: string }
    const name = kind === 'listener' ? `${String(type)} ${id} ${at}` : String(line.id)
    const isTaken = kind === 'listener' || (kind === 'endpoint' && Number(status) < 300)
    if (!isTaken) return false
    const isRepeated = taken.has(name)
    taken.add(name)
    return isRepeated
  })
}
