// What the package has in the place of cli/edition.ts: a page that is built, and no `start`.

import { join } from 'node:path'
import type { Edition } from '../../cli/edition.ts'

export const edition: Edition = {
  // The bundles are one folder deep.
  consoleIn: () => ({ dir: join(import.meta.dirname, '../console'), ready: Promise.resolve() }),
}
