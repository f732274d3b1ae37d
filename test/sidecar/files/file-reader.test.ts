import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createFileReader, publishedEntry } from '../../../sidecar/files/file-reader.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { TEXT_BYTES } from '../../../worker/board/wire.ts'
import { makeFolder } from '../../support/temp-folder.ts'

async function open() {
  const dir = makeFolder({ '.cairn/config.yaml': '', '.cairn/tasks/A.md': 'text', 'outside/B': '' })
  const store = await openStore(dir)
  const clock = { now: Date.now }
  const read = createFileReader({ store, clock, runOutput: 'none' })
  const tasks = join(store.root, 'tasks')
  const file = join(tasks, 'A.md')
  return { dir, root: store.root, tasks, file, state: () => read(file).state }
}

test('a file that was deleted is gone', async () => {
  const { file, state } = await open()
  rmSync(file)
  expect(state()).toBe('gone')
})

test('a file is not gone while the store or the folder of all tasks is missing, or something else stands in its folder’s place', async () => {
  const { dir, root, tasks, state } = await open()
  renameSync(tasks, join(dir, 'old'))
  expect(state()).toBe('later')
  symlinkSync(join(dir, 'outside'), tasks)
  expect(state()).toBe('later')
  rmSync(tasks)
  writeFileSync(tasks, 'a file')
  expect(state()).toBe('later')
  rmSync(tasks)
  mkdirSync(tasks)
  expect(state()).toBe('gone')
  rmSync(root, { recursive: true })
  expect(state()).toBe('later')
})

test('a file that is saved while a link has replaced a folder above it is read when that is back', async () => {
  const { dir, root, tasks, file, state } = await open()
  for (const folder of [tasks, root, dir]) {
    const away = `${folder}-away`
    renameSync(folder, away)
    symlinkSync(away, folder)
    writeFileSync(file, 'saved through the link')
    expect(state()).toBe('later')
    rmSync(folder)
    renameSync(away, folder)
    expect(state()).toBe('parsed')
  }
})

test('a run is published without secrets and NUL characters, cut once, and says how long it was', () => {
  const run = { file: 'A-1.log', timedout: false, exit: 1 }
  const outputOf = (output: string) => {
    const entry = publishedEntry(
      { kind: 'run', id: 'a', task: 'A-1', run: { ...run, output } },
      'masked',
    )
    return entry.kind === 'run' ? entry.run.output : undefined
  }
  expect(outputOf('a\0b')).toBe('a\ufffdb')
  expect(outputOf('GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789')).toContain('[redacted]')
  const cut = (size: string) => `\n[signalbox: cut at 512 KiB of ${size}]`
  for (const [text, size] of [
    ['x'.repeat(3 << 20), '3.0 MiB'],
    ['\0'.repeat(1 << 20), '1.0 MiB'],
    ['pw=a1b2c3d4e5 '.repeat(50_000), '684 KiB'],
  ] as const) {
    const output = outputOf(text) ?? ''
    expect(output.endsWith(cut(size))).toBe(true)
    expect(output.split('[signalbox: cut')).toHaveLength(2)
    expect(Buffer.byteLength(output) - Buffer.byteLength(cut(size))).toBeLessThanOrEqual(TEXT_BYTES)
  }
})
