// Publishes a board once, for cron and CI.

import { setTimeout as sleep } from 'node:timers/promises'
import { openSidecar } from '../../sidecar/open-sidecar.ts'
import type { Failure } from '../../sidecar/publish/edge.ts'
import type { Command } from './command.ts'
import { readPublishing, storeIn } from './publish-settings.ts'

const TIMEOUT_MS = 300_000

export const sync = {
  name: 'sync',
  usage: 'DIR --edge URL --repo NAME [options]',
  summary: 'tells the edge once what a board holds, for cron and CI',
  about: `\
Compares the task board in DIR with what the edge holds, tells the edge what it lacks, and ends:
with 0 when the edge holds everything, with 1 when it could not be told. Short troubles of the
network are waited out. A watch of the same repository takes it back with its next change, some
seconds later than it would have told it. It publishes what a watch does.`,
  options: [
    'edge',
    'repo',
    'token-file',
    'timeout',
    'run-output',
    'cache',
    'log',
    'verbose',
    'help',
  ],
  async run(settings, io) {
    const startedAt = Date.now()
    const { dir, edge, log, timeoutMs, ...plan } = readPublishing(settings, io, (it) => ({
      timeoutMs: it.durationMs('timeout', TIMEOUT_MS),
    }))
    const store = await storeIn(dir)
    let giveUp: (why: string) => void = () => undefined
    const hopeless = new Promise<string>((resolve) => {
      giveUp = resolve
    })
    const { sidecar, publisher, board } = openSidecar({
      store,
      edge,
      log,
      ...plan,
      onFailure: (failure) => isFinal(failure) && giveUp(failure.message),
    })
    const end = new AbortController()
    const running = sidecar.run(end.signal)
    const tooLate = new AbortController()
    const why = await Promise.race([
      publisher.synced().then(() => undefined),
      hopeless,
      io.ended(false).then((signal) => `It was ended by ${signal}.`),
      sleep(timeoutMs, 'It took longer than --timeout allows.', { signal: tooLate.signal }),
    ])
    tooLate.abort()
    end.abort()
    await running
    const { store: state, lastError } = publisher.status()
    const ms = Date.now() - startedAt
    if (why === undefined && state === 'present') {
      log('info', 'sync.done', { files: board.size, tasks: board.countTasks(), ms })
      return 0
    }
    log('error', 'sync.failed', { why: why ?? `The store is ${state}.`, lastError, ms })
    return 1
  },
} satisfies Command

/** What no patience mends: a wrong token, URL, repository or version, or a rival that runs. */
function isFinal({ reason, code }: Failure): boolean {
  return (
    reason === 'unauthorized' ||
    reason === 'version' ||
    reason === 'refused' ||
    reason === 'malformed' ||
    code === 'superseded'
  )
}
