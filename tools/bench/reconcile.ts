// The books of a busy shop: a settlement file of 100,000 lines, compared by the command line as
// people run it, and a million movements exported, with the memory that the edge takes for it.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BenchRun, circumstances, type Result, type Verdict } from './bench.ts'
import { openStore } from './payments/database.ts'
import { startOurNodeEdge, tokenFor } from './payments/edge.ts'
import { LOOKS, measuredOn, type Picture } from './plot/picture.ts'
import { memoryOf } from './proc.ts'

const FULL = { lines: 100_000, movements: 1_000_000 }
const QUICK: typeof FULL = { lines: 2_000, movements: 20_000 }
const TARGETS = { reconcileMs: 60_000, memoryMiB: 100 }

/** The day of the file. The other movements are of the month before. */
const DAY = Date.parse('2026-11-27T00:00:00Z')
const DAY_MS = 86_400_000
const PLANTED = 20

interface Books {
  lines: number
  reconcileMs: number
  differences: number
  movements: number
  exportMs: number
  exportMiB: number
  /** The edge's memory: before the export, and the most while it was read. */
  memoryMiB: number
  peakMiB: number
}

export interface ReconcileResult extends Result {
  targets: typeof TARGETS
  books: Books
}

export async function runReconcile(run: BenchRun): Promise<ReconcileResult> {
  const startedAt = performance.now()
  const { lines, movements } = run.isQuick ? QUICK : FULL
  const edge = await startOurNodeEdge(join(run.workDir, 'edge'))
  try {
    await seed(edge.file, lines, movements)
    const token = await tokenFor('payments:read')
    const tokenFile = join(run.workDir, 'token')
    writeFileSync(tokenFile, token, { mode: 0o600 })
    const file = join(run.workDir, 'settlement.csv')
    writeFileSync(file, settlementOf(lines))
    const reconciled = await reconcile(file, edge.url, tokenFile)
    const before = memoryOf(edge.pid).rssMiB
    const exported = await exportAll(edge, token)
    const books = { lines, ...reconciled, movements, memoryMiB: before, ...exported }
    run.say(inWords(books))
    const about = circumstances(run.command, startedAt)
    return { ...about, targets: TARGETS, verdicts: verdictsOf(books), books }
  } finally {
    await edge.stop()
  }
}

const idOf = (n: number): string => `gateway-${n}`

