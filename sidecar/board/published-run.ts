// What of a run leaves this machine. Pure.

import type { Run } from '../../worker/board/wire.ts'
import { limitText } from '../layouts/text-limit.ts'
import { MASK_REVISION, maskSecrets } from './mask-secrets.ts'

/** The output without what looks like a secret, or no output at all. */
export const RUN_OUTPUTS = ['masked', 'none'] as const
export type RunOutput = (typeof RUN_OUTPUTS)[number]

export function publishedRun({ cmd, output, ...rest }: Run, kind: RunOutput): Run {
  return {
    ...rest,
    ...(cmd !== undefined && { cmd: maskSecrets(cmd) }),
    // A mask may be longer than what it hides.
    ...(output !== undefined && kind === 'masked' && { output: limitText(maskSecrets(output)) }),
  }
}

/** Part of a run's hash: when other things leave than before, every run is sent anew. */
export const runMark = (kind: RunOutput): string => `${kind} ${MASK_REVISION}`
