// `npm run bench -- [NAME…] [--quick]`: measures this system and its rivals in one run on
// this machine, and writes the numbers, and the tables of docs/performance.md.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { errorCode } from '../../worker/shared/file-errors.ts'
import {
  cellOf,
  isReached,
  MACHINE,
  type Result,
  type Row,
  revision,
  rowOf,
  table,
  withTable,
} from './bench.ts'
import { runCharge } from './suite/charge.ts'
import { runFanout } from './suite/fanout.ts'
import { runLatency } from './suite/latency.ts'
import { runBoards } from './suite/many-boards.ts'
import { runRest } from './suite/rest.ts'
import { runSearch } from './suite/search.ts'
import { runWatch } from './suite/watch.ts'
import { runWebhooks } from './suite/webhooks.ts'

const HOME = resolve(import.meta.dirname, '../..')
const RESULTS = join(HOME, 'tools/bench/results')
/** Shows the results that the repository has. */
const PAGE = join(HOME, 'docs/performance.md')

const BENCHES = {
  latency: runLatency,
  watch: runWatch,
  boards: runBoards,
  webhooks: runWebhooks,
  charge: runCharge,
  fanout: runFanout,
  rest: runRest,
  search: runSearch,
}

// What was started ends with us.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const work = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
const clear = () => rmSync(work, { recursive: true, force: true, maxRetries: 3 })
process.once('exit', clear)
try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!errorCode(error).startsWith('ERR_PARSE_ARGS')) throw error
  process.stderr.write(`bench: ${(error as Error).message}\n`)
  process.exitCode = 2
}

async function main(args: string[]): Promise<number> {
  const options = { quick: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const unknown = positionals.find((name) => !(name in BENCHES))
  if (unknown) {
    process.stderr.write(`bench: no ${unknown}; there are ${Object.keys(BENCHES).join(', ')}.\n`)
    return 2
  }
  const { quick: isQuick } = values
  // A quick run must not overwrite the real results in the repository.
  const outDir = isQuick ? join(tmpdir(), 'signalbox-bench-quick') : RESULTS
  // Before a table of an earlier bench has changed the page.
  const commit = revision()
  let isAllReached = true
  for (const [name, measure] of Object.entries(BENCHES)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    const [startedAt, date] = [performance.now(), new Date().toISOString()]
    const rows: Row[] = []
    mkdirSync(work, { recursive: true })
    await measure({
      workDir: work,
      isQuick,
      report(of, measured, judged) {
        const row = rowOf(of, [measured].flat(), judged)
        rows.push(row)
        process.stdout.write(`${row.what}, ${row.system}: ${cellOf(row)} ${row.unit}\n`)
      },
    })
    clear()
    const command = `npm run bench -- ${name}${isQuick ? ' --quick' : ''}`
    const tookMs = Math.round(performance.now() - startedAt)
    save(outDir, name, { command, date, commit, machine: MACHINE, tookMs, rows })
    process.stdout.write(`\n${table(rows)}\n${join(outDir, name)}.json\n\n`)
    isAllReached &&= rows.every(isReached)
  }
  return isAllReached || isQuick ? 0 : 1
}

function save(dir: string, name: string, { rows, ...about }: Result): void {
  mkdirSync(dir, { recursive: true })
  // A row on a line, so that a diff of two runs is readable.
  const lines = rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n')
  const json = JSON.stringify({ ...about, rows: [] }, null, 2)
  const whole = json.replace('"rows": []', () => `"rows": [\n${lines}\n  ]`)
  writeFileSync(join(dir, `${name}.json`), `${whole}\n`)
  if (dir === RESULTS) {
    writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), name, { rows, ...about }))
  }
}
