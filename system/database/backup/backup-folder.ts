// A folder of copies, each with a name of its own: which of them stay.

import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../start-error.ts'
import { backUp, type DatabaseLocation } from './backup.ts'
import { type Copy, lookAt } from './backup-copy.ts'

export interface KeptCopy extends Copy {
  path: string
  /** ms */
  madeAt: number
}

const DAY_MS = 86_400_000
const ALL_FOR_MS = 2 * 3_600_000
const NAME = /^payments-(\d{8})T(\d{6})(?:-\d+)?\.db$/

/** Those that were made by `backUpInto`, the newest first. What cannot be read is none. */
async function copiesIn(folder: string): Promise<KeptCopy[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name))
  const found = await Promise.all(
    names.map(async (name): Promise<KeptCopy | undefined> => {
      const path = join(folder, name)
      const copy = await lookAt(path)
      return copy && { ...copy, path, madeAt: (await stat(path)).mtimeMs }
    }),
  )
  return found
    .filter((it) => it !== undefined)
    .toSorted((a, b) => b.madeAt - a.madeAt || (a.path < b.path ? 1 : -1))
}

/** The newest from which a shop can go on. */
export const usableIn = async (folder: string): Promise<KeptCopy | undefined> =>
  (await copiesIn(folder)).find(({ payments }) => payments > 0)

/**
 * Those that may go: of one shop, all but the newest of each of so many days, those of the last two
 * hours, and the one with the most payments. `now` in ms.
 * @forTests Weeks of copies, without a database.
 */
export function spare(copies: readonly KeptCopy[], days: number, now: number): KeptCopy[] {
  const [newest] = copies
  const own = copies.filter(({ installation }) => installation === newest?.installation)
  const most = Math.max(...own.map(({ payments }) => payments))
  const largest = own.find(({ payments }) => payments === most)
  const dayOf = ({ madeAt }: KeptCopy) => Math.floor(madeAt / DAY_MS)
  const kept = new Set([...new Set(own.map(dayOf))].slice(0, days))
  const isFirstOfDay = (copy: KeptCopy, at: number) =>
    own.findIndex((it) => dayOf(it) === dayOf(copy)) === at
  return own.filter(
    (copy, at) =>
      copy !== largest &&
      now - copy.madeAt > ALL_FOR_MS &&
      !(kept.has(dayOf(copy)) && isFirstOfDay(copy, at)),
  )
}

export interface FolderPlan {
  /** Of each of so many days one stays. Undefined: all stay. */
  days?: number | undefined
  /** ms */
  now: number
}

/**
 * Copies the database into the folder, under a new name. `larger`: a copy that was the newest, and
 * has more payments. Throws StartError where the newest copy is of another shop.
 */
export async function backUpInto(
  location: DatabaseLocation,
  folder: string,
  { days, now }: FolderPlan,
): Promise<Copy & { path: string; larger: KeptCopy | undefined; removed: number }> {
  // Each is opened: with copies of five minutes for days, twice would be hundreds more.
  const before = await copiesIn(folder)
  const [newest] = before
  const path = join(folder, await freeName(folder, now))
  const copy = await backUp(location, path, { overwrites: false })
  if (newest && newest.installation !== copy.installation) {
    await rm(path)
    throw new StartError(
      'other_database',
      `${newest.path} is a copy of another shop (${newest.installation}, and the database is ` +
        `${copy.installation}): nothing was copied. Choose another folder.`,
    )
  }
  const made = { ...copy, path, madeAt: (await stat(path)).mtimeMs }
  const goes = days === undefined ? [] : spare([made, ...before], days, now)
  for (const { path: old } of goes) await rm(old)
  const larger = newest && newest.payments > copy.payments ? newest : undefined
  return { ...copy, path, larger, removed: goes.length }
}

async function freeName(folder: string, now: number): Promise<string> {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+Z/g, '')
  const taken = new Set(await readdir(folder))
  for (let n = 1; ; n++) {
    const name = `payments-${time}${n > 1 ? `-${n}` : ''}.db`
    if (!taken.has(name)) return name
  }
}
