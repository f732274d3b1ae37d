import { describe, expect, it } from 'vitest'
import type { SidecarSocket } from '../../../worker/board/presence.ts'
import { openRepository } from '../../../worker/board/repository/open-repository-sqlite.ts'
import { EMPTY_HASH, type SyncRequest } from '../../../worker/board/wire.ts'
import type { Log } from '../../../worker/shared/log.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'

const root = (run: number | null, sum = EMPTY_HASH): SyncRequest => ({
  step: 'root',
  run,
  root: sum,
  store: { state: 'present', version: '1' },
})
const SOME = 1_000_000
const TOLD = expect.stringMatching(/^id: \w+-\d+\ndata: .*tasks-changed/)

/** A repository whose sidecar of run 1 holds a socket and pinged, all at `SOME`. */
function attached(first = root(null)) {
  const sql = openSql(':memory:')
  const sockets: SidecarSocket[] = []
  const logged: string[] = []
  const log: Log = (level, event) => logged.push(`${level} ${event}`)
  const opened = openRepository(sql, { sockets: () => sockets, log })
  const { repository, presence } = opened
  repository.sync(first, SOME)
  const attach = (run: number, now: number) => {
    sockets.push({ run, pingedAt: now })
    return presence.opened(run, now)
  }
  const detach = (run: number, now: number) => {
    const [socket] = sockets.splice(
      sockets.findIndex((it) => it.run === run),
      1,
    )
    if (socket) presence.closed(socket, now)
  }
  const ping = (run: number, now: number) => {
    for (const socket of sockets) if (socket.run === run) socket.pingedAt = now
  }
  attach(1, SOME)
  return { ...opened, sql, sockets, logged, attach, detach, ping }
}

describe('a socket that closes', () => {
  it('is told ten seconds later, once', () => {
    const { presence, nextDue, logged, detach } = attached()
    detach(1, SOME + 1)
    expect(nextDue()).toBe(SOME + 10_001)
    expect(presence.onAlarm(SOME + 10_000)).toEqual({ frames: [], free: false })
    expect(presence.onAlarm(SOME + 10_001)).toEqual({ frames: [TOLD], free: false })
    expect(nextDue()).toBeUndefined()
    expect(presence.onAlarm(SOME + 20_000).frames).toEqual([])
    expect(logged.filter((line) => line.startsWith('warn'))).toEqual(['warn board.sidecar_lost'])
  })

  it('is not told when the sidecar dials again, or starts again, before that', () => {
    const again = attached()
    again.detach(1, SOME)
    expect(again.attach(1, SOME + 8_000)).toEqual([])
    expect(again.presence.onAlarm(SOME + 10_000).frames).toEqual([])

    const other = attached()
    other.detach(1, SOME)
    other.repository.sync(root(null), SOME + 8_000)
    expect(other.presence.onAlarm(SOME + 10_000).frames).toEqual([])
  })

  it('is not told while the sidecar reports instead, until it is silent', () => {
    const { presence, repository, nextDue, detach } = attached()
    detach(1, SOME)
    repository.sync(root(1), SOME + 5_000)
    expect(presence.onAlarm(SOME + 10_000).frames).toEqual([])
    expect(nextDue()).toBe(SOME + 55_000)
    expect(presence.onAlarm(SOME + 55_000).frames).toEqual([TOLD])
  })

  it('is not told after an end in order', () => {
    const { presence, repository, nextDue, detach } = attached()
    repository.sync({ step: 'end', run: 1 }, SOME)
    detach(1, SOME)
    expect(nextDue()).toBeUndefined()
    expect(presence.onAlarm(SOME + 60_000).frames).toEqual([])
  })

  it('after its end was told is not told again', () => {
    const { presence, nextDue, detach } = attached()
    presence.checkPings(SOME + 55_000)
    detach(1, SOME + 55_001)
    expect(nextDue()).toBeUndefined()
  })

  it('is told to nobody while the board is not published', () => {
    const { presence, detach } = attached(root(null, '1'.repeat(32)))
    detach(1, SOME)
    expect(presence.onAlarm(SOME + 10_000)).toEqual({ frames: [], free: false })
  })

  it('of a replaced one ends nothing', () => {
    const { nextDue, attach, detach } = attached()
    attach(1, SOME + 1)
    detach(1, SOME + 2)
    expect(nextDue()).toBeUndefined()
  })
})

it('tells the return of a sidecar whose end was told, and no other', () => {
  const { presence, repository, attach, detach } = attached()
  detach(1, SOME)
  presence.onAlarm(SOME + 10_000)
  expect(attach(1, SOME + 11_000)).toEqual([TOLD])
  detach(1, SOME + 12_000)
  presence.onAlarm(SOME + 22_000)
  expect(repository.sync(root(1), SOME + 23_000)).toMatchObject({ frames: [TOLD] })
  expect(repository.sync(root(1), SOME + 24_000)).toMatchObject({ frames: [] })
})

