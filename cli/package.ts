#!/usr/bin/env node
// `signalbox` in the sidecar's package.

import './node-20.ts'
import { BESIDE_BOARDS } from './beside-boards.ts'
import { runProcess } from './process.ts'

await runProcess(BESIDE_BOARDS, () => Promise.reject(new Error('There is no checkout.')))
