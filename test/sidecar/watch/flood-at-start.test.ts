// A flood of events before chokidar is ready, which real files bring about only now and then.

import { EventEmitter } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { watchChokidar } from '../../../sidecar/watch/watch-chokidar.ts'
import { hostClock } from '../../../worker/shared/clock.ts'

const chokidar = vi.hoisted(() => ({ opened: [] as { emit: EventEmitter['emit'] }[] }))

vi.mock('chokidar', () => ({
  watch() {
    const fake = Object.assign(new EventEmitter(), { close: () => Promise.resolve() })
    chokidar.opened.push(fake)
    return fake
  },
}))

test('a flood while it starts refuses the start, and leaves no watcher that is closed', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-flood-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const store = { root, folders: () => [root], classify: () => 'task' as const }
  const events = { onHint: () => undefined, onGap: () => undefined, onFailed: vi.fn() }
  const starting = watchChokidar(store, events, { clock: hostClock, withinMs: 60_000 })
  const refused = expect(starting).rejects.toThrow('its events come faster than they can be read')
  for (let n = 0; n < 33_000; n++) {
    chokidar.opened[0]?.emit('raw', 'change', 'T-1.md', { watchedPath: root })
  }
  await refused
  expect(events.onFailed).not.toHaveBeenCalled()
})
