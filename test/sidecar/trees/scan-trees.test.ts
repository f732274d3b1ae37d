import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { openBoard } from '../../../sidecar/open-sidecar.ts'
import { scanTrees, treesRead } from '../../../sidecar/trees/scan-trees.ts'
import { hostClock } from '../../../worker/shared/clock.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const CONFIG = 'project_name: Tea\n'
const TASK = 'backlog/tasks/task-1 - Tea.md'
const text = (status: string) => `---\nid: task-1\ntitle: Tea\nstatus: ${status}\n---\n`

test('a tree that moves on before its files are read is not read, and what it had before stands', async () => {
  const files = (place: string, status: string) => ({
    [`${place}/backlog/config.yml`]: CONFIG,
    [`${place}/${TASK}`]: text(status),
  })
  const home = makeFolder({ ...files('main', 'To Do'), ...files('feat', 'Done') })
  const store = await openStore(join(home, 'main'))
  const { board, read } = openBoard({ store, runOutput: 'none', log: () => undefined })
  const take = (paths: Iterable<string>) => {
    for (const path of paths) {
      const found = read(path, board.hashOf(path))
      if (found.state !== 'later') board.ingest(path, found.state === 'gone' ? null : found.file)
    }
  }
  const treeIn = async (place: string) => ({
    name: 'feat',
    dir: join(home, place),
    store: await openStore(join(home, place)),
    bases: [new Map([[TASK, 'b'.repeat(40)]])],
    algorithm: 'sha1' as const,
    isSparse: false,
  })
  /** As a turn of the sidecar does; `meanwhile` between the scan of the trees and the reading. */
  const turn = async (meanwhile: () => void = () => undefined) => {
    const report = await scanTrees(board.trees, undefined, hostClock)
    meanwhile()
    take([...report.found.values()].flat())
    board.trees.read(treesRead(report, board.trees))
    return board.trees.of('task:task-1')?.marks
  }
  const move = (from: string, to: string) => renameSync(join(home, from), join(home, to))
  take([join(home, 'main', TASK)])
  const feat = await treeIn('feat')
  board.trees.take([feat])
  const done = (dir: string) => [{ tree: 'feat', dir, status: 'Done' }]
  expect(await turn()).toMatchObject(done(feat.dir))

  move('feat', 'moved')
  board.trees.take([await treeIn('moved')])
  expect(await turn(() => move('moved', 'again'))).toMatchObject(done(feat.dir))
  const again = await treeIn('again')
  board.trees.take([again])
  // Away and back.
  const isAway = await turn(() => move('again', 'away'))
  move('away', 'again')
  expect(isAway).toMatchObject(done(feat.dir))
  expect(await turn()).toMatchObject(done(again.dir))
})
