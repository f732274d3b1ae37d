// Every command, as a checkout of Signalbox has it. `start` runs workerd, Deno and libSQL's server,
// which the package does not bring.

import type { Commands } from './command.ts'
import { PACKAGED } from './packaged.ts'

export const CHECKOUT = {
  start: () => import('./commands/start.ts'),
  ...PACKAGED,
} satisfies Required<Commands>
