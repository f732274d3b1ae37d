import { mkdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { cli, useBoardAndEdge } from './board-and-edge.ts'
import { run } from './run.ts'

useBoardAndEdge()

let elsewhere: string
beforeEach(async () => {
  elsewhere = tempFolder()
  await rename(join(cli.board, '.cairn'), join(elsewhere, '.cairn'))
  await symlink(join(elsewhere, '.cairn'), join(cli.board, '.cairn'))
})

describe('a board behind a link that leads out of DIR', () => {
  const dir = () => join(cli.board, 'deep')
  test.each([
    ['watch', () => ['watch', cli.board]],
    ['watch --wait', () => ['watch', cli.board, '--wait']],
    ['sync', () => ['sync', cli.board]],
    ['dev', () => ['dev', dir()]],
    ['start', () => ['start', '--store', cli.board, '--data', join(cli.home, 'd')]],
  ])('is refused by %s with exit code 2, and nothing is published', async (_, argv) => {
    await mkdir(dir())
    const { code, err } = await run(argv(), cli.env())
    expect(code).toBe(2)
    expect(err).toMatch(
      /^signalbox: The board in .* is a link that leads out of it, .*--follow-links/,
    )
    expect(await cli.title('T-1')).toBe('unknown_repository')
  })

  test('is an error for the doctor, and is published where links are followed', async () => {
    const found = await run(['doctor', cli.board], cli.env())
    expect([found.code, found.out]).toEqual([1, expect.stringMatching(/^error +board .*a link/)])
    expect((await run(['doctor', cli.board, '--follow-links'], cli.env())).code).toBe(0)
    expect((await run(['sync', cli.board, '--follow-links'], cli.env())).code).toBe(0)
    expect(await cli.title('T-1')).toBe('One')
  })
})
