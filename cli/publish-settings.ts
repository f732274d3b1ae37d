// What commands that publish boards read from their options.

import { EdgeHttp } from '../sidecar/publish/edge-http.ts'
import { noticePlan } from '../sidecar/publish/notices.ts'
import { createLog, type Log } from '../worker/shared/log.ts'
import { isSafeForSecrets } from '../worker/shared/loopback.ts'
import type { NoticeRule } from '../worker/shared/notice-rules.ts'
import { cacheFolder } from '../worker/shared/user-folders-node.ts'
import { tokenSource } from './access-token.ts'
import { type Context, VERSION } from './context.ts'
import type { OptionsOf } from './setting.ts'
import {
  CACHE,
  EDGE,
  FOLLOW_LINKS,
  LOG,
  NO_WORKTREES,
  type PUBLISHES,
  REPO,
  RUN_OUTPUT,
  TOKEN_FILE,
  VERBOSE,
} from './settings.ts'
import type { Io } from './terminal.ts'
import { type Input, missing } from './usage.ts'

/** The options of `watch` and `sync`. */
export const PUBLISHING = [
  EDGE,
  REPO,
  TOKEN_FILE,
  FOLLOW_LINKS,
  NO_WORKTREES,
  RUN_OUTPUT,
  CACHE,
  LOG,
  VERBOSE,
] as const

export type PublishOptions = OptionsOf<typeof PUBLISHING>

/** What a command publishes of its folders, and how it looks at them. */
export const publishedBy = (options: OptionsOf<typeof PUBLISHES>) => ({
  search: {
    followsLinks: options.followLinks,
    only: options.only,
    worktrees: options.worktrees,
  },
  runOutput: options.runOutput,
  isPolling: options.poll ?? false,
  watchWithinMs: options.watchTimeout,
})

export const logOf = (
  { log, verbose }: OptionsOf<readonly [typeof LOG, typeof VERBOSE]>,
  { isTerminal, err }: Io,
): Log => createLog(log ?? (isTerminal ? 'pretty' : 'json'), err, verbose ? 'debug' : 'info')

const BOARD = 'DIR, the folder of the task board'
const TOKEN = 'an access token (SIGNALBOX_TOKEN, --token-file FILE or SIGNALBOX_TOKEN_FILE)'

/** `notices`: rules of the file. Absent: those at the edge stay. */
export function readPublishing(
  input: Input<PublishOptions>,
  { io, env }: Context,
  notices?: readonly NoticeRule[],
) {
  const { options } = input
  const dirs = input.arguments
  const [dir] = dirs
  const { edge: url, repo, runOutput } = options
  const token = tokenSource(input, env)
  if (!dir || !url || !repo || !token) {
    throw missing({ [BOARD]: dir, [EDGE.meaning]: url, [REPO.meaning]: repo, [TOKEN]: token })
  }
  const log = logOf(options, io)
  if (!isSafeForSecrets(url)) log('warn', 'edge.not_encrypted', { edge: url.origin })
  const plan = {
    edgeOf: (name: string) =>
      new EdgeHttp({ url, repo: name, token, notices: notices && noticePlan(notices, log) }),
    /** Undefined: the user has no cache folder. */
    cacheDir: options.cache ?? cacheFolder(env),
    runOutput,
    log,
    version: VERSION,
    path: options.worktrees ? (env.PATH ?? '') : undefined,
    ...(io.isTerminal && options.log !== 'json' && { terminal: io.err }),
  }
  return { dir, dirs, repo, url, token, followsLinks: options.followLinks ?? false, log, plan }
}
