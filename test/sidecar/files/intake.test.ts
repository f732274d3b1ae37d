import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileTable } from '../../../sidecar/files/file-table.ts'
import { Intake } from '../../../sidecar/files/intake.ts'
import { scan } from '../../../sidecar/files/scan.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const never = () => false

test('a file that could not be read, and was removed without a hint, is reported gone by the next scan', async () => {
  const dir = makeFolder({ '.cairn/config.yaml': '', '.cairn/tasks/A.md': 'text' })
  const store = await openStore(dir)
  const path = join(store.root, 'tasks', 'A.md')
  const files = new FileTable()
  const { size, mtimeMs, ctimeMs, ino } = lstatSync(path)
  const stat = { size, mtimeMs, ctimeMs, ino, isRacy: false }
  files.put(path, { hash: 'known', facts: [], stat })
  expect((await scan(store, files)).changed).not.toContain(path)
  const intake = new Intake({
    board: { hashOf: () => 'known', ingest: () => undefined, distrust: (it) => files.distrust(it) },
    read: () => ({ state: 'later', why: 'a disk that fails' }),
    log: () => undefined,
    elapsed: performance.now,
  })
  expect(await intake.take([path], () => undefined, never)).toEqual({ news: [], later: true })
  expect((await scan(store, files)).changed).toContain(path)
  await intake.take([path], () => undefined, never)
  rmSync(path)
  expect((await scan(store, files)).gone).toEqual([path])
})
