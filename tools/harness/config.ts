import { resolve } from 'node:path'

/** The command line: built, where the tests have done that, else from its sources. */
export const SIGNALBOX =
  process.env.BUILT_SIGNALBOX ?? resolve(import.meta.dirname, '../../cli/bin.js')
