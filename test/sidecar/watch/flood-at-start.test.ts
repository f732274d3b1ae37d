// A flood of events before chokidar is ready, which real files bring about only now and then. It
// runs in a process of its own, since the tests of this one share their modules.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempFolder } from '../../support/temp-folder.ts'

const MODULE = new URL('../../../sidecar/watch/watch-chokidar.ts', import.meta.url)

/** Prints how the start ends, and how often the watcher said that it failed. */
const FLOOD_AT_START = `
  import { registerHooks } from 'node:module'
  const [module, root] = process.argv.slice(1)
  globalThis.opened = []
  const fake = \`
    import { EventEmitter } from 'node:events'
    export function watch() {
      const fake = Object.assign(new EventEmitter(), { close: () => Promise.resolve() })
      globalThis.opened.push(fake)
      return fake
    }\`
  const url = 'data:text/javascript,' + encodeURIComponent(fake)
  registerHooks({
    resolve: (name, context, next) =>
      name === 'chokidar' ? { url, shortCircuit: true } : next(name, context),
  })
  const { watchChokidar } = await import(module)
  const store = { root, folders: () => [root], classify: () => 'task' }
  let failures = 0
  const events = { onHint() {}, onGap() {}, onFailed() { failures++ } }
  const after = (ms, call) => { const t = setTimeout(call, ms); return () => clearTimeout(t) }
  const starting = watchChokidar(store, events, { clock: { after }, withinMs: 60_000 })
  const told = starting.then(() => 'started', (error) => error.message)
  for (let n = 0; n < 33_000; n++) {
    opened[0].emit('raw', 'change', 'T-1.md', { watchedPath: root })
  }
  console.log(JSON.stringify({ told: await told, failures }))`

test('a flood while it starts refuses the start, and leaves no watcher that is closed', async () => {
  const root = tempFolder()
  const args = ['--input-type=module', '-e', FLOOD_AT_START, MODULE.href, root]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const told = 'its events come faster than they can be read'
  expect(JSON.parse(stdout)).toEqual({ told, failures: 0 })
})
