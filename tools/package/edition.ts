// What the package has in place of tools/start/edition.ts: a built page, and no `start`.

import { join } from 'node:path'
import type { Edition } from '../../cli/edition.ts'

// The bundles are one folder deep.
const PACKAGE = join(import.meta.dirname, '..')

export const edition: Edition = {
  consoleIn: () => ({ dir: join(PACKAGE, 'console'), ready: Promise.resolve() }),
  packageDir: PACKAGE,
}
