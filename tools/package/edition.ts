// What the package has in place of tools/start/edition.ts: a built page, and no `start`.

import { join } from 'node:path'
import type { Edition } from '../../cli/edition.ts'

export const edition: Edition = {
  // The bundles are one folder deep.
  consoleIn: () => ({ dir: join(import.meta.dirname, '../console'), ready: Promise.resolve() }),
}
