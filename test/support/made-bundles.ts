// Loaded by `npm start` before its own files: it is given the page and the Worker that are in the
// folder of our query, in place of a build of each. No source changes in a run.

import { registerHooks } from 'node:module'

const BUNDLE = new URL('../../tools/start/bundle.ts', import.meta.url).href
const MADE = JSON.stringify(new URL(import.meta.url).searchParams.get('in'))

const source = `
import { cp } from 'node:fs/promises'
export const bundleWorker = (_entry, outfile) => cp(${MADE} + '/start/worker.js', outfile)
export const bundleConsole = (outDir) => cp(${MADE} + '/console', outDir, { recursive: true })
`

registerHooks({
  load: (url, context, next) =>
    url === BUNDLE ? { format: 'module', source, shortCircuit: true } : next(url, context),
})
