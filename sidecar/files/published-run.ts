// What of a run leaves this machine. Pure.

import type { Run } from '../../worker/board/wire.ts'
import type { Entry } from '../layouts/layout.ts'
import { limitText } from '../layouts/text-limit.ts'
import { maskSecrets } from './mask-secrets.ts'

/** The output without what looks like a secret, or no output at all. */
export const RUN_OUTPUTS = ['masked', 'none'] as const
export type RunOutput = (typeof RUN_OUTPUTS)[number]

/** The entry as it is kept and published; only runs are another. */
export const publishedEntry = (entry: Entry, output: RunOutput): Entry =>
  entry.kind === 'run' ? { ...entry, run: publishedRun(entry.run, output) } : entry

function publishedRun({ cmd, output, ...rest }: Run, kind: RunOutput): Run {
  return {
    ...rest,
    ...(cmd !== undefined && { cmd: maskSecrets(cmd) }),
    // A mask may be longer than what it hides.
    ...(output !== undefined && kind === 'masked' && { output: limitText(maskSecrets(output)) }),
  }
}
