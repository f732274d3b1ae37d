// The access token that a command was given, for a Signalbox elsewhere.

import { messageOf } from '../worker/shared/log.ts'
import { readPlain } from '../worker/shared/plain-file-node.ts'
import type { Environment } from './context.ts'
import { type Input, UsageError } from './usage.ts'

/**
 * Reads the access token again each time, because tokens are rotated. Undefined: none was given. A
 * file that was typed beats SIGNALBOX_TOKEN, which beats SIGNALBOX_TOKEN_FILE.
 */
export function tokenSource(
  { options: { tokenFile }, typed }: Input<{ tokenFile?: string | undefined }>,
  { SIGNALBOX_TOKEN }: Environment,
): (() => Promise<string>) | undefined {
  const variable = SIGNALBOX_TOKEN?.trim()
  if (variable && !typed.has('--token-file')) return async () => bearer(variable)
  return tokenFile === undefined
    ? undefined
    : async () => bearer((await readPlain(tokenFile, { followsLinks: true })).text)
}

/** The access token as it is now. Throws UsageError. */
export async function readToken(source: () => Promise<string>): Promise<string> {
  try {
    return await source()
  } catch (error) {
    throw new UsageError(`The access token cannot be read: ${messageOf(error)}.`)
  }
}

function bearer(text: string): string {
  const token = text.trim()
  // Other characters are not possible in a header, and would look like a failure of the network.
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Error(token === '' ? 'it is empty' : 'it holds characters that no token has')
}
