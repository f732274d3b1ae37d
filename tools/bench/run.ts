// `npm run bench -- [latency] [refetch] [phone] [watch] [boards] [webhooks] [charge] [fanout]
// [reconcile] [search] [rest] [--quick] [--out DIR] [--before DIR]`: measures this system and the
// alternatives, such as an earlier version in DIR, in one run on this machine, and writes numbers and
// plots.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type BenchRun, type Result, save } from './bench.ts'
import { boardsPicture, runBoards } from './boards.ts'
import { chargePicture, runCharge } from './charge.ts'
import { stopAll } from './child.ts'
import { fanoutPicture, runFanout } from './fanout.ts'
import { latencyPicture, runLatency } from './latency.ts'
import { phonePicture, runPhone } from './phone.ts'
import { type Picture, picture } from './plot/picture.ts'
import { reconcilePicture, runReconcile } from './reconcile.ts'
import { refetchPicture, runRefetch } from './refetch.ts'
import { restPicture, runRest } from './rest.ts'
import { runSearch, searchPicture } from './search.ts'
import { runWatch, watchPicture } from './watch.ts'
import { runWebhooks, webhooksPicture } from './webhooks.ts'

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm'

/** What one measures, and its picture. */
const bench =
  <Found extends Result>(
    measure: (run: BenchRun) => Promise<Found>,
    show: (found: Found) => Picture,
  ) =>
  async (run: BenchRun) => {
    const found = await measure(run)
    return { found, picture: picture(show(found)) }
  }

const BENCHES = {
  latency: bench(runLatency, latencyPicture),
  refetch: bench(runRefetch, refetchPicture),
  phone: bench(runPhone, phonePicture),
  watch: bench(runWatch, watchPicture),
  boards: bench(runBoards, boardsPicture),
  webhooks: bench(runWebhooks, webhooksPicture),
  charge: bench(runCharge, chargePicture),
  fanout: bench(runFanout, fanoutPicture),
  reconcile: bench(runReconcile, reconcilePicture),
  rest: bench(runRest, restPicture),
  search: bench(runSearch, searchPicture),
}
type BenchName = keyof typeof BENCHES
const NAMES = Object.keys(BENCHES) as BenchName[]

let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isInterrupted = true
    void stopAll().then(() => process.exit(130))
  })
}
try {
  process.exitCode = await main()
} catch (error) {
  // The measured systems have just been stopped, so this error is expected.
  if (!isInterrupted) throw error
  await stopAll()
}

async function main(): Promise<number> {
  const parsed = parse(process.argv.slice(2))
  if (typeof parsed === 'string') {
    process.stderr.write(`bench: ${parsed}\n`)
    return 2
  }
  const { names, isQuick, outDir, beforeDir } = parsed
  let isReached = true
  for (const name of names) {
    const folder = (parent: string) => mkdtempSync(join(parent, 'signalbox-bench-'))
    const workDir = folder(tmpdir())
    const memoryDir = existsSync(MEMORY) ? folder(MEMORY) : undefined
    // Also after a failure or an interrupt.
    const clear = () => {
      for (const dir of [workDir, memoryDir]) {
        if (dir) rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
      }
    }
    process.once('exit', clear)
    const command = `npm run bench -- ${name}${isQuick ? ' --quick' : ''}`
    const say = (text: string) => void process.stdout.write(`${text}\n`)
    const run = { workDir, memoryDir, beforeDir, isQuick, command, say }
    const { found, picture } = await BENCHES[name](run)
    save(outDir, name, found, picture)
    clear()
    process.off('exit', clear)
    for (const { what, target, measured, reached } of found.verdicts) {
      say(`${reached ? 'reached' : 'MISSED '}  ${what}: ${measured} (target ${target})`)
      isReached &&= reached
    }
    say(`${join(outDir, name)}.json and .svg\n`)
  }
  return isReached || isQuick ? 0 : 1
}

function parse(args: string[]) {
  const options = {
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
    before: { type: 'string' },
  } as const
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const unknown = positionals.find((name) => !NAMES.includes(name as BenchName) && name !== 'all')
    if (unknown) return `there is no ${unknown}; there are ${NAMES.join(', ')} and all.`
    const isAll = positionals.length === 0 || positionals.includes('all')
    // A quick run must not overwrite the real results in the repository.
    const usual = values.quick ? join(tmpdir(), 'signalbox-bench-quick') : 'tools/bench/results'
    return {
      names: isAll ? NAMES : (positionals as BenchName[]),
      isQuick: values.quick,
      outDir: resolve(values.out ?? usual),
      beforeDir: values.before === undefined ? undefined : resolve(values.before),
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