/** Paid that day, one movement each; and other movements of the same payments, before it. */
async function seed(file: string, lines: number, movements: number): Promise<void> {
  const store = openStore(file)
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`
  await store.write(
    `${numbers(lines)} INSERT INTO payment_transactions (id, gateway, reference,
        gateway_transaction_id, external_reference_id, status, amount, currency, created_at,
        updated_at, paid_at, paid_amount, paid_currency)
      SELECT printf('TX%024d', i), 'redirect', 'order-' || i, 'gateway-' || i, 'ours-' || i, 'Paid',
        1000 + i, 'IQD', :day, :day, :day, 1000 + i, 'IQD' FROM n`,
    { day: DAY },
  )
  const insert = 'INSERT INTO payment_movements (id, kind, transaction_id, gateway, amount, '
  const rest = 'currency, booked_at, occurred_at)'
  await store.write(
    `${numbers(lines)} ${insert} ${rest} SELECT printf('MA%024d', i), 'paid', printf('TX%024d', i),
      'redirect', 1000 + i, 'IQD', :day + i, :day + i FROM n`,
    { day: DAY },
  )
  await store.write(
    `${numbers(movements - lines)} ${insert} ${rest} SELECT printf('MB%024d', i), 'disputed',
      printf('TX%024d', i % ${lines}), 'redirect', 500, 'IQD', :before + i * 1000,
      :before + i * 1000 FROM n`,
    { before: DAY - 30 * DAY_MS },
  )
  store.close()
}

/** With some other amounts and unknown ids; the last payments have no row. */
function settlementOf(lines: number): string {
  const rows = Array.from({ length: lines - PLANTED }, (_, n) => {
    const id = n % (lines / PLANTED) === 7 ? `unknown-${n}` : idOf(n)
    return `${id},order-${n},${1_000 + n},IQD,2026-11-27 00:00:00,Sale`
  })
  return `Transaction ID,Order,Amount,Currency,Date,Type\n${rows.join('\n')}\n`
}

async function reconcile(file: string, url: string, tokenFile: string) {
  const program = join(import.meta.dirname, '../../cli/signalbox.ts')
  const command = ['payments', 'reconcile', file, '--gateway', 'redirect', '--json']
  const at = ['--edge', url, '--token-file', tokenFile]
  const from = performance.now()
  const out = await new Promise<string>((resolve, reject) => {
    const limits = { maxBuffer: 2 ** 30 }
    execFile(process.execPath, [program, ...command, ...at], limits, (error, stdout, stderr) => {
      // It exits with 1, since there are differences.
      if (error?.code === 1 && stdout !== '') resolve(stdout)
      else reject(new Error(stderr || String(error)))
    })
  })
  const reconcileMs = Math.round(performance.now() - from)
  const { counts } = JSON.parse(out) as { counts: Record<string, number> }
  const { same = 0, ...others } = counts
  const differences = Object.values(others).reduce((sum, count) => sum + count, 0)
  // Unknown ids are found by their reference and amount.
  if (differences !== PLANTED || same === 0) throw new Error(`found ${JSON.stringify(counts)}`)
  return { reconcileMs, differences }
}

async function exportAll({ url, pid }: { url: string; pid: number }, token: string) {
  const headers = { authorization: `Bearer ${token}` }
  const from = performance.now()
  const { body } = await fetch(`${url}/api/payments/movements?format=csv`, { headers })
  let [bytes, peakMiB] = [0, 0]
  for await (const part of body ?? []) {
    bytes += part.length
    peakMiB = Math.max(peakMiB, memoryOf(pid).rssMiB)
  }
  const exportMs = Math.round(performance.now() - from)
  return { exportMs, exportMiB: bytes / 2 ** 20, peakMiB }
}

function verdictsOf({ reconcileMs, memoryMiB, peakMiB, ...of }: Books): Verdict[] {
  const more = peakMiB - memoryMiB
  return [
    {
      what: `a file of ${of.lines} lines`,
      target: `${TARGETS.reconcileMs} ms`,
      measured: `${reconcileMs} ms`,
      reached: reconcileMs <= TARGETS.reconcileMs,
    },
    {
      what: `memory for the export of ${of.movements} movements`,
      target: `${TARGETS.memoryMiB} MiB more`,
      measured: `${more.toFixed(0)} MiB more`,
      reached: more <= TARGETS.memoryMiB,
    },
  ]
}

const inWords = (books: Books): string =>
  `${books.lines} lines reconciled in ${books.reconcileMs} ms, ${books.differences} differences; ` +
  `${books.movements} movements (${books.exportMiB.toFixed(0)} MiB) in ${books.exportMs} ms, ` +
  `the edge at ${books.memoryMiB.toFixed(0)} MiB before and ${books.peakMiB.toFixed(0)} MiB at most`

export function reconcilePicture({ books, machine, targets }: ReconcileResult): Picture {
  const { color } = LOOKS['signalbox-node']
  return {
    title: 'The books of a busy shop',
    about: [
      `A settlement file of ${books.lines.toLocaleString('en')} lines, compared with as many payments by the command line.`,
      `${books.movements.toLocaleString('en')} movements exported as CSV: the memory of the edge before, and the most meanwhile.`,
      measuredOn(machine, 'one Node process, the database a file'),
    ],
    parts: [
      {
        bars: [
          {
            title: 'The whole file',
            target: targets.reconcileMs / 1_000,
            format: (seconds) => `${seconds.toFixed(1)} s`,
            bars: [{ color, value: books.reconcileMs / 1_000 }],
          },
          {
            title: 'Memory of the edge',
            target: Math.round(books.memoryMiB + targets.memoryMiB),
            format: (mebibytes) => `${Math.round(mebibytes)} MiB`,
            bars: [
              { color: LOOKS['chokidar-tuned'].color, value: books.memoryMiB },
              { color, value: books.peakMiB },
            ],
          },
        ],
      },
    ],
  }
}