it('tells a frozen sidecar 55 s after its last ping, and its return at its next', () => {
  const { presence, ping } = attached()
  expect(presence.checkPings(SOME + 54_999).frames).toEqual([])
  expect(presence.checkPings(SOME + 55_000).frames).toEqual([TOLD])
  expect(presence.checkPings(SOME + 56_000).frames).toEqual([])
  ping(1, SOME + 57_000)
  expect(presence.checkPings(SOME + 57_001)).toEqual({ frames: [TOLD], free: false })
})

it('tells a socket that was lost with a reset of its host after 55 s, unless it is dialled', () => {
  const { presence, nextDue, sockets } = attached()
  sockets.length = 0
  presence.restored(SOME + 1_000)
  presence.restored(SOME + 2_000)
  expect(nextDue()).toBe(SOME + 56_000)
  expect(presence.onAlarm(SOME + 56_000).frames).toEqual([TOLD])

  const again = attached()
  again.sockets.length = 0
  again.presence.restored(SOME + 1_000)
  expect(again.attach(1, SOME + 54_000)).toEqual([])
  expect(again.presence.onAlarm(SOME + 56_000).frames).toEqual([])
  expect(again.nextDue()).toBeUndefined()
})

it('tells a socket that only opened, and never pinged, 55 s later, and lets others publish', () => {
  const { presence, repository, sockets, ping } = attached()
  for (const socket of sockets) socket.pingedAt = undefined
  repository.sync(root(null), SOME)
  sockets.push({ run: 2, pingedAt: undefined })
  presence.opened(2, SOME)
  expect(presence.checkPings(SOME + 54_999).frames).toEqual([])
  expect(presence.checkPings(SOME + 55_000)).toEqual({ frames: [TOLD], free: true })
  expect(repository.sync(root(1), SOME + 55_001)).toMatchObject({ ok: true })
  ping(2, SOME + 56_000)
  expect(repository.sync(root(2), SOME + 56_000)).toMatchObject({ ok: false })
})

describe('a second sidecar', () => {
  /** Run 1 waits, run 2 leads. */
  function rivals() {
    const it = attached()
    it.repository.sync(root(null), SOME)
    it.attach(2, SOME)
    return it
  }

  it('waits for as long as the one that leads pings, without a report', () => {
    const { repository, ping } = rivals()
    expect(repository.sync(root(1), SOME)).toEqual({ ok: false, reason: 'superseded' })
    for (let now = SOME; now < SOME + 3_600_000; now += 25_000) {
      ping(2, now)
      expect(repository.sync(root(1), now + 24_000)).toEqual({ ok: false, reason: 'superseded' })
    }
  })

  it('is told to go on, before anybody is told that the first is gone', () => {
    const { presence, repository, nextDue, detach } = rivals()
    detach(2, SOME)
    expect(presence.onAlarm(SOME + 10_000)).toEqual({ frames: [], free: true })
    expect(nextDue()).toBe(SOME + 20_000)
    expect(repository.sync(root(1), SOME + 10_001)).toMatchObject({ answer: { run: 3 } })
    expect(presence.onAlarm(SOME + 20_000)).toEqual({ frames: [], free: false })
  })

  it('that does not go on is not waited for', () => {
    const { presence, detach } = rivals()
    detach(2, SOME)
    presence.onAlarm(SOME + 10_000)
    expect(presence.onAlarm(SOME + 20_000)).toEqual({ frames: [TOLD], free: false })
  })

  it('neither holds the run nor shows the first as there, by its own pings', () => {
    const { presence, repository, ping, attach, detach } = rivals()
    ping(1, SOME + 60_000)
    detach(1, SOME + 60_000)
    attach(1, SOME + 60_000)
    // It is told, as well.
    expect(presence.checkPings(SOME + 60_000)).toEqual({ frames: [TOLD], free: true })
    expect(repository.sync(root(1), SOME + 60_001)).toMatchObject({ ok: true })
  })
})

