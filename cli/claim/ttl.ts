// How long a claim holds without a renewal.

import { Setting } from '../setting.ts'

export const TTL_MS = 600_000

export const CLAIMED_FOR = new Setting(
  '--ttl <TIME>',
  'how long it holds without a renewal, 10s to 24h [10m, or as before]',
).duration()
