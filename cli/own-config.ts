// signalbox.config.ts of the folder that a command runs in.

import { statSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import standard from '../signalbox.config.ts'
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import type { ConfigChoice } from './context.ts'
import { UsageError } from './usage.ts'

const NAMES = ['signalbox.config.ts', 'signalbox.config.js', 'signalbox.config.mjs']
/** In a checkout, the file of its folder is the one that was imported above. */
const STANDARD = join(import.meta.dirname, '../signalbox.config.ts')

/**
 * `dir` without such a file has that of a checkout. The folder may be of a project that came from
 * others, so the file is named before it runs. Rejects with what the file throws.
 */
export async function loadOwnConfig(
  dir: string,
  { skips, notice }: ConfigChoice,
): Promise<SignalboxFile> {
  const file = NAMES.map((name) => join(dir, name)).find(isFile)
  if (file === STANDARD && skips) {
    const why = 'whose signalbox.config.ts is a part of the program'
    throw new UsageError(`--no-config has no effect in a checkout, ${why}.`)
  }
  if (file === undefined || file === STANDARD || skips) return standard
  notice(`Runs ${file} (--no-config skips it).`)
  importFromHere()
  const loaded = (await import(pathToFileURL(file).href)) as { default?: SignalboxFile }
  if (loaded.default) return loaded.default
  throw new Error('it has no default export')
}

/** A pipe would be waited for. */
const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() ?? false

/**
 * The file's `signalbox/worker` is that of this package: with npx there may be no other, and a
 * driver's exceptions must be of the classes that this process knows.
 */
function importFromHere(): void {
  // Deno has none: there the package has to be installed beside the file.
  module.registerHooks?.({
    resolve: (name, context, next) =>
      next(
        name,
        name.startsWith('signalbox/') ? { ...context, parentURL: import.meta.url } : context,
      ),
  })
}
