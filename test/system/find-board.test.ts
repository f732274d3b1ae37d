import { cp, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { findBoard, findProjects, makeExample } from '../../system/find-board.ts'
import { tempFolder } from '../support/temp-folder.ts'

let project: string
beforeEach(async () => {
  project = tempFolder()
  await cp('examples/board', project, { recursive: true })
  await mkdir(join(project, 'src/deep'), { recursive: true })
})

describe('the board of a project', () => {
  it.each(['', 'src/deep', '.cairn', '.cairn/tasks'])('is found from %j in it', async (folder) => {
    expect(await findBoard(join(project, folder))).toMatchObject({
      dir: project,
      store: { layout: 'cairn', root: join(project, '.cairn') },
    })
  })

  it('is not searched for outside of the repository', async () => {
    await mkdir(join(project, 'src/.git'))
    expect(await findBoard(join(project, 'src/deep'))).toBeUndefined()
    await mkdir(join(project, '.git'))
    expect(await findBoard(project)).toMatchObject({ dir: project })
  })
})

it('a layout that was left out is not said to be missing from a folder', async () => {
  await expect(findProjects([project], { only: ['kiro', 'bmad'] })).rejects.toThrow(
    `no kiro or bmad board (--only) in ${project}, nor below: looked for Kiro (`,
  )
})

describe('the example', () => {
  it('is never written into a folder that exists already', async () => {
    const dir = join(project, 'signalbox-example')
    await mkdir(dir)
    await expect(makeExample(project)).rejects.toThrow(`${dir} is there already`)
    expect(await readdir(dir)).toEqual([])
  })
})
