// The gateway simulator as a process: settings from the environment, one line of output when it
// listens, ends on a signal. docs/simulator.md describes it.

import { consoleLog } from '../worker/shared/log.ts'
import { environment } from './config.ts'
import { openSimulator } from './open-simulator.ts'

const { url } = await openSimulator(environment())
consoleLog('info', 'simulator.listening', { url })
// What it keeps is written already, and clients that wait for a response of the fault `timeout`
// must not delay the end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))
