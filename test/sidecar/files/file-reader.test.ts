import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileReader } from '../../../sidecar/files/file-reader.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { makeFolder } from '../../support/temp-folder.ts'

async function open() {
  const dir = makeFolder({ '.cairn/config.yaml': '', '.cairn/tasks/A.md': 'text', 'outside/B': '' })
  const store = await openStore(dir)
  const clock = { now: Date.now }
  const { read } = new FileReader({ store, clock, runOutput: 'none' })
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
