import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSource } from '../../../sidecar/files/read-source.ts'
import type { FileKind } from '../../../sidecar/layouts/layout.ts'
import { makeFolder } from '../../support/temp-folder.ts'

function open(
  files: Record<string, string | Uint8Array> = {},
  kind: FileKind = 'task',
  listBytes?: number,
) {
  const outer = makeFolder({ 'outside.md': 'secret' })
  const root = join(outer, 'store')
  mkdirSync(root)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content)
  const classify = (path: string) => (path.startsWith(root) ? kind : undefined)
  const store = { classify, ...(listBytes !== undefined && { listBytes }) }
  const read = (name: string) => readSource(store, join(root, name))
  return { outer, root, read }
}

test('reads a file, without its byte order mark', () => {
  const { read } = open({ 'a.md': '\ufeffgrüße' })
  expect(read('a.md')).toMatchObject({ state: 'read', text: 'grüße' })
  expect(read('a.md')).not.toHaveProperty('changing')
})

test('a missing file, or one whose folder is missing, is gone', () => {
  const { read } = open({ file: '' })
  for (const path of ['a.md', 'b/a.md', 'file/a.md']) expect(read(path)).toEqual({ state: 'gone' })
})

test('follows no link, wherever it leads', () => {
  const { outer, root, read } = open({ 'a.md': 'here', '.env': 'secret' })
  symlinkSync('a.md', join(root, 'in.md'))
  symlinkSync('.env', join(root, 'env.md'))
  symlinkSync('/etc/passwd', join(root, 'passwd.md'))
  symlinkSync('../outside.md', join(root, 'out.md'))
  symlinkSync(outer, join(root, 'folder'))
  symlinkSync('nothing.md', join(root, 'dangling.md'))
  symlinkSync('loop.md', join(root, 'loop.md'))
  const links = ['in.md', 'env.md', 'passwd.md', 'out.md', 'folder/outside.md']
  for (const path of [...links, 'dangling.md', 'loop.md']) {
    const why = expect.stringContaining('link')
    expect(read(path), path).toMatchObject({ state: 'refused', why })
  }
})

test('refuses what is not a regular file, and never waits for a pipe', () => {
  const { root, read } = open()
  mkdirSync(join(root, 'folder.md'))
  execFileSync('mkfifo', [join(root, 'pipe.md')])
  for (const path of ['folder.md', 'pipe.md']) {
    expect(read(path)).toEqual({ state: 'refused', why: 'The path is not a regular file.' })
  }
})

test.each([
  ['task', undefined, 1],
  ['tasks', undefined, 1],
  ['tasks', 32, 32],
  ['run', undefined, 8],
] as const)('of kind %s, with lists of %s MiB, refuses more than %i MiB', (kind, list, most) => {
  const { root, read } = open({ 'a.md': '' }, kind, list && list << 20)
  truncateSync(join(root, 'a.md'), (most + 1) << 20)
  expect(read('a.md')).toEqual({
    state: 'refused',
    why: `The file is too large: ${most + 1}.0 MiB, and at most ${most}.0 MiB are read.`,
  })
  truncateSync(join(root, 'a.md'), most << 20)
  expect(read('a.md')).toHaveProperty('text.length', most << 20)
})

test('refuses what is not UTF-8, but shows the output of a run that was cut within a character', () => {
  const cut = Buffer.from('grüße').subarray(3)
  expect(open({ 'a.md': cut }).read('a.md')).toEqual({
    state: 'refused',
    why: 'The file is not UTF-8 text.',
  })
  expect(open({ 'a.log': cut }, 'run').read('a.log')).toMatchObject({ text: '\ufffdße' })
})

test.skipIf(process.getuid?.() === 0)('refuses a file without permission', () => {
  const { root, read } = open({ 'a.md': '' })
  chmodSync(join(root, 'a.md'), 0)
  expect(read('a.md')).toMatchObject({ state: 'refused', why: expect.stringContaining('may not') })
})
