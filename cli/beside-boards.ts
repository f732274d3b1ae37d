// The commands that make sense beside the files of a board. The sidecar's package has only these:
// whatever is named here is bundled into it.

import type { Commands } from './command.ts'
import { keepHeapSmall } from './heap.ts'

export const BESIDE_BOARDS = {
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
} satisfies Commands
