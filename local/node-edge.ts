// The edge of the Node host as a process: its environment, one line of log when it listens, a
// graceful end. Its arguments: the folder of signalbox.config.ts, and that of schema.sql.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openNodeEdge } from '../worker/node.ts'
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import { consoleLog } from '../worker/shared/log.ts'
import { checkoutHome } from './checkout-home.ts'
import { schemaFrom } from './database/prepare.ts'

const [shop = '.', home = '.'] = process.argv.slice(2)
const { href } = pathToFileURL(join(shop, 'signalbox.config.ts'))
const { default: file } = (await import(href)) as { default: SignalboxFile }
const edge = await openNodeEdge({
  env: process.env,
  file,
  log: consoleLog,
  databaseThread: checkoutHome.databaseThread,
  schema: schemaFrom(home, {
    notice: (sentence) => consoleLog('warn', 'database.schema', { notice: sentence }),
  }),
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void edge.close().then(() => process.exit(0)))
}
