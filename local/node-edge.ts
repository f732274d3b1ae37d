// The edge of the Node host as a process: its environment, one line of log when it listens, a
// graceful end. Its argument is the folder of signalbox.config.ts.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openNodeEdge } from '../worker/node.ts'
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import { consoleLog } from '../worker/shared/log.ts'
import { checkoutHome } from './checkout-home.ts'
import { schemaFrom } from './database/migrate.ts'

const [shop = '.'] = process.argv.slice(2)
const { href } = pathToFileURL(join(shop, 'signalbox.config.ts'))
const { default: file } = (await import(href)) as { default: SignalboxFile }
const edge = await openNodeEdge({
  env: process.env,
  file,
  log: consoleLog,
  databaseThread: checkoutHome.databaseThread,
  schema: schemaFrom(checkoutHome.dir, {
    notice: (sentence) => consoleLog('warn', 'database.schema', { notice: sentence }),
  }),
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void edge.close().then(() => process.exit(0)))
}
