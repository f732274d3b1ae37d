// The gateway simulator as a process: settings from the environment, one line of output when it
// listens, ends on a signal. docs/simulator.md describes it.

import { environment } from './config.ts'
import { openSimulator } from './open-simulator.ts'

const { url } = await openSimulator(environment())
console.log(`simulator ready ${url}`)
// What it keeps is written already, and clients that wait for a response of the fault `timeout`
// must not delay the end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))
