// The books of a busy shop: a settlement file of 100,000 lines, compared by the command line as
// people run it, and a million movements exported, with the memory that the edge takes for it.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, reporter } from './bench.ts'
import { startOurNodeEdge, tokenFor } from './payments/bench-edge.ts'
import { openStore } from './payments/database.ts'
import { memoryOf } from './proc.ts'
import { LABEL } from './target.ts'

const FULL = { lines: 100_000, movements: 1_000_000 }
const QUICK: typeof FULL = { lines: 2_000, movements: 20_000 }
const MOST = { reconcileMs: 60_000, memoryMiB: 100 }

/** The day of the file. The other movements are of the month before. */
const DAY = Date.parse('2026-11-27T00:00:00Z')
const DAY_MS = 86_400_000
const PLANTED = 20

export const runReconcile: Bench = async (run, report) => {
  const { lines, movements } = run.isQuick ? QUICK : FULL
  const edge = await startOurNodeEdge(join(run.workDir, 'edge'))
  try {
    await seed(edge.file, lines, movements)
    const token = await tokenFor('payments:read')
    const tokenFile = join(run.workDir, 'token')
    writeFileSync(tokenFile, token, { mode: 0o600 })
    const file = join(run.workDir, 'settlement.csv')
    writeFileSync(file, settlementOf(lines))
    const show = reporter(report, LABEL['signalbox-node'])
    const reconcileMs = await reconcile(file, edge.url, tokenFile)
    show(`a file of ${lines.toLocaleString('en')} lines`, 'ms', reconcileMs, MOST.reconcileMs)
    show(
      `a day of ${lines.toLocaleString('en')} movements, its first rows`,
      'ms',
      await firstRows(edge.url, token),
    )
    const before = memoryOf(edge.pid).rssMiB
    const { ms, mebibytes, peakMiB } = await exportAll(edge, token)
    const what = `${movements.toLocaleString('en')} movements as CSV`
    show(what, 'ms', ms)
    show(`${what}: its size`, 'MiB', mebibytes)
    show(`${what}: memory before`, 'MiB', before)
    show(`${what}: memory at most`, 'MiB', peakMiB, before + MOST.memoryMiB)
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

async function reconcile(file: string, url: string, tokenFile: string): Promise<number> {
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
  const reconcileMs = performance.now() - from
  const { counts } = JSON.parse(out) as { counts: Record<string, number> }
  const { same = 0, ...others } = counts
  const differences = Object.values(others).reduce((sum, count) => sum + count, 0)
  // Unknown ids are found by their reference and amount.
  if (differences !== PLANTED || same === 0) throw new Error(`found ${JSON.stringify(counts)}`)
  return reconcileMs
}

/** As the page reads them: what follows is not taken. */
async function firstRows(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const from = performance.now()
  const span = 'after=2026-11-27&before=2026-11-28&zone=UTC&format=jsonl'
  const { body } = await fetch(`${url}/api/payments/movements?${span}`, { headers })
  let lines = 0
  for await (const part of body ?? []) {
    lines += new TextDecoder().decode(part).split('\n').length - 1
    if (lines >= 500) break
  }
  return performance.now() - from
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
  return { ms: performance.now() - from, mebibytes: bytes / 2 ** 20, peakMiB }
}
