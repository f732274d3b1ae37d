// What the page about support calls a button or an issue, the console calls so.

import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const page = readFileSync('docs/support.md', 'utf8')
const FOLDERS = ['console/payments', 'console/ui']
const console = FOLDERS.flatMap((folder) =>
  readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8')),
).join('\n')

it('names buttons, facts and issues as the console does', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('|'))
  const named = rows.flatMap((row) => [...row.matchAll(/(\*{1,2})(?!\s)([^*]+)\1/g)])
  const names = new Set(named.map(([, , name = '']) => name))
  expect(names.size).toBeGreaterThan(15)
  expect([...names].filter((name) => !console.includes(name))).toEqual([])
})
