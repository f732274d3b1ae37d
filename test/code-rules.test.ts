// Rules for the text of source files: the product, and where it says so the tests.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as client from '../libraries/client/index.ts'
import * as events from '../libraries/events/index.ts'
import * as payments from '../libraries/payments/index.ts'
import { inside, named, SIDECAR_CORE, sources, tests } from './support/sources.ts'

describe('the code', () => {
  it('the core has no clock', () => {
    const core = [
      ...named('sidecar', SIDECAR_CORE),
      ...named('worker/board', [
        'streams/fan-out',
        'streams/message',
        'repository/repository',
        'repository/reads',
        'streams/shared-subscription',
        'streams/sse',
        'streams/stream',
        'streams/stream-room',
        'wire',
        'store/board-rows',
      ]),
      ...inside('worker/payments').filter(({ file }) => !file.endsWith('-object.ts')),
      ...inside('libraries/client').filter(({ file }) => !file.endsWith('/clock.ts')),
      ...inside('libraries/events'),
    ]
    const clocks = core.filter(({ text }) =>
      /Date\.now\(|new Date\(\)|performance\.now|setTimeout\(|setInterval\(|Math\.random/.test(
        text,
      ),
    )
    expect(clocks.map(({ file }) => file)).toEqual([])
  })

  it('only config.ts files and entry points read the environment', () => {
    const readers = sources.filter(({ text }) =>
      /process\.env|Deno\.env|import\.meta\.env/.test(text),
    )
    const allowed =
      /(^|\/)config\.ts$|^worker\/deno\.ts$|^system\/|^cli\/signalbox\.ts$|^tools\/package\/build\.ts$|^tools\/prove\/recorder\/|^tools\/bench\//
    expect(readers.map(({ file }) => file).filter((file) => !allowed.test(file))).toEqual([])
  })

  it('only store adapters contain SQL', () => {
    const statement = /['"`]\s*(SELECT|INSERT|UPDATE|DELETE FROM|CREATE TABLE|PRAGMA)\s/
    const writers = inside('worker').filter(({ text }) => statement.test(text))
    const allowed = /-sqlite\.ts$|-libsql\.ts$|sql-node\.ts$/
    expect(writers.map(({ file }) => file).filter((file) => !allowed.test(file))).toEqual([])
  })

  it('no file is named utils or the like, and none has more than 500 lines', () => {
    const drawers = sources.filter(({ file }) =>
      /(^|\/)(utils?|helpers?|managers?|services?|misc|common)(\/|\.ts$)/.test(file),
    )
    expect(drawers.map(({ file }) => file)).toEqual([])
    // A thought of 450 lines is one file: a shorter rule had cut some in two, only for their size.
    const long = sources.filter(({ text }) => text.split('\n').length > 501)
    // Nobody reads a generated file.
    expect(long.map(({ file }) => file)).toEqual(['libraries/api/types.ts'])
  })

  it('each public function of the client, of events and of payments shows its use', () => {
    const functions = [client, events, payments]
      .flatMap(Object.keys)
      .filter((it) => /^[a-z]/.test(it))
    expect(functions.length).toBeGreaterThan(3)
    const text = inside('libraries')
      .map((source) => source.text)
      .join('\n')
    const isShown = (name: string) =>
      new RegExp(`@example(?:(?!\\*/)[\\s\\S])*\\*/\\nexport (?:const|function) ${name}\\b`).test(
        text,
      )
    expect(functions.filter((name) => !isShown(name))).toEqual([])
  })

  it('no line has more than 100 columns, comments included', () => {
    const schema = { file: 'schema.sql', text: readFileSync('schema.sql', 'utf8') }
    // The captions of pictures are lines of text.
    const code = sources.filter(({ file }) => !file.startsWith('tools/bench/'))
    const texts = [...code, schema]
    const wide = texts.flatMap(({ file, text }) =>
      text.split('\n').flatMap((line, at) => (line.length > 100 ? [`${file}:${at + 1}`] : [])),
    )
    expect(wide).toEqual([])
  })

  it('no literal is spread only to have several names on a line, in tests neither', () => {
    // What a method makes of an array may be spread, and so may the props of a component.
    const literal = /(?<!\{)\.\.\.(\{|\[[^\]]*\]\s*[,)\]}])/
    const spread = [...sources, ...tests].filter(({ text }) => literal.test(text))
    expect(spread.map(({ file }) => file)).toEqual([])
  })

  it('only one place opens files that may be others than they should, and those of a board', () => {
    const opens = /(?<![#.])\b(readFile|readFileSync|createReadStream|openSync)\(/
    const product = ['cli', 'sidecar', 'system', 'worker'].flatMap(inside)
    const openers = product.filter(({ text }) => opens.test(text)).map(({ file }) => file)
    expect(openers.toSorted()).toEqual([
      // What the kernel says.
      'cli/claim/agent-process.ts',
      'cli/claim/signs.ts',
      // What a person has named, and may mean a pipe.
      'cli/commands/payments/reconcile.ts',
      // Of the package itself.
      'cli/deploy/edge-folder.ts',
      // What the kernel says.
      'cli/doctor/board.ts',
      // Of a board: where a path leads is compared, too.
      'sidecar/layouts/open-here.ts',
      // Of the package itself.
      'system/database/migration-scripts.ts',
      'worker/console/assets-node.ts',
      // What the kernel says.
      'worker/shared/descriptors-node.ts',
      'worker/shared/plain-file-node.ts',
      'worker/shared/process-stat-node.ts',
    ])
  })
})
