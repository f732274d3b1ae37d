// The records of a file, as they are stored and published. The only place where foreign text is
// parsed, within a time limit.

import { basename } from 'node:path'
import type { Run } from '../../worker/board/wire.ts'
import { inTime, TookTooLong } from '../in-time.ts'
import {
  type Entry,
  type FileKind,
  type Parsed,
  type Store,
  withInvalid,
} from '../layouts/layout.ts'
import { conflictLine, limitText } from '../layouts/text.ts'
import { maskSecrets } from './mask-secrets.ts'

/** A shorter text is not watched: that costs 0.1 ms, of 100,000 tasks ten seconds. */
const UNWATCHED_CHARS = 64 << 10
/** An honest file that is longer takes a few milliseconds. Webhooks wait meanwhile. */
const WITHIN_MS = 250
/** The largest list within its bounds takes 0.3 s. */
const LIST_WITHIN_MS = 1_000

/** `tookTooLong`: parsing was ended, and would be again. */
export type ParsedInTime = Parsed & { tookTooLong?: true }

/** Never throws. `output`: what is kept of the output of runs. */
export function parseFile(
  store: Store,
  path: string,
  kind: FileKind,
  text: string,
  output: RunOutput = 'masked',
): ParsedInTime {
  const parse = () => parseWhole(store, path, kind, text, output)
  if (text.length <= UNWATCHED_CHARS) return parse()
  const ms = kind === 'tasks' ? LIST_WITHIN_MS : WITHIN_MS
  try {
    return inTime(ms, parse)
  } catch (error) {
    if (error instanceof TookTooLong) return tooSlow(store, path, kind)
    throw error
  }
}

/** For a file that took too long before. */
export function tooSlow(store: Store, path: string, kind: FileKind): ParsedInTime {
  const why = `${basename(path)} took too long to read, and is read again when it changes.`
  return { state: 'broken', entries: store.unreadable(path, kind, why), tookTooLong: true }
}

function parseWhole(
  ...[store, path, kind, text, output]: Required<Parameters<typeof parseFile>>
): Parsed {
  const { state, entries } = withoutConflict(store, path, kind, text)
  if (entries.length > MAX_TWINS && hasManyTwins(store, entries)) {
    const why = `${basename(path)} has more than ${MAX_TWINS} tasks of one id.`
    return { state: 'broken', entries: store.unreadable(path, kind, why) }
  }
  return { state, entries: entries.map((entry) => publishedEntry(entry, output)) }
}

/** Each is listed beside all others of its id: of 9,000 in one list that took 90 s. */
const MAX_TWINS = 100

function hasManyTwins({ fold }: Pick<Store, 'fold'>, entries: readonly Entry[]): boolean {
  const counts = new Map<string, number>()
  return entries.some(({ kind, id }) => {
    const name = `${kind}:${fold(id)}`
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count > MAX_TWINS
  })
}

/** A file with unresolved conflicts is invalid, whatever its tool reads from it. */
function withoutConflict(store: Store, path: string, kind: FileKind, text: string): Parsed {
  const parsed = store.parse(path, kind, text)
  // A program may print such lines.
  const isOutput = kind === 'run' || kind === 'live'
  const line = isOutput ? undefined : conflictLine(text, { hasFences: path.endsWith('.md') })
  if (line === undefined) return parsed
  const isKept = kind === 'tasks' && parsed.state === 'broken'
  const rest = isKept ? '; its tasks stay as they were last read' : ''
  const why = `${basename(path)} has conflict markers, from line ${line} on${rest}.`
  const entries = parsed.entries.map((entry) => withInvalid(entry, why))
  return { state: kind === 'tasks' ? parsed.state : 'broken', entries }
}

/** The output without what looks like a secret, or no output at all. */
export type RunOutput = 'masked' | 'none'

const printable = (output: string): string => maskSecrets(output.replaceAll('\0', '\ufffd'))

/** Only runs differ from what was parsed. */
const publishedEntry = (entry: Entry, output: RunOutput): Entry =>
  entry.kind === 'run' ? { ...entry, run: publishedRun(entry.run, output) } : entry

function publishedRun({ cmd, output, ...rest }: Run, kind: RunOutput): Run {
  return {
    ...rest,
    ...(cmd !== undefined && { cmd: maskSecrets(cmd) }),
    ...(output !== undefined && kind === 'masked' && { output: limitText(output, printable) }),
  }
}
