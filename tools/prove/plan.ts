// The options of `npm run prove`.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { HOSTS } from '../harness/hosts.ts'
import { FAULTS, faultsOf } from './recorder/faults.ts'

export const USAGE = `usage: npm run prove -- [options]
  --fault NAME   a fault; may be given several times (default: all of them in turn; none: only load)
  --seed N       of the load, from 0 to 4294967295 (default: a random one)
  --for TIME     how long faults come, such as 60s or 10m (default: 60s)
  --host HOST    workerd, deno or node (default: workerd)
  --out FILE     where the history is written (default: .signalbox/prove/HOST-SEED.jsonl)

faults: ${Object.keys(FAULTS).join(' ')}`

const MAX_SEED = 2 ** 32 - 1

export class UsageError extends Error {}

function readOptions(args: string[]) {
  const text = { type: 'string' } as const
  const fault = { type: 'string', multiple: true } as const
  const options = { fault, seed: text, for: text, host: text, out: text }
  try {
    return parseArgs({ args, options }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Throws UsageError. */
export function readPlan(args: string[]) {
  const given = readOptions(args)
  const { for: time = '60s' } = given
  const host = HOSTS.find((name) => name === (given.host ?? 'workerd'))
  if (!host) throw new UsageError(`There is no host ${given.host}.`)
  const [, count, unit] = /^([1-9]\d*)(s|m)$/.exec(time) ?? []
  if (count === undefined) throw new UsageError(`--for ${time} is no time such as 60s or 10m.`)
  const seed = Number(given.seed ?? Math.floor(Math.random() * 1e9))
  if (given.seed === '' || !Number.isInteger(seed) || seed < 0 || seed > MAX_SEED) {
    throw new UsageError(`--seed ${given.seed} is no integer from 0 to ${MAX_SEED}.`)
  }
  const faults = given.fault ?? faultsOf(host)
  const isNone = faults.join() === 'none'
  const unknown = isNone ? undefined : faults.find((name) => !faultsOf(host).includes(name))
  if (unknown !== undefined) throw new UsageError(`There is no fault ${unknown} on ${host}.`)
  const forMs = Number(count) * (unit === 'm' ? 60_000 : 1_000)
  const file = resolve(given.out ?? `.signalbox/prove/${host}-${seed}.jsonl`)
  return { host, seed, faults: isNone ? [] : faults, forMs, file } as const
}
