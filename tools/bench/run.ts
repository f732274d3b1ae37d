// `npm run bench -- [NAME…] [--quick] [--out DIR]`: measures this system and its rivals in one run on
// this machine, and writes numbers, a picture and the table of docs/performance.md.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bench, isReached, type Result, type Row, resultOf } from './bench.ts'
import { runBoards } from './boards.ts'
import { runCharge } from './charge.ts'
import { runFanout } from './fanout.ts'
import { runLatency } from './latency.ts'
import { runPhone } from './phone.ts'
import { cellOf, picture, table, withTable } from './report.ts'
import { runRest } from './rest.ts'
import { runSearch } from './search.ts'
import { runWatch } from './watch.ts'
import { runWebhooks } from './webhooks.ts'

const HOME = resolve(import.meta.dirname, '../..')
const RESULTS = join(HOME, 'tools/bench/results')
/** Shows the results that the repository has. */
const PAGE = join(HOME, 'docs/performance.md')

const BENCHES: Readonly<Record<string, { title: string; measure: Bench }>> = {
  latency: { title: 'From a saved file to a client', measure: runLatency },
  phone: { title: 'From a saved file to the text on the screen', measure: runPhone },
  watch: { title: 'Many files at once, and a huge board at rest', measure: runWatch },
  boards: { title: 'Many boards in one process', measure: runBoards },
  webhooks: { title: 'Callbacks of a gateway, until the answer', measure: runWebhooks },
  charge: { title: 'A charge, beside its gateway', measure: runCharge },
  fanout: { title: 'From publishing until the last stream', measure: runFanout },
  rest: { title: 'What an idle board asks of the edge', measure: runRest },
  search: { title: 'Finding a payment', measure: runSearch },
}

// What was started ends with us.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
process.exitCode = await main()

async function main(): Promise<number> {
  const parsed = parse(process.argv.slice(2))
  if (typeof parsed === 'string') {
    process.stderr.write(`bench: ${parsed}\n`)
    return 2
  }
  const { benches, isQuick, outDir } = parsed
  let isAllReached = true
  for (const [name, { title, measure }] of benches) {
    const startedAt = performance.now()
    const rows: Row[] = []
    await inWorkFolder((workDir) =>
      measure({ workDir, isQuick }, (row) => {
        rows.push(row)
        process.stdout.write(`${row.what}, ${row.system}: ${cellOf(row)} ${row.unit}\n`)
      }),
    )
    const command = `npm run bench -- ${name}${isQuick ? ' --quick' : ''}`
    save(outDir, name, title, resultOf(command, startedAt, rows))
    process.stdout.write(`\n${title}\n\n${table(rows)}\n${join(outDir, name)}.json and .svg\n\n`)
    isAllReached &&= rows.every(isReached)
  }
  return isAllReached || isQuick ? 0 : 1
}

async function inWorkFolder(measure: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
  const clear = () => rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  // Also after a failure or an interrupt.
  process.once('exit', clear)
  await measure(dir)
  clear()
  process.off('exit', clear)
}

function save(dir: string, name: string, title: string, result: Result): void {
  mkdirSync(dir, { recursive: true })
  // A row on a line, so that a diff of two runs is readable.
  const { rows, ...about } = result
  const lines = rows.map((row) => `    ${JSON.stringify(row)}`).join(',\n')
  const json = JSON.stringify({ ...about, rows: [] }, null, 2).replace(
    '"rows": []',
    () => `"rows": [\n${lines}\n  ]`,
  )
  writeFileSync(join(dir, `${name}.json`), `${json}\n`)
  writeFileSync(join(dir, `${name}.svg`), picture(title, result))
  if (dir === RESULTS) writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), name, result))
}

function parse(args: string[]) {
  const options = {
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
  } as const
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const all = Object.entries(BENCHES)
    const unknown = positionals.find((name) => !(name in BENCHES))
    if (unknown) return `there is no ${unknown}; there are ${Object.keys(BENCHES).join(', ')}.`
    // A quick run must not overwrite the real results in the repository.
    const usual = values.quick ? join(tmpdir(), 'signalbox-bench-quick') : RESULTS
    return {
      benches: positionals.length === 0 ? all : all.filter(([name]) => positionals.includes(name)),
      isQuick: values.quick,
      outDir: resolve(values.out ?? usual),
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
