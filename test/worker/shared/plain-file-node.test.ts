import { execFileSync } from 'node:child_process'
import { closeSync, truncateSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openToAdd, readPlain, textIn } from '../../../worker/shared/plain-file-node.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let dir: string
let file: string
beforeEach(async () => {
  dir = tempFolder()
  file = join(dir, 'file')
  await writeFile(file, 'a text')
})

/** Each makes something that is no file of ours, and names it. */
const ODD: [string, () => Promise<string>][] = [
  [
    'a pipe that nobody writes to',
    async () => {
      execFileSync('mkfifo', [join(dir, 'pipe')])
      return join(dir, 'pipe')
    },
  ],
  [
    'a folder',
    async () => {
      await mkdir(join(dir, 'folder'))
      return join(dir, 'folder')
    },
  ],
  [
    'a link to a file',
    async () => {
      await symlink(file, join(dir, 'link'))
      return join(dir, 'link')
    },
  ],
]

describe('a file that may not be what it should be', () => {
  it('is read if it is a regular file', async () => {
    expect((await readPlain(file)).text).toBe('a text')
    expect(await textIn(join(dir, 'none'))).toBeUndefined()
  })

  it.each(ODD)('is neither read nor waited for as %s', async (_, make) => {
    const path = await make()
    await expect(readPlain(path)).rejects.toThrow()
    expect(await textIn(path)).toBeUndefined()
  })

  it.each(ODD)('gets nothing added as %s', async (_, make) => {
    const path = await make()
    expect(() => openToAdd(path)).toThrow()
    expect(await readFile(file, 'utf8')).toBe('a text')
  })

  it('is added to where there is none yet, too', () => {
    for (const path of [file, join(dir, 'new')]) closeSync(openToAdd(path))
  })

  it('is read through a link where that is meant, and a device never is', async () => {
    await symlink(file, join(dir, 'link'))
    const followed = await readPlain(join(dir, 'link'), { followsLinks: true })
    expect(followed.text).toBe('a text')
    const device = readPlain('/dev/zero', { followsLinks: true })
    await expect(device).rejects.toMatchObject({ code: 'not_plain' })
  })

  it('is not read if it is far larger than files of ours are', async () => {
    truncateSync(file, 1 << 30)
    await expect(readPlain(file)).rejects.toMatchObject({ code: 'not_plain' })
  })
})
