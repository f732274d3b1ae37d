// A text of others must not keep the process busy by how it meets a regular expression: what tries
// a text in many ways takes the square of its length, or more, and nothing else goes on meanwhile.

import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { check } from 'recheck'
import { afterEach, expect, it, vi } from 'vitest'
import { parseAst } from 'vitest/node'
import { type Source, sources } from './support/sources.ts'

/**
 * Those that were found to be safe: to look at all of them takes minutes. With `PATTERNS_ANEW=1` all
 * are looked at, and it is written again.
 */
const SAFE = 'test/fixtures/safe-patterns.txt'
const isAnew = process.env.PATTERNS_ANEW === '1'
/** Most take some milliseconds; the longest half a minute where the analysis runs in JavaScript. */
const PATIENT_MS = 120_000

afterEach(() => {
  vi.unstubAllGlobals()
})

const product = sources.filter(({ file }) => !file.startsWith('tools/'))

interface Found {
  literals: RegExp[]
  /** How often it says `new RegExp`. */
  made: number
}

function foundIn({ file, text }: Source): Found {
  const found: Found = { literals: [], made: 0 }
  const look = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if ('regex' in node && 'value' in node && node.value instanceof RegExp) {
      found.literals.push(node.value)
      return
    }
    const isMade = 'type' in node && node.type === 'NewExpression' && 'callee' in node
    if (isMade && isRegExp(node.callee)) found.made += 1
    for (const inner of Object.values(node)) look(inner)
  }
  look(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }))
  return found
}

const isRegExp = (node: unknown): boolean =>
  typeof node === 'object' && node !== null && 'name' in node && node.name === 'RegExp'

/** What a module makes of constants when it is imported. */
async function madeBy({ file }: Source): Promise<RegExp[]> {
  const made: RegExp[] = []
  vi.stubGlobal(
    'RegExp',
    new Proxy(RegExp, {
      construct(target, given, newTarget) {
        const expression: RegExp = Reflect.construct(target, given, newTarget)
        const [, , caller = ''] = new Error('who').stack?.split('\n') ?? []
        if (caller.includes(file)) made.push(expression)
        return expression
      },
    }),
  )
  // Once more: another test in this process may have imported it.
  await import(`${resolve(file)}?again`)
  vi.unstubAllGlobals()
  return made
}

it('no regular expression tries a text in many ways', { timeout: 900_000 }, async () => {
  const safe = new Set(isAnew ? [] : readFileSync(SAFE, 'utf8').split('\n'))
  const all = new Set<string>()
  const unsafe: string[] = []
  const hidden: string[] = []
  for (const source of product) {
    if (!/\/|RegExp/.test(source.text)) continue
    const { literals, made } = foundIn(source)
    const built = made > 0 ? await madeBy(source) : []
    if (built.length !== made) hidden.push(source.file)
    for (const expression of [...literals, ...built]) {
      const { source: pattern, flags } = expression
      const name = String(expression)
      if (all.has(name)) continue
      all.add(name)
      if (safe.has(name)) continue
      const found = await check(pattern, flags, { timeout: PATIENT_MS })
      if (found.status !== 'safe') {
        const how = found.status === 'vulnerable' ? found.attack.pattern : found.error.kind
        unsafe.push(`${source.file}: ${name} at ${how}`)
      }
    }
  }
  expect(unsafe).toEqual([])
  // One that is made anew at each call could be made of what others wrote.
  expect(hidden).toEqual([])
  if (isAnew) writeFileSync(SAFE, `${[...all].toSorted().join('\n')}\n`)
})
