#!/usr/bin/env node
// `signalbox` in the sidecar's package.

import './node-20.ts'
import { BESIDE_BOARDS } from './beside-boards.ts'
import { runProcess } from './process.ts'

const noCheckout = () => Promise.reject(new Error('There is no checkout.'))

await runProcess({ commands: BESIDE_BOARDS, loadFile: noCheckout, loadHome: noCheckout })
