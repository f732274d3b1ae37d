// The gateways to try and test against, as a process: settings from the environment, one line when
// it listens, an end by signal. What it does and how it misbehaves: docs/simulator.md.

import { environment, readSettings } from './config.ts'
import { openSimulator } from './open-simulator.ts'

const { url } = await openSimulator(readSettings(environment()))
console.log(`simulator ready ${url}`)
// Nothing of it is worth keeping, and whoever waits for an answer that never comes waits in vain.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))
