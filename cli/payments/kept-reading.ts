// How the settlement files of each gateway are read, kept in the data folder: once it worked, so
// that a wrong name is not in the way of every later file.

import type { Reading } from '../../libraries/settlement/read-settlement.ts'
import { columnsTyped, wordsTyped } from '../../libraries/settlement/typed.ts'
import { defined } from '../../worker/shared/json.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import { UsageError } from '../usage.ts'

/** In place of names: those that are kept are forgotten. */
const NONE = 'none'

/** How the files of one gateway are read, as it is kept. */
export interface KeptReading {
  /** As given, else as it was kept. Throws UsageError. */
  reading(given: Given): Promise<Reading>
  /** After it worked. */
  keep(reading: Reading): Promise<void>
  /** A sentence: which names are kept, and how they are forgotten. Undefined: none is. */
  names(): string | undefined
}

/** As typed. */
type Given = { [Name in keyof Reading]?: string | undefined } & Omit<Reading, 'map' | 'words'>

/** `file`: undefined without a data folder, so nothing is kept. Throws UsageError. */
export async function openKeptReading(
  file: string | undefined,
  gateway: string,
): Promise<KeptReading> {
  const all = file === undefined ? {} : await readAll(file)
  let own: Reading = all[gateway] ?? {}
  async function keep(reading: Reading): Promise<void> {
    const isKept = JSON.stringify(own) === JSON.stringify(reading)
    if (file === undefined || isKept) return
    own = reading
    await replacePrivateFile(file, `${JSON.stringify({ ...all, [gateway]: own }, null, 2)}\n`)
  }
  return {
    keep,
    async reading({ map, words, decimal, dates, currency, encoding, delimiter }) {
      const { map: keptMap, words: keptWords, ...rest } = own
      if (map === NONE || words === NONE) {
        await keep({
          ...rest,
          ...(keptMap && map !== NONE && { map: keptMap }),
          ...(keptWords && words !== NONE && { words: keptWords }),
        })
      }
      return {
        ...own,
        ...(map !== undefined && map !== NONE && { map: valid(columnsTyped(map)) }),
        ...(words !== undefined &&
          words !== NONE && { words: { ...own.words, ...valid(wordsTyped(words)) } }),
        ...defined({ decimal, dates, currency, encoding }),
        ...(delimiter !== undefined && { delimiter: delimiter === 'tab' ? '\t' : delimiter }),
      }
    },
    names() {
      const { map = {}, words = {} } = own
      const names = (of: object) => Object.entries(of).map((pair) => pair.join('='))
      const parts = [
        ...(names(map).length > 0 ? [`--map '${names(map)}' (--map none forgets it)`] : []),
        ...(names(words).length > 0 ? [`--words '${names(words)}' (--words none forgets it)`] : []),
      ]
      return parts.length > 0 ? `Kept for ${gateway}: ${parts.join(' and ')}.` : undefined
    },
  }
}

async function readAll(file: string): Promise<Record<string, Reading>> {
  const text = (await textIn(file)) ?? '{}'
  try {
    const all: unknown = JSON.parse(text)
    if (isRecord(all) && Object.values(all).every(isRecord)) return all
  } catch {
    // The same sentence.
  }
  const how = 'remove it, and give --map, --words and the rest once more'
  throw new UsageError(`${file}, which has how files are read, is damaged: ${how}.`)
}

const isRecord = (value: unknown): value is Record<string, Record<string, never>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function valid<Value extends object>(typed: Value | string): Value {
  if (typeof typed === 'string') throw new UsageError(typed)
  return typed
}
