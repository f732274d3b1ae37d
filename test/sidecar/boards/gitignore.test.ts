import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { enter, type Rules, slowFiles, withRulesOf } from '../../../sidecar/boards/gitignore.ts'
import { cpuMs } from '../../support/cpu-time.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const folders = fc.array(fc.constantFrom('a', 'b', 'ab', 'c d', '!a'), {
  minLength: 1,
  maxLength: 4,
})
const part = fc.constantFrom('a', 'b', 'ab', 'a*', '*', '?', '**', '[!a]', 'c d', '\\!a')
// Each with a final slash: such a rule says something of folders only.
const rule = fc
  .tuple(
    fc.constantFrom('', '', '!'),
    fc.constantFrom('', '/'),
    fc.array(part, { minLength: 1, maxLength: 3 }),
  )
  .map(([not, top, parts]) => `${not}${top}${parts.join('/')}/`)
const ruleFile = fc
  .array(rule, { minLength: 1, maxLength: 4 })
  .map((lines) => `${lines.join('\n')}\n`)

/** The folders that are entered, when each is entered from the one above. */
async function entered(top: string, all: readonly string[]): Promise<string[]> {
  const rulesIn = new Map<string, Rules>([['.', await withRulesOf(top, [])]])
  for (const folder of all.toSorted()) {
    const above = rulesIn.get(dirname(folder))
    const rules = above && enter(`${top}/${folder}`, above)
    if (rules) rulesIn.set(folder, await withRulesOf(`${top}/${folder}`, rules))
  }
  return [...rulesIn.keys()].toSorted()
}

const hasGit = !spawnSync('git', ['--version']).error

test.skipIf(!hasGit)('enters the folders in which git itself would look for files', async () => {
  const trees = fc.array(folders, { minLength: 1, maxLength: 8 })
  const files = fc.dictionary(
    folders.map((way) => way.join('/')),
    ruleFile,
    { maxKeys: 3 },
  )
  await fc.assert(
    fc.asyncProperty(trees, ruleFile, files, async (ways, topRules, inner) => {
      const all = new Set([...ways.map((way) => way.join('/')), ...Object.keys(inner)])
      for (const folder of all) if (folder.includes('/')) all.add(dirname(folder))
      const top = makeFolder({
        '.gitignore': topRules,
        file: '',
        ...Object.fromEntries([...all].map((folder) => [`${folder}/file`, ''])),
        ...Object.fromEntries(
          Object.entries(inner).map(([at, text]) => [`${at}/.gitignore`, text]),
        ),
      })
      const git = (...args: string[]) =>
        spawnSync('git', args, { cwd: top, encoding: 'utf8' }).stdout
      git('init', '--quiet')
      const listed = git('ls-files', '-z', '--others', '--exclude-per-directory=.gitignore')
      const seen = listed.split('\0').filter((path) => /(^|\/)file$/.test(path))
      expect(await entered(top, [...all])).toEqual(seen.map((path) => dirname(path)).toSorted())
      rmSync(top, { recursive: true })
    }),
    { numRuns: 25 },
  )
})

test('rules that take too long for a folder are left out, and those of other files hold', async () => {
  const slow = `${'**/a/'.repeat(4)}**/b/\n`
  const top = makeFolder({ '.gitignore': 'out/\n', 'in/.gitignore': slow })
  const rules = await withRulesOf(`${top}/in`, await withRulesOf(top, []))
  const entering = () => expect(enter(`${top}/in/a${'/a'.repeat(99)}`, rules)).toBe(rules)
  expect(await cpuMs(entering)).toBeLessThan(2_000)
  expect(slowFiles(rules)).toEqual([`${top}/in/.gitignore`])
  expect(enter(`${top}/in/out`, rules)).toBeUndefined()
})
