// `signalbox/worker` on Cloudflare's runtime: all of worker.ts, and a `signalbox` that works.

import { signalbox as makeWorker } from '../../worker/cloudflare.ts'
import type { signalbox as shape } from './worker.ts'

export * from './worker.ts'

export const signalbox: typeof shape = makeWorker
