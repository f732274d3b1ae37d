// Publishes a board once, for cron and CI.

import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Repositories } from '../../sidecar/git/repository.ts'
import { leadingFolder } from '../../sidecar/git/worktrees.ts'
import { openStore, projectOf } from '../../sidecar/layouts/registry.ts'
import { openSidecar } from '../../sidecar/open-sidecar.ts'
import { isFinal } from '../../sidecar/publish/retry.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { define } from '../command.ts'
import type { Context } from '../context.ts'
import { PUBLISHING, readPublishing } from '../publish-settings.ts'
import type { OptionsOf } from '../setting.ts'
import { TIMEOUT } from '../settings.ts'
import type { Input } from '../usage.ts'

const OPTIONS = [...PUBLISHING, TIMEOUT] as const

export const command = define({
  argument: ['DIR', 'folder of the task board'],
  usage: 'DIR --edge URL --repo NAME [options]',
  description: `\
Compares the task board in DIR with what the edge holds, publishes what is missing there, and ends:
with exit code 0 when the edge holds everything, else with 1. Short failures of the network are
tried again. If a watch of the same repository runs, it takes over again with its next change, some
seconds later than usual. It publishes what a watch publishes.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<OptionsOf<typeof OPTIONS>>, context: Context): Promise<number> {
  const startedAt = Date.now()
  const { dir, repo, followsLinks, log, plan } = readPublishing(input, context)
  const leading = await leadingFolder(await realpath(dir).catch(() => dir))
  const store = await openStore(leading, { followsLinks })
  const { promise: finalFailure, resolve: fail } = Promise.withResolvers<string>()
  const { sidecar, publisher, board } = openSidecar({
    ...plan,
    edge: plan.edgeOf(repo),
    store,
    ...(plan.path !== undefined && {
      trees: {
        repositories: new Repositories({ path: plan.path, clock: hostClock, log }),
        dir: await projectOf(leading, store),
      },
    }),
    onFailure: (failure) => isFinal(failure) && fail(failure.message),
  })
  const end = new AbortController()
  const running = sidecar.run(end.signal)
  const asked = context.io.shutdownSignal()
  const tooLate = new AbortController()
  const why = await Promise.race([
    publisher.synced().then(() => undefined),
    finalFailure,
    once(asked, 'abort').then(() => `It was ended by ${asked.reason}.`),
    sleep(input.options.timeout, 'It took longer than --timeout allows.', {
      signal: tooLate.signal,
    }),
  ])
  tooLate.abort()
  end.abort()
  await running
  const { store: state, lastError } = publisher.status()
  const ms = Date.now() - startedAt
  if (why === undefined && state === 'present') {
    log('info', 'sync.done', { files: board.files.size, tasks: board.countTasks(), ms })
    return 0
  }
  log('error', 'sync.failed', { why: why ?? `The store is ${state}.`, lastError, ms })
  return 1
}
