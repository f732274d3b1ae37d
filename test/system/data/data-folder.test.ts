import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openDataFolder } from '../../../system/data/data-folder.ts'
import { writeLocalJson } from '../../../system/data/local-json.ts'
import { openSecret } from '../../../system/data/secret.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let parent: string
let dir: string
let notices: string[]
beforeEach(() => {
  parent = tempFolder()
  dir = join(parent, 'data')
  notices = []
})

const location = () => ({ dataDir: dir, trustsData: false, env: { HOME: join(parent, 'home') } })
const open = () => openDataFolder(location(), 'workerd', (sentence) => notices.push(sentence))
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
    ['one of an earlier start', 0o755, ['local.json']],
    ['one that others may only enter', 0o711, ['local.json']],
  ])('is closed if others have access to it: %s', async (_, mode, files) => {
    await existing(mode, files)
    if (files.length > 0) await openSecret(location(), () => undefined)
    await (await open()).release()
    expect(await modeOf(dir)).toBe(0o700)
    expect(notices).toEqual([
      `The data folder ${dir} was open to others; it is its owner's alone now (chmod 700).`,
    ])
  })

  it.each(['somebodys-file', 'secret'])(
    'is not a folder that is open to others and holds only files that may be of others: %s',
    async (file) => {
      await existing(0o755, [file])
      await expect(open()).rejects.toMatchObject({
        code: 'bad_data_folder',
        message: expect.stringContaining(`close it yourself (chmod 700 ${dir})`),
      })
      expect(await modeOf(dir)).toBe(0o755)
    },
  )

  it('is not a folder in which others could have written', async () => {
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

  it.each([
    ['logs', 'logs'],
    ['a file in a folder', 'workerd/worker.js'],
  ])('is refused for a link in it, and nothing behind the link changes: %s', async (_, name) => {
    const elsewhere = join(parent, 'elsewhere')
    await mkdir(elsewhere)
    await writeFile(join(elsewhere, 'foreign.log'), 'theirs')
    await mkdir(dir, { mode: 0o700 })
    await mkdir(dirname(join(dir, name)), { recursive: true })
    await symlink(elsewhere, join(dir, name))
    await expect(open()).rejects.toMatchObject({
      code: 'bad_data_folder',
      message: expect.stringContaining(`holds ${name}, which is a link`),
    })
    expect(await readdir(elsewhere)).toEqual(['foreign.log'])
    expect(await readFile(join(elsewhere, 'foreign.log'), 'utf8')).toBe('theirs')
  })

  it('is refused where it is a link itself, and what the link leads to is not closed', async () => {
    const elsewhere = join(parent, 'elsewhere')
    await mkdir(elsewhere)
    await chmod(elsewhere, 0o755)
    await symlink(elsewhere, dir)
    await expect(open()).rejects.toMatchObject({
      code: 'bad_data_folder',
      message: expect.stringContaining('is a link'),
    })
    expect(await modeOf(elsewhere)).toBe(0o755)
    expect(await readdir(elsewhere)).toEqual([])
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

  it.runIf(process.platform === 'linux')('is called read-only where it is', async () => {
    dir = '/sys/signalbox-data'
    await expect(open()).rejects.toMatchObject({
      code: 'bad_data_folder',
      message: expect.stringMatching(
        /is read-only for you \(E\w+\): choose another with --data\.$/,
      ),
    })
  })

  it('is refused while another start uses it, which is named with its address', async () => {
    await open()
    const url = 'http://127.0.0.1:8787'
    await writeLocalJson(dir, { url, serve: { boards: [], files: {} } })
    await expect(open()).rejects.toMatchObject({
      code: 'data_folder_in_use',
      message: expect.stringContaining(`already runs here at ${url} (pid `),
    })
  })
})
