import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findStore, openStore, StoreError } from '../../../sidecar/layouts/registry.ts'
import { makeFolder } from './store.ts'

const CONFIG = 'states: [a]\n'

test.each([
  ['cairn', '.cairn', '.cairn/config.yaml'],
  ['backlog-md', 'backlog', 'backlog/config.yml'],
  ['task-master', '.taskmaster', '.taskmaster/tasks/tasks.json'],
  ['fresh task-master', '.taskmaster', '.taskmaster/config.json'],
  ['fresh task-master', '.taskmaster', '.taskmaster/state.json'],
])(
  'finds a %s board in the project and in the store folder %s by %s',
  async (name, folder, file) => {
    const layout = name.replace('fresh ', '')
    const dir = makeFolder({ [file]: CONFIG })
    for (const where of [dir, join(dir, folder)]) {
      expect(await openStore(where)).toMatchObject({ layout, root: join(dir, folder) })
    }
  },
)

test('tries the layouts in order', async () => {
  const dir = makeFolder({ '.cairn/config.yaml': CONFIG, 'backlog/config.yml': '' })
  expect((await openStore(dir)).layout).toBe('cairn')
})

test('gives the real path of a store behind a link', async () => {
  const dir = makeFolder({ 'real/.cairn/config.yaml': CONFIG })
  symlinkSync(join(dir, 'real'), join(dir, 'link'))
  expect((await openStore(join(dir, 'link'))).root).toBe(join(realpathSync(dir), 'real/.cairn'))
})

test('says what it looked for where there is no board, and makes nothing', async () => {
  const dir = makeFolder({ 'README.md': '' })
  mkdirSync(join(dir, '.cairn'))
  mkdirSync(join(dir, 'backlog'))
  mkdirSync(join(dir, '.taskmaster', 'tasks'), { recursive: true })
  await expect(openStore(dir)).rejects.toMatchObject({ name: 'StoreError', code: 'no_board' })
  await expect(openStore(dir)).rejects.toThrow('.cairn/config.yaml')
  expect(await findStore(dir)).toBeUndefined()
})

test('says that a path is no folder', async () => {
  const dir = makeFolder({ file: '' })
  for (const path of ['file', 'missing', 'file/below']) {
    await expect(openStore(join(dir, path))).rejects.toMatchObject({ code: 'not_a_folder' })
    expect(await findStore(join(dir, path))).toBeUndefined()
  }
  await expect(openStore(dir)).rejects.toBeInstanceOf(StoreError)
})
