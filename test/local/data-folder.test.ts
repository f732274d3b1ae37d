import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDataFolder } from '../../local/data-folder.ts'

let parent: string
let dir: string
let notices: string[]
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'signalbox-folder-'))
  dir = join(parent, 'data')
  notices = []
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const open = () => openDataFolder(dir, 'workerd', (sentence) => notices.push(sentence))
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

/** With exactly this mode, independent of the umask. */
async function existing(mode: number, files: string[] = []): Promise<void> {
  await mkdir(dir)
  for (const file of files) await writeFile(join(dir, file), '')
  await chmod(dir, mode)
}

describe('the data folder', () => {
  it('is created for its owner alone', async () => {
    await (await open()).release()
    expect(await modeOf(dir)).toBe(0o700)
    expect(notices).toEqual([])
  })

  it.each([
    ['an empty one', 0o775, []],
    ['one of an earlier start', 0o755, ['secret']],
    ['one that others may only enter', 0o711, ['secret', 'local.json']],
  ])('is closed if others have access to it: %s', async (_, mode, files) => {
    await existing(mode, files)
    await (await open()).release()
    expect(await modeOf(dir)).toBe(0o700)
    expect(notices).toEqual([
      `The data folder ${dir} was open to others; it is its owner's alone now (chmod 700).`,
    ])
  })

  it('is not a folder with other files that is open to others', async () => {
    await existing(0o755, ['somebodys-file'])
    await expect(open()).rejects.toMatchObject({
      code: 'bad_data_folder',
      message: expect.stringContaining(`close it yourself (chmod 700 ${dir})`),
    })
    expect(await modeOf(dir)).toBe(0o755)
  })

  it('is not a folder in which others could have written the secret', async () => {
    await existing(0o777, ['secret'])
    await expect(open()).rejects.toMatchObject({
      code: 'bad_data_folder',
      message: expect.stringContaining('others may write'),
    })
    expect(await modeOf(dir)).toBe(0o777)
  })

  it.skipIf(process.getuid?.() !== 0)('is not a folder of another user', async () => {
    await existing(0o700)
    await chown(dir, 65_534, 65_534)
    await expect(open()).rejects.toMatchObject({
      code: 'bad_data_folder',
      message: expect.stringContaining('belongs to another user (uid 65534)'),
    })
  })

  it("renames the last run's logs", async () => {
    const first = await open()
    await writeFile(first.logFile('sqld'), 'old')
    await first.release()
    const second = await open()
    expect(await readdir(join(dir, 'logs'))).toEqual(['sqld.log.1'])
    await second.release()
  })

  it('is refused if it cannot be written', async () => {
    await writeFile(join(parent, 'file'), '')
    dir = join(parent, 'file/data')
    await expect(open()).rejects.toMatchObject({ code: 'bad_data_folder' })
  })

  it('is refused while another start uses it', async () => {
    await open()
    await expect(open()).rejects.toMatchObject({ code: 'data_folder_in_use' })
  })
})
