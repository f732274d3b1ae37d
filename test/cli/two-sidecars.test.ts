import { describe, expect, test } from 'vitest'
import { type Clock, hostClock } from '../../worker/shared/clock.ts'
import { serveEdge } from '../sidecar/edge-server.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { cli, until, useBoardAndEdge } from './board-and-edge.ts'

useBoardAndEdge()

const watch = async () => {
  const started = cli.start(['watch', cli.board])
  await until(() => expect(started.logs()).toContain('"event":"sidecar.ready"'))
  return started
}

const isSuperseded = ({ logs }: { logs: () => string }) =>
  until(() => expect(logs()).toContain('superseded'))

describe('a watch', () => {
  test('publishes each save beside a sync from cron that comes again and again', async () => {
    await watch()
    for (let round = 1; round <= 2; round++) {
      const sync = cli.start(['sync', cli.board])
      await cli.save('T-1', `During sync ${round}`)
      expect(await sync.exit).toBe(0)
      await until(async () => expect(await cli.title('T-1')).toBe(`During sync ${round}`))
      await cli.save('T-1', `After sync ${round}`)
      await until(async () => expect(await cli.title('T-1')).toBe(`After sync ${round}`))
    }
  })

  test('publishes again when the later one has ended, each time', async () => {
    const first = await watch()
    for (let round = 1; round <= 2; round++) {
      const second = await watch()
      await cli.save('T-1', `Both ${round}`)
      await isSuperseded(first)
      await until(async () => expect(await cli.title('T-1')).toBe(`Both ${round}`))
      second.child.kill('SIGTERM')
      expect(await second.exit).toBe(0)
      await cli.save('T-1', `First ${round}`)
      await until(async () => expect(await cli.title('T-1')).toBe(`First ${round}`))
    }
    expect(first.logs()).not.toContain('"level":"error"')
  })

  test('publishes again within a minute after the later one was killed', async () => {
    let aheadMs = 0
    const clock: Clock = { ...hostClock, now: () => hostClock.now() + aheadMs }
    await cli.server.close()
    cli.server = await serveEdge(processEdge({ clock }))
    const first = await watch()
    const second = await watch()
    second.child.kill('SIGKILL')
    await second.exit
    await cli.save('T-1', 'Mine')
    await isSuperseded(first)
    expect(await cli.title('T-1')).toBe('One')
    aheadMs = 60_000
    await until(async () => expect(await cli.title('T-1')).toBe('Mine'))
  })
})

describe('the list of boards', () => {
  test('tells a watch that ended in order from one that was killed', async () => {
    let aheadMs = 0
    const clock: Clock = { ...hostClock, now: () => hostClock.now() + aheadMs }
    await cli.server.close()
    cli.server = await serveEdge(processEdge({ clock }))
    const headers = { Authorization: `Bearer ${cli.bearer}` }
    const listed = async () => {
      const answer = await cli.server.edge.fetch('/api/boards', { headers })
      const { boards } = (await answer.json()) as {
        boards: { path: string; sidecar: { state: string; lastSeenAt: string } }[]
      }
      return boards.map(({ path, sidecar }) => ({ path, ...sidecar }))
    }
    const isListed = (state: string) =>
      until(async () => expect(await listed()).toMatchObject([{ path: 'cli', state }]))
    const first = await watch()
    await isListed('running')
    first.child.kill('SIGTERM')
    await first.exit
    await isListed('ended')
    const second = await watch()
    await isListed('running')
    const [row] = await listed()
    second.child.kill('SIGKILL')
    await second.exit
    aheadMs = 60_000
    await isListed('running')
    await cli.server.edge.fetch('/api/status?path=cli', { headers })
    await isListed('offline')
    const [offline] = await listed()
    expect(String(offline?.lastSeenAt) <= String(row?.lastSeenAt)).toBe(true)
  })
})
