#!/usr/bin/env node
// `signalbox` in a checkout: every command.

import { CHECKOUT } from './checkout.ts'
import { runProcess } from './process.ts'

await runProcess(CHECKOUT, async () => (await import('../signalbox.config.ts')).default)
