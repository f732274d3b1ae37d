// Which folders the `.gitignore` files of a repository leave out. They are read by a library: git
// itself runs programs that the repository's own configuration names.

import { dirname, join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { isRepository } from '../git/worktrees.ts'
import { inTime } from '../in-time.ts'
import { readSmall } from '../layouts/open-here.ts'

/** A person's longest has some hundred lines. */
const FILE_BYTES = 256 << 10
/** Each costs time and memory for each folder: of 40,000, some thousand folders take 2.6 GB. */
const MAX_RULES = 1_000
/** A longer line makes an expression that the engine refuses. */
const RULE = /^[^#].{0,1000}$/s
/** As git itself compares names: with their case where the file system has one. */
const OPTIONS = { ignorecase: process.platform === 'darwin' }

/**
 * The rules of a file that takes longer for a folder are left out: each `*` multiplies what a name
 * costs, and nothing else of the process goes on meanwhile. No setting: git needs no such rule.
 */
const WITHIN_MS = 50
/** With fewer parts none takes that long, and to watch the time costs more than the test. */
const isRisky = (rule: string): boolean =>
  (rule.match(/[*?](?=[^*?])/g)?.length ?? 0) > 2 ||
  rule.split('/').some((part) => part.split('*').length > 3)

interface RuleFile {
  folder: string
  rules: Ignore
  isRisky: boolean
  /** Its rules are left out. */
  isSlow?: boolean
}

/** The files that hold in a folder, from the top of its repository down. */
export type Rules = readonly RuleFile[]

/** `rules` and those of the folder's own file. */
export async function withRulesOf(folder: string, rules: Rules): Promise<Rules> {
  // git follows no link here either.
  const text = readSmall(join(folder, '.gitignore'), FILE_BYTES)
  if (!text) return rules
  const lines = text
    .split(/\r?\n/)
    .filter((line) => RULE.test(line))
    .slice(0, MAX_RULES)
  const own = ignore(OPTIONS).add(lines.join('\n'))
  return [...rules, { folder, rules: own, isRisky: lines.some(isRisky) }]
}

/** The rules that hold in `path`, a folder within that of `rules`; undefined: it is left out. */
export function enter(path: string, rules: Rules): Rules | undefined {
  for (const [at, file] of [...rules.entries()].reverse()) {
    const { ignored, unignored } = tested(file, `${slashed(file.folder, path)}/`)
    if (ignored) return undefined
    // The files above may leave it out; what is in it must not be left out because of that.
    if (unignored)
      return [...rules.slice(0, at).map((it) => readmitted(path, it)), ...rules.slice(at)]
  }
  return rules
}

/** The `.gitignore` files whose rules are left out. */
export const slowFiles = (rules: Rules): readonly string[] =>
  rules.filter(({ isSlow }) => isSlow).map(({ folder }) => join(folder, '.gitignore'))

const NOTHING = { ignored: false, unignored: false }

function tested(file: RuleFile, path: string): { ignored: boolean; unignored: boolean } {
  if (file.isSlow) return NOTHING
  if (!file.isRisky) return file.rules.test(path)
  try {
    return inTime(WITHIN_MS, () => file.rules.test(path))
  } catch {
    file.isSlow = true
    return NOTHING
  }
}

/** The rules above `folder` in its repository. None if they leave out the folder: it was named. */
export async function rulesAbove(folder: string): Promise<Rules> {
  if (await isRepository(folder)) return []
  const above = [folder]
  for (let at = dirname(folder); ; at = dirname(at)) {
    if (at === above.at(-1)) return []
    above.push(at)
    if (await isRepository(at)) break
  }
  let rules: Rules = []
  for (const at of above.reverse()) {
    const entered = enter(at, rules)
    if (entered === undefined) return []
    rules = at === folder ? entered : await withRulesOf(at, entered)
  }
  return rules
}

function readmitted(path: string, { folder, rules, isRisky }: RuleFile): RuleFile {
  const literal = slashed(folder, path).replaceAll(/[\\*?[ ]/g, '\\$&')
  return {
    folder,
    isRisky,
    rules: ignore(OPTIONS)
      .add(rules)
      .add([`!/${literal}`]),
  }
}

const slashed = (from: string, to: string): string => relative(from, to).split(sep).join('/')
