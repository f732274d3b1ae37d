// The Cloudflare entry: fetch, scheduled, and the object classes. Wiring only.

import { createApp } from './app.ts'
import { objectRepositories, type RepositoryNamespace } from './board/repositories-object.ts'
import { STREAM_LIMITS } from './board/stream.ts'
import { type Environment, readConfig } from './config.ts'
import { createAccess } from './shared/access.ts'
import { hostClock } from './shared/clock.ts'
import { consoleLog } from './shared/log.ts'
import { Problem, problemResponse } from './shared/problem.ts'

export { RepositoryObject } from './board/repository-object.ts'

interface Env extends Environment {
  REPOSITORY: RepositoryNamespace
}

let app: ReturnType<typeof createApp> | undefined

function appFor(env: Env): ReturnType<typeof createApp> {
  const config = readConfig(env)
  return createApp({
    config,
    repositories: objectRepositories(env.REPOSITORY, config.maxStreams),
    access: createAccess(config, hostClock.now),
    clock: hostClock,
    log: consoleLog,
    limits: STREAM_LIMITS,
  })
}

export default {
  fetch(request: Request, env: Env): Response | Promise<Response> {
    try {
      app ??= appFor(env)
    } catch (error) {
      consoleLog('error', 'config.refused', { error: String(error) })
      return problemResponse(
        new Problem('misconfigured', 'The edge is misconfigured: see its log.'),
      )
    }
    return app.fetch(request)
  },

  // The heartbeat of the deployment: a log line a minute shows that triggers and this version run.
  scheduled(controller: ScheduledController): void {
    consoleLog('info', 'cron.tick', { cron: controller.cron, at: controller.scheduledTime })
  },
}