describe('what the status says', () => {
  const statusOf = ({ reads }: ReturnType<typeof openRepository>, now: number) => {
    const host = { streams: 0, awakeSince: '', now: new Date(now).toISOString() }
    const found = reads.find({ kind: 'status' }, host)
    if (found.state !== 'found') throw new Error(found.state)
    return { ...JSON.parse([...found.pieces].join('')), offlineSince: found.offlineSince }
  }
  const stateOf = (it: ReturnType<typeof openRepository>, now: number) => {
    const { sidecar, offlineSince } = statusOf(it, now)
    const since = sidecar.since && Date.parse(sidecar.since)
    // The host is told of what nobody has told the directory of boards yet.
    expect(offlineSince).toBe(sidecar.state === 'offline' ? since : undefined)
    return since === undefined ? [sidecar.state] : [sidecar.state, since]
  }

  const timesOf = (it: ReturnType<typeof openRepository>) => {
    const { sidecar, currentAt } = statusOf(it, SOME)
    return [sidecar.lastSeenAt, currentAt].map((text) => text && Date.parse(text) - SOME)
  }

  it('has the last ping of the sidecar that leads, or its report after that, also when it is gone', () => {
    const it = attached()
    it.ping(1, SOME + 10)
    expect(timesOf(it)).toEqual([10, 10])
    it.attach(1, SOME + 5)
    expect(timesOf(it)).toEqual([10, 10])
    it.repository.sync(root(1), SOME + 20)
    expect(timesOf(it)).toEqual([20, 20])
    for (const [n, socket] of it.sockets.entries()) socket.pingedAt = SOME + 30 + n
    it.presence.checkPings(SOME + 60_000)
    it.sockets.length = 0
    expect(timesOf(it)).toEqual([31, 31])

    const closed = attached()
    closed.ping(1, SOME + 10)
    closed.detach(1, SOME + 15)
    expect(timesOf(closed)).toEqual([10, 10])

    const replaced = attached()
    replaced.repository.sync(root(null), SOME + 5)
    replaced.ping(1, SOME + 10)
    replaced.detach(1, SOME + 15)
    expect(timesOf(replaced)).toEqual([5, 5])
    expect(replaced.nextDue()).toBeUndefined()
  })

  it('is not current by a ping before a first sync, nor while the folder is missing', () => {
    const reading = attached(root(null, '1'.repeat(32)))
    reading.ping(1, SOME + 10)
    expect(timesOf(reading)).toEqual([10, undefined])
    const missing = attached()
    const store = { state: 'missing', version: '1' } as const
    missing.repository.sync({ ...root(1), store } as SyncRequest, SOME + 5)
    missing.ping(1, SOME + 10)
    expect(timesOf(missing)).toEqual([10, 0])
  })

  it('of a socket is offline since its close, when that was told, and running again', () => {
    const it = attached()
    const { presence, attach, detach } = it
    detach(1, SOME + 1)
    expect(stateOf(it, SOME + 9_000)).toEqual(['running'])
    presence.onAlarm(SOME + 10_001)
    // Also where the clock was set back.
    for (const now of [SOME + 3_600_000, SOME + 2]) {
      expect(stateOf(it, now)).toEqual(['offline', SOME + 1])
    }
    attach(1, SOME + 3_700_000)
    expect(stateOf(it, SOME + 3_700_001)).toEqual(['running'])
  })

  it('of a frozen one is offline 55 s after its last ping', () => {
    const it = attached()
    it.ping(1, SOME + 25_000)
    expect(stateOf(it, SOME + 79_999)).toEqual(['running'])
    expect(stateOf(it, SOME + 80_000)).toEqual(['offline', SOME + 25_000])
  })

  it('of a socket that was lost with a reset of its host is running for 55 s', () => {
    const it = attached()
    it.sockets.length = 0
    it.presence.restored(SOME + 3_600_000)
    expect(stateOf(it, SOME + 3_654_999)).toEqual(['running'])
    it.presence.onAlarm(SOME + 3_655_000)
    expect(stateOf(it, SOME + 3_655_000)).toEqual(['offline', SOME + 3_600_000])
  })

  it('of reports is offline after 50 s, running at the next, and ended in order', () => {
    const opened = openRepository(openSql(':memory:'))
    opened.repository.sync(root(null), SOME)
    expect(stateOf(opened, SOME + 49_999)).toEqual(['running'])
    expect(stateOf(opened, SOME + 50_000)).toEqual(['offline', SOME])
    opened.repository.sync(root(1), SOME + 60_000)
    expect(stateOf(opened, SOME + 60_000)).toEqual(['running'])
    opened.repository.sync({ step: 'end', run: 1 }, SOME + 70_000)
    expect(stateOf(opened, SOME + 3_600_000)).toEqual(['ended', SOME + 70_000])
  })
})

it('knows the runs that it gave, and no others', () => {
  const { presence, repository } = attached()
  repository.sync(root(null), SOME)
  expect([0, 1, 2, 3].filter((run) => presence.knows(run))).toEqual([1, 2])
})

it('asks nothing of a sidecar that ended, or that never had a socket', () => {
  const { presence, repository } = attached()
  presence.restored(SOME)
  repository.sync({ step: 'end', run: 1 }, SOME)
  expect(presence.checkPings(SOME + 3_600_000)).toEqual({ frames: [], free: false })
  const sockets = [{ run: 1, pingedAt: undefined }]
  const reports = openRepository(openSql(':memory:'), { sockets: () => sockets })
  reports.repository.sync(root(null), SOME)
  expect(reports.presence.checkPings(SOME + 3_600_000)).toEqual({ frames: [], free: false })
  expect(reports.nextDue()).toBeUndefined()
})
