// What every layout promises of any text, over random boards of its tool whose files are cut, mixed
// with each other and given odd characters.

import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Entry, invalidOf, type Store } from '../../../sidecar/layouts/layout.ts'
import { findStore } from '../../../sidecar/layouts/registry.ts'
import {
  boardSchema,
  liveSchema,
  runSchema,
  sessionSchema,
  taskSchema,
} from '../../../worker/board/records.ts'
import { LAYOUT_NAMES } from '../../../worker/shared/layouts.ts'
import { Dice } from '../../support/odd-boards.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { BOARDS } from './boards.ts'

/** What only the whole board says of a task or a session. */
const DERIVED = { ready: false, health: 'done' }

/** The edge takes it. Throws for an entry that it would refuse. */
function checkEntry(entry: Entry): void {
  switch (entry.kind) {
    case 'task':
      taskSchema.parse({ ...DERIVED, ...entry.task })
      break
    case 'session':
      sessionSchema.parse({ ...DERIVED, ...entry.session })
      break
    case 'run':
      runSchema.parse(entry.run)
      break
    case 'live':
      liveSchema.parse(entry.live)
      break
    case 'board':
      boardSchema.parse(entry.board)
      break
    case 'setting':
      expect(entry.value).toBeTypeOf('string')
  }
}

const ODD = [
  '\0',
  '\\ud800',
  '\u202e',
  '\t',
  '\r',
  '"',
  '[',
  '{',
  '- ',
  '---\n',
  '<<<<<<< a\n',
  '9'.repeat(400),
]

function* mutated(dice: Dice, texts: readonly string[]): Generator<string> {
  for (const text of texts) {
    const at = dice.count(0, text.length)
    yield text
    yield text.slice(0, at)
    yield text.slice(at)
    yield text.slice(0, at) + dice.pick(texts).slice(dice.count(0, 80))
    yield text.slice(0, at) + dice.pick(ODD) + text.slice(at)
  }
}

const filesOf = ({ root, classify }: Store): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(root, name))
    .filter((path) => classify(path) !== undefined)

describe.each(LAYOUT_NAMES)('any text in a file of %s', (layout) => {
  test('says the same each time, and only what the edge takes', async () => {
    let parsed = 0
    for (let seed = 1; seed <= 15; seed++) {
      const dice = new Dice(`contract:${layout}:${seed}`)
      const files = BOARDS[layout](dice)
      const folder = makeFolder(files)
      const store = await findStore(folder, { only: [layout] })
      // A random board may be empty.
      if (!store) continue
      const texts = Object.values(files).map((text) => Buffer.from(text).toString())
      for (const path of filesOf(store)) {
        // A folder that stands for a change has no text.
        const own = Buffer.from(files[relative(folder, path)] ?? '').toString()
        for (const text of mutated(dice, [own, dice.pick(texts), dice.pick(texts)])) {
          const kind = store.classify(path) ?? 'task'
          const { state, entries } = store.parse(path, kind, text)
          expect(store.parse(path, kind, text)).toEqual({ state, entries })
          for (const entry of entries) checkEntry(entry)
          parsed += 1
        }
      }
    }
    expect(parsed).toBeGreaterThan(50)
  })

  test('if it cannot be read at all, is listed with the reason', async () => {
    const store = await findStore(makeFolder(BOARDS[layout](new Dice(`${layout}:1`))))
    if (!store) throw new Error('There is no board.')
    const entries = filesOf(store).flatMap((path) =>
      store.unreadable(path, store.classify(path) ?? 'task', 'It is too large.'),
    )
    for (const entry of entries) checkEntry(entry)
    // A file that shows a task by its presence alone is never read, and has none.
    const reasons = entries.map(invalidOf).filter((reason) => reason !== undefined)
    expect(reasons.length).toBeGreaterThan(0)
    for (const reason of reasons) expect(reason).toContain('It is too large.')
  })
})
