// Where schema.sql, migrations/ and examples/ are: in a checkout, or in the package, whose bundles
// are one folder deep, too. So this file stays where it is.

import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..')
