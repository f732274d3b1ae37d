// Every command of the installed package. They are loaded one at a time: `watch` must not wait for
// what the others import.

import type { Commands } from './command.ts'
import { keepHeapSmall } from './heap.ts'

export const PACKAGED = {
  dev: () => {
    keepHeapSmall()
    return import('./commands/dev.ts')
  },
  serve: () => {
    keepHeapSmall()
    return import('./commands/serve.ts')
  },
  watch: () => {
    keepHeapSmall()
    return import('./commands/watch.ts')
  },
  sync: () => {
    keepHeapSmall()
    return import('./commands/sync.ts')
  },
  token: () => import('./commands/token.ts'),
  doctor: () => import('./commands/doctor.ts'),
  migrate: () => import('./commands/migrate.ts'),
  'sign-in': () => import('./commands/sign-in.ts'),
  'payments doctor': () => import('./payments/doctor.ts'),
  'payments simulate': () => import('./payments/simulate.ts'),
} satisfies Commands
