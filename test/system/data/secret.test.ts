import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { findSecretFile, openSecret, type SecretLocation } from '../../../system/data/secret.ts'
import { compileCache } from '../../../worker/shared/user-folders-node.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const OTHERS_SECRET = 'known-to-those-who-made-the-archive-43-characters'

let parent: string
let dataDir: string
let notices: string[]
beforeEach(async () => {
  parent = tempFolder()
  dataDir = join(parent, 'project/.signalbox')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await mkdir(join(parent, 'tmp'))
  notices = []
})

function location(env: Record<string, string> = { HOME: join(parent, 'home') }): SecretLocation {
  return { dataDir, trustsData: false, env: { TMPDIR: join(parent, 'tmp'), ...env } }
}
const open = (at = location()) => openSecret(at, (sentence) => notices.push(sentence))
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

/** No folder can be made in it, not even by root. */
async function unwritable(): Promise<string> {
  await writeFile(join(parent, 'file'), '')
  return join(parent, 'file/home')
}

describe('the secret of a data folder', () => {
  it("is in the user's state folder, for its owner alone, and is made once", async () => {
    const secret = await open()
    expect(secret.length).toBeGreaterThanOrEqual(43)
    expect(await open()).toBe(secret)
    const file = (await findSecretFile(location())) ?? ''
    expect(dirname(dirname(file))).toBe(join(parent, 'home/.local/state/signalbox'))
    expect(basename(dirname(file))).toMatch(/^[0-9a-f]{64}$/)
    expect([await modeOf(file), await modeOf(dirname(file))]).toEqual([0o600, 0o700])
    expect(await readdir(dataDir)).toEqual([])
    expect(notices).toEqual([])
  })

  it('is in XDG_STATE_HOME, unless that is relative', async () => {
    const absolute = location({ HOME: join(parent, 'home'), XDG_STATE_HOME: join(parent, 'xdg') })
    await open(absolute)
    expect(await findSecretFile(absolute)).toContain(join(parent, 'xdg/signalbox/'))
    const relative = location({ HOME: join(parent, 'home'), XDG_STATE_HOME: 'xdg' })
    await open(relative)
    expect(await findSecretFile(relative)).toContain(join(parent, 'home/.local/state/signalbox/'))
  })

  it('is one, however the folder is named, and another one for another folder', async () => {
    const secret = await open()
    await symlink(dataDir, join(parent, 'link'))
    expect(await open({ ...location(), dataDir: join(parent, 'link') })).toBe(secret)
    await mkdir(join(parent, 'other'))
    expect(await open({ ...location(), dataDir: join(parent, 'other') })).not.toBe(secret)
  })

  it('is never the one that came with the folder, which stays as it is and is named once', async () => {
    await writeFile(join(dataDir, 'secret'), `${OTHERS_SECRET}\n`, { mode: 0o600 })
    expect(await findSecretFile(location())).toBeUndefined()
    expect(await open()).not.toBe(OTHERS_SECRET)
    expect(await readFile(join(dataDir, 'secret'), 'utf8')).toBe(`${OTHERS_SECRET}\n`)
    expect(notices).toEqual([
      expect.stringMatching(/^The secret in the data folder .* is not used/),
    ])
  })

  it('is made and read in the folder where that is trusted', async () => {
    const trusting = { ...location({}), trustsData: true }
    const secret = await open(trusting)
    expect(await readFile(join(dataDir, 'secret'), 'utf8')).toBe(`${secret}\n`)
    expect(await modeOf(join(dataDir, 'secret'))).toBe(0o600)
    expect(await open(trusting)).toBe(secret)
    expect(await findSecretFile(trusting)).toBe(join(dataDir, 'secret'))
    expect(notices).toEqual([])
  })

  it('is not read from a file with other content', async () => {
    await writeFile(join(dataDir, 'secret'), 'short\n')
    const read = open({ ...location(), trustsData: true })
    await expect(read).rejects.toMatchObject({ code: 'bad_data_folder' })
  })
})

describe('without a state folder that can be written', () => {
  it.each([
    ['HOME is not set', async () => ({})],
    ['HOME is relative', async () => ({ HOME: 'home' })],
    ['HOME is read-only', async () => ({ HOME: await unwritable() })],
  ])(
    "the secret is in a folder of the user's own among the temporary ones, and a line says so: %s",
    async (_, env) => {
      const at = location(await env())
      const secret = await open(at)
      const [own = ''] = await readdir(join(parent, 'tmp'))
      const folder = join(parent, 'tmp', own)
      expect(await modeOf(folder)).toBe(0o700)
      expect(notices).toEqual([expect.stringContaining(`the secret is in ${folder}`)])
      expect(await open(at)).toBe(secret)
      expect(await findSecretFile(at)).toContain(folder)
    },
  )

  it('a folder of that name is not taken that is open to others, or a link', async () => {
    const uid = process.getuid?.()
    const open777 = join(parent, 'tmp', `signalbox-${uid}-a`)
    await mkdir(open777)
    await chmod(open777, 0o777)
    await mkdir(join(parent, 'elsewhere'), { mode: 0o700 })
    await symlink(join(parent, 'elsewhere'), join(parent, 'tmp', `signalbox-${uid}-b`))
    await open(location({}))
    expect(await readdir(open777)).toEqual([])
    expect(await readdir(join(parent, 'elsewhere'))).toEqual([])
    expect(await readdir(join(parent, 'tmp'))).toHaveLength(3)
  })

  it('nor a temporary folder, it lasts for one run', async () => {
    const at = location({ TMPDIR: join(await unwritable(), 'tmp') })
    const secret = await open(at)
    expect(secret.length).toBeGreaterThanOrEqual(43)
    expect(notices).toEqual([expect.stringContaining('lasts until the end of this run')])
    expect(await findSecretFile(at)).toBeUndefined()
  })
})

describe('compiled code', () => {
  it("is kept in the user's cache folder, for its owner alone", async () => {
    const HOME = join(parent, 'home')
    const dir = compileCache({ HOME }) ?? ''
    expect(dir.startsWith(HOME)).toBe(true)
    expect(await modeOf(dir)).toBe(0o700)
    if (process.platform === 'linux') {
      const cache = join(parent, 'xdg')
      expect(compileCache({ HOME, XDG_CACHE_HOME: cache })).toBe(join(cache, 'signalbox/compiled'))
    }
  })

  it('is not kept without such a folder, nor where others may write to it', async () => {
    expect(compileCache({})).toBeUndefined()
    expect(compileCache({ HOME: await unwritable() })).toBeUndefined()
    const HOME = join(parent, 'home')
    await chmod(compileCache({ HOME }) ?? '', 0o777)
    expect(compileCache({ HOME })).toBeUndefined()
  })
})
