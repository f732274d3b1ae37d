#!/usr/bin/env node
// `signalbox` in a checkout: every command.

import './heap.ts'
import { CHECKOUT } from './checkout.ts'
import { runProcess } from './process.ts'

await runProcess(CHECKOUT, async () => (await import('../signalbox.config.ts')).default)
