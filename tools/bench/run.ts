// `npm run bench -- [latency] [refetch] [phone] [watch] [boards] [webhooks] [charge] [fanout] [--quick]
// [--out DIR]`: measures this system and the alternatives in one run on this machine, and writes
// numbers and plots.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { stopAll } from './child.ts'
import { runBoards } from './run-boards.ts'
import { runCharge } from './run-charge.ts'
import { runFanout } from './run-fanout.ts'
import { runLatency } from './run-latency.ts'
import { runPhone } from './run-phone.ts'
import { runRefetch } from './run-refetch.ts'
import { runWatch } from './run-watch.ts'
import { runWebhooks } from './run-webhooks.ts'

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm'

/** One benchmark of this folder. Both work folders are removed at its end. */
export interface BenchRun {
  /** A work folder on the disk of temporary files. */
  workDir: string
  /** A work folder in memory; undefined if there is no file system in memory. */
  memoryDir: string | undefined
  outDir: string
  /** Small boards and few repetitions: shows that everything runs, but not how fast. */
  isQuick: boolean
  command: string
  say: (text: string) => void
}

const BENCHES = {
  latency: runLatency,
  refetch: runRefetch,
  phone: runPhone,
  watch: runWatch,
  boards: runBoards,
  webhooks: runWebhooks,
  charge: runCharge,
  fanout: runFanout,
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
  const { names, isQuick, outDir } = parsed
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
    const verdicts = await BENCHES[name]({ workDir, memoryDir, outDir, isQuick, command, say })
    clear()
    process.off('exit', clear)
    for (const { what, target, measured, reached } of verdicts) {
      say(`${reached ? 'reached' : 'MISSED '}  ${what}: ${measured} (target ${target})`)
      isReached &&= reached
    }
    say(`${join(outDir, name)}.json and .svg\n`)
  }
  return isReached || isQuick ? 0 : 1
}

function parse(args: string[]) {
  const options = { quick: { type: 'boolean', default: false }, out: { type: 'string' } } as const
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
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
