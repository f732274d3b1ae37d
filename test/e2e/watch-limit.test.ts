// A board that the system has no watches for, as on a machine with many editors: inotify's limits
// of a user namespace of its own.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { SECRET } from '../support/edge.ts'
import { expectFired } from '../support/fired-alerts.ts'
import { noPromtool } from '../support/judges.ts'
import { PATIENT } from '../support/patience.ts'
import { startProgram } from '../support/program.ts'
import { programEnv } from '../support/run-home.ts'
import { makeFolder, tempFolder } from '../support/temp-folder.ts'

const WATCHES = '/proc/sys/user/max_inotify_watches'
const limited = (watches: number, command: readonly string[]): string[] => {
  const script = `echo ${watches} > ${WATCHES} && exec "$@"`
  return ['unshare', '--user', '--map-root-user', '/bin/sh', '-c', script, 'sh', ...command]
}
const [unshare = '', ...tried] = limited(0, ['true'])
const canLimit = spawnSync(unshare, tried).status === 0
const why = canLimit ? '' : ' (skipped: no user namespace can be made here)'

describe.skipIf(!canLimit)(`a board without a watch${why}`, () => {
  /** A server with a board, of a user who may watch so many files and folders. */
  async function scrape(watches: number, ...lines: string[]) {
    const dir = makeFolder({
      '.cairn/config.yaml': 'prefix: T\nstates: [open]\ninitial: open\n',
      '.cairn/tasks/T-1.md': '---\ntitle: One\nstatus: open\n---\n',
    })
    const data = tempFolder()
    const metricsPort = await freePort()
    const env = {
      ...programEnv(data),
      AUTH_SECRETS: SECRET,
      PORT: String(await freePort()),
      METRICS_PORT: String(metricsPort),
      DATA_DIR: join(data, 'data'),
      SIGNALBOX_LOG: 'json',
    }
    const command = [process.execPath, SIGNALBOX, 'serve', dir, '--repo', 'shop']
    const server = startProgram(limited(watches, command), { cwd: data, env })
    onTestFinished(async () => void (await server.stop('SIGTERM')))
    const read = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    let text = ''
    const missing = async () => {
      text = await read().catch(String)
      return lines.filter((line) => !text.includes(`\n${line}\n`))
    }
    await expect.poll(missing, PATIENT).toEqual([])
    return { text, server }
  }

  it('is scanned, names the limit to raise in its log, and is an alert', async (context) => {
    const watched = await scrape(1_000, 'signalbox_sidecar_connected 1')
    expect(watched.text).toContain('\nsignalbox_sidecar_boards_unwatched 0\n')
    const { text, server } = await scrape(
      0,
      'signalbox_sidecar_boards_unwatched 1',
      'signalbox_sidecar_connected 1',
    )
    await expect.poll(() => server.output, PATIENT).toContain('"event":"watch.failed"')
    expect(server.output).toMatch(/"hint":"[^"]*sysctl: fs\.inotify\.max_user_watches\./)
    context.skip(noPromtool !== '', noPromtool)
    await expectFired([watched.text, text], ['SignalboxBoardUnwatched'])
  })
})
