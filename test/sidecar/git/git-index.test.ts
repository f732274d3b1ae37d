import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAsIndexed, parseIndex } from '../../../sidecar/git/git-index.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { git, initialize } from './git-folder.ts'

const LONG = `tasks/${'a long name '.repeat(15)}.md`
const all = () => true

test.each([
  ['sha1', 20],
  ['sha256', 32],
] as const)('reads what git wrote, with %s', (kind, size) => {
  const dir = makeFolder()
  git(dir, 'init', '-q', `--object-format=${kind}`)
  const names = ['a.md', 'tasks/é.md', 'tasks/b c.md', LONG, ...'12345678'.split('')]
  mkdirSync(join(dir, 'tasks'))
  for (const name of names) writeFileSync(join(dir, name), `of ${name}\n`)
  git(dir, 'add', '-A')
  const index = join(dir, '.git/index')
  const found = parseIndex(readFileSync(index), size, all)
  expect([...found.keys()].toSorted()).toEqual(names.toSorted())
  for (const name of names) {
    const indexed = found.get(name)
    expect(indexed?.blob).toBe(git(dir, 'hash-object', name))
    const stat = lstatSync(join(dir, name))
    expect(indexed && isAsIndexed(stat, indexed, stat.mtimeMs + 10)).toBe(true)
    // Written in the moment of the index: another text may be behind the same stat.
    expect(indexed && isAsIndexed(stat, indexed, stat.mtimeMs)).toBe(false)
    expect(indexed && isAsIndexed({ ...stat, size: 1 }, indexed, Infinity)).toBe(false)
  }
  expect([...parseIndex(readFileSync(index), size, (path) => path === '7').keys()]).toEqual(['7'])
})

test('takes nothing from another version, and from a file that is cut or none, what is whole', () => {
  const dir = makeFolder({ 'a.md': 'a', 'b.md': 'b' })
  initialize(dir)
  const bytes = readFileSync(join(dir, '.git/index'))
  for (let end = 0; end < bytes.length; end++) {
    const names = [...parseIndex(bytes.subarray(0, end), 20, all).keys()]
    expect(['', 'a.md', 'a.md b.md']).toContain(names.join(' '))
  }
  git(dir, 'update-index', '--index-version', '4')
  expect(parseIndex(readFileSync(join(dir, '.git/index')), 20, all).size).toBe(0)
  expect(parseIndex(Buffer.alloc(4_096, 1), 20, all).size).toBe(0)
})
