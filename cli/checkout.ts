// Every command, as a checkout of Signalbox has it. They are loaded one at a time: `watch` must not
// wait for what `start` imports.

import { BESIDE_BOARDS } from './beside-boards.ts'
import type { Commands } from './command.ts'
import { keepHeapSmall } from './heap.ts'

export const CHECKOUT = {
  ...BESIDE_BOARDS,
  dev: () => {
    keepHeapSmall()
    return import('./commands/dev.ts')
  },
  serve: () => {
    keepHeapSmall()
    return import('./commands/serve.ts')
  },
  start: () => import('./commands/start.ts'),
  migrate: () => import('./commands/migrate.ts'),
  'sign-in': () => import('./commands/sign-in.ts'),
  'payments doctor': () => import('./payments/doctor.ts'),
  'payments simulate': () => import('./payments/simulate.ts'),
} satisfies Required<Commands>
