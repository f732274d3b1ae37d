// How the settlement files of each gateway are read, kept in the data folder: once it worked, so
// that a wrong name is not in the way of every later file.

import type { Reading } from '../../libraries/settlement/read-settlement.ts'
import { columnsTyped, wordsTyped } from '../../libraries/settlement/typed.ts'
import { replacePrivateFile } from '../../sidecar/private-file.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { UsageError } from '../context.ts'

/** In place of names: those that are kept are forgotten. */
const NONE = 'none'

export interface KeptReading {
  /** Undefined: there is no data folder, so nothing is kept. */
  file: string | undefined
  gateway: string
}

/** As typed. */
type Given = { [Name in keyof Reading]?: string | undefined } & Omit<Reading, 'map' | 'words'>

/** As given, else as it was kept for this gateway. */
export async function readingOf(given: Given, kept: KeptReading): Promise<Reading> {
  const { map, words, decimal, dates, currency, encoding, delimiter } = given
  const own = await readKept(kept)
  if (map === NONE) delete own.map
  if (words === NONE) delete own.words
  if (map === NONE || words === NONE) await writeKept(own, kept)
  return {
    ...own,
    ...(map !== undefined && map !== NONE && { map: valid(columnsTyped(map)) }),
    ...(words !== undefined &&
      words !== NONE && { words: { ...own.words, ...valid(wordsTyped(words)) } }),
    ...(decimal !== undefined && { decimal }),
    ...(dates !== undefined && { dates }),
    ...(currency !== undefined && { currency }),
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter: delimiter === 'tab' ? '\t' : delimiter }),
  }
}

/** After it worked. */
export async function keepReading(reading: Reading, kept: KeptReading): Promise<void> {
  const before = await readKept(kept)
  if (JSON.stringify(before) !== JSON.stringify(reading)) await writeKept(reading, kept)
}

/** A sentence: which names are kept, and how they are forgotten. Undefined: none is. */
export async function keptNames(kept: KeptReading): Promise<string | undefined> {
  const { map = {}, words = {} } = await readKept(kept)
  const names = (of: object) => Object.entries(of).map((pair) => pair.join('='))
  const parts = [
    ...(names(map).length > 0 ? [`--map '${names(map)}' (--map none forgets it)`] : []),
    ...(names(words).length > 0 ? [`--words '${names(words)}' (--words none forgets it)`] : []),
  ]
  return parts.length > 0 ? `Kept for ${kept.gateway}: ${parts.join(' and ')}.` : undefined
}

async function readAll(file: string): Promise<Record<string, Reading>> {
  const text = (await textIn(file)) ?? '{}'
  return JSON.parse(text) as Record<string, Reading>
}

const readKept = async ({ file, gateway }: KeptReading): Promise<Reading> =>
  file === undefined ? {} : ((await readAll(file))[gateway] ?? {})

async function writeKept(reading: Reading, { file, gateway }: KeptReading): Promise<void> {
  if (file === undefined) return
  const all = { ...(await readAll(file)), [gateway]: reading }
  await replacePrivateFile(file, `${JSON.stringify(all, null, 2)}\n`)
}

function valid<Value extends object>(typed: Value | string): Value {
  if (typeof typed === 'string') throw new UsageError(typed)
  return typed
}
