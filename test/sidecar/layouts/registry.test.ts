import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findStore, openStore, StoreError } from '../../../sidecar/layouts/registry.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const CONFIG = 'states: [a]\n'

test.each([
  ['cairn', '.cairn', '.cairn/config.yaml'],
  ['backlog-md', 'backlog', 'backlog/config.yml'],
  ['task-master', '.taskmaster', '.taskmaster/tasks/tasks.json'],
  ['fresh task-master', '.taskmaster', '.taskmaster/config.json'],
  ['fresh task-master', '.taskmaster', '.taskmaster/state.json'],
  ['openspec', 'openspec', 'openspec/changes/add-tea/tasks.md'],
  ['fresh openspec', 'openspec', 'openspec/config.yaml'],
  ['kiro', '.kiro', '.kiro/specs/tea/tasks.md'],
  ['fresh kiro', '.kiro', '.kiro/steering/product.md'],
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

test('finds a spec-kit board by its folder, before it has any feature', async () => {
  const dir = makeFolder({ '.specify/templates/tasks-template.md': '- [ ] T001 No task\n' })
  expect(await openStore(dir)).toMatchObject({ layout: 'spec-kit', root: dir })
})

test('finds a BMAD board by its manifest, before it has a sprint', async () => {
  const dir = makeFolder({ '_bmad/_config/manifest.yaml': '' })
  expect(await openStore(dir)).toMatchObject({ layout: 'bmad', root: dir })
})

test('tries the layouts in order', async () => {
  const dir = makeFolder({ '.cairn/config.yaml': CONFIG, 'backlog/config.yml': '' })
  expect((await openStore(dir)).layout).toBe('cairn')
  const both = makeFolder({ 'openspec/config.yaml': '', '.taskmaster/config.json': '' })
  expect((await openStore(both)).layout).toBe('task-master')
})

test('finds the board of a project that is named after the folder of its store', async () => {
  const dir = makeFolder({ 'openspec/openspec/config.yaml': '' })
  expect((await openStore(join(dir, 'openspec'))).root).toBe(join(dir, 'openspec/openspec'))
})

test('gives the real path of a store behind a link', async () => {
  const dir = makeFolder({ 'real/.cairn/config.yaml': CONFIG })
  symlinkSync(join(dir, 'real'), join(dir, 'link'))
  expect((await openStore(join(dir, 'link'))).root).toBe(join(realpathSync(dir), 'real/.cairn'))
})

test.each([
  ['cairn', '.cairn', { 'config.yaml': CONFIG }],
  ['backlog-md', 'backlog', { 'config.yml': CONFIG }],
  ['task-master', '.taskmaster', { 'tasks/tasks.json': '{}' }],
  ['openspec', 'openspec', { 'config.yaml': '' }],
  ['kiro', '.kiro', { 'steering/product.md': '' }],
])(
  'refuses a %s board behind a link that leads out of the folder, unless links are followed',
  async (_, folder, files) => {
    const elsewhere = makeFolder(files)
    const dir = makeFolder({ 'README.md': '' })
    symlinkSync(elsewhere, join(dir, folder))
    const refused = expect.objectContaining({ name: 'StoreError', code: 'linked_elsewhere' })
    await expect(openStore(dir)).rejects.toEqual(refused)
    await expect(findStore(dir)).rejects.toEqual(refused)
    expect((await openStore(dir, { followsLinks: true })).root).toBe(realpathSync(elsewhere))
    // The link itself is named: that is the board that a person means.
    expect((await openStore(join(dir, folder))).root).toBe(realpathSync(elsewhere))
  },
)

test('refuses a folder of tasks that the configuration names behind such a link', async () => {
  const elsewhere = makeFolder({ 'tasks/back-1 - A.md': '' })
  const dir = makeFolder({ 'backlog.config.yml': 'backlog_directory: work\n' })
  symlinkSync(elsewhere, join(dir, 'work'))
  await expect(openStore(dir)).rejects.toMatchObject({ code: 'linked_elsewhere' })
})

test('finds a board behind a link that stays in the folder', async () => {
  const dir = makeFolder({ 'boards/one/config.yaml': CONFIG })
  symlinkSync('boards/one', join(dir, '.cairn'))
  expect((await openStore(dir)).root).toBe(join(realpathSync(dir), 'boards/one'))
})

test.each([
  ['cairn', '.cairn/tasks', { '.cairn/config.yaml': '', 'other/T-1.md': '' }],
  ['cairn', '.cairn/runs', { '.cairn/config.yaml': '', 'other/T-1.md': '' }],
  ['backlog-md', 'backlog/tasks', { 'backlog/config.yml': '', 'other/back-1 - A.md': '' }],
  ['task-master', '.taskmaster/tasks', { '.taskmaster/config.json': '', 'other/tasks.json': '{}' }],
  ['openspec', 'openspec/changes', { 'openspec/config.yaml': '', 'other/a/tasks.md': '' }],
  ['kiro', '.kiro/specs', { '.kiro/steering/tech.md': '', 'other/a/tasks.md': '' }],
  ['spec-kit', 'specs', { '.specify/a': '', 'other/a/tasks.md': '' }],
  [
    'bmad',
    '_bmad-output/implementation-artifacts',
    { '_bmad/_config/manifest.yaml': '', '_bmad-output/other/a.md': '' },
  ],
])('refuses a %s board whose %s is a link, followed or not', async (_name, folder, files) => {
  const dir = makeFolder(files)
  symlinkSync('../other', join(dir, folder))
  for (const followsLinks of [false, true]) {
    const opening = openStore(dir, { followsLinks })
    await expect(opening).rejects.toMatchObject({ name: 'StoreError', code: 'linked_folder' })
    await expect(opening).rejects.toThrow(`${join(dir, folder)} is a link`)
  }
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
