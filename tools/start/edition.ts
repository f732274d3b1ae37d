// What a checkout has beyond the package, where tools/package/edition.ts is in place of this file
// (`imports` of package.json).

import { join } from 'node:path'
import type { Edition } from '../../cli/edition.ts'

export const edition: Edition = {
  consoleIn(edgeDir) {
    const dir = join(edgeDir, 'console')
    // Its sources may have changed since the last start.
    return { dir, ready: import('./bundle.ts').then((it) => it.bundleConsole(dir)) }
  },
  start: () => import('./start.ts'),
}
