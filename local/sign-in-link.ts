// The link that signs a browser in to a running system, once.

import { issueCode } from '../worker/session/code.ts'
import { readAuth } from '../worker/shared/auth-config.ts'
import { hostClock } from '../worker/shared/clock.ts'
import { createTokens } from '../worker/shared/tokens.ts'
import type { LocalJson } from './local-json.ts'

const SCOPE = 'board:read payments:read payments:write'

/**
 * The code stands in the fragment: no server's log and no Referer ever holds it, and whoever looks
 * a link up for a preview does not spend it. `secret`: of the data folder; `now` in ms.
 */
export async function signInLink(
  secret: string,
  { url, path }: Pick<LocalJson, 'url' | 'path'>,
  now: number,
): Promise<string> {
  const tokens = createTokens(readAuth({ AUTH_SECRETS: secret }), { clock: hostClock, fetch })
  const code = await issueCode(tokens, { scope: SCOPE, repos: [path] }, now)
  return `${url}/#/sign-in/${code}`
}
