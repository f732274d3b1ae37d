// The secret of a data folder, which signs its tokens and links. It is kept outside of that folder:
// a folder may have come with a repository or an archive, and then others know what is in it.

import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, lstat, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SECRET_BYTES } from '../../worker/shared/auth-config.ts'
import { errorCode } from '../../worker/shared/file-errors.ts'
import { readPlain } from '../../worker/shared/plain-file-node.ts'
import { makePrivateFolder } from '../../worker/shared/private-file-node.ts'
import { isOwnersAlone, stateFolder } from '../../worker/shared/user-folders-node.ts'
import { StartError } from '../start-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface SecretLocation {
  /** The data folder; exists. */
  dataDir: string
  /** The secret is inside, as containers need, which keep nothing but their data folder. */
  trustsData: boolean
  env: Environment
}

const NAME = 'secret'
const SECRET = /^[\w-]{43,}$/

/**
 * The secret, made at the first call: tokens in the hands of other programs outlive a restart.
 * `notice` gets a sentence if it is in an unusual folder. Throws StartError.
 */
export async function openSecret(
  location: SecretLocation,
  notice: (sentence: string) => void,
): Promise<string> {
  const { dataDir, trustsData, env } = location
  const dir = await realpath(dataDir)
  if (trustsData) {
    return await readOrMake(join(dir, NAME)).catch((cause: Error) => {
      if (cause instanceof StartError) throw cause
      const why = `The secret of the data folder ${dir} cannot be had (${cause.message}).`
      throw new StartError('bad_data_folder', why, { cause })
    })
  }
  if (existsSync(join(dir, NAME))) {
    const why = 'it may have come with the folder. Sign in again, or use it with --trust-data'
    notice(`The secret in the data folder ${dir} is not used, since ${why}.`)
  }
  const state = await stateOf(location)
  const kept = state && (await secretIn(state))
  if (kept) return kept
  const temporary = await temporaryFolder(env)
  const lent = temporary && (await secretIn(join(temporary, nameOf(dir))))
  const where = lent ? `is in ${temporary}, and lost with it` : 'lasts until the end of this run'
  const inside = '--trust-data keeps it in the data folder'
  notice(`No state folder of this user can be written, so the secret ${where}; ${inside}.`)
  return lent || newSecret()
}

/** The file of a secret that was made before. */
export async function findSecretFile(location: SecretLocation): Promise<string | undefined> {
  const { dataDir, trustsData, env } = location
  const dir = await realpath(dataDir)
  const outside = [stateFolder(env) ?? [], await ownTemporary(env)].flat()
  const folders = trustsData ? [dir] : outside.map((folder) => join(folder, nameOf(dir)))
  for (const folder of folders) {
    const stats = await lstat(join(folder, NAME)).catch(() => undefined)
    if (stats?.isFile()) return join(folder, NAME)
  }
  return undefined
}

/** A key of 32 bytes for one purpose. From one of them neither the secret nor another follows. */
export const derived = (secret: string, name: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `signalbox local ${name}`, 32))

/** What is kept of a data folder, outside of it. Undefined: this user has no state folder. */
export async function stateOf({ dataDir, env }: SecretLocation): Promise<string | undefined> {
  const state = stateFolder(env)
  return state && join(state, nameOf(await realpath(dataDir)))
}

/** By the real path: however the folder is named, it has one secret. */
const nameOf = (dir: string): string => createHash('sha256').update(dir).digest('hex')

/** Undefined: there can be none. Throws StartError for a file with other content. */
async function secretIn(folder: string): Promise<string | undefined> {
  try {
    makePrivateFolder(folder)
    return isOwnersAlone(await lstat(folder)) ? await readOrMake(join(folder, NAME)) : undefined
  } catch (error) {
    if (error instanceof StartError) throw error
    return undefined
  }
}

async function readOrMake(file: string): Promise<string> {
  if (!existsSync(file)) await make(file)
  const secret = (await readPlain(file)).text.trim()
  if (SECRET.test(secret)) return secret
  throw new StartError('bad_data_folder', `${file} holds no secret; remove it to get a new one.`)
}

async function make(file: string): Promise<void> {
  const fresh = `${file}.${process.pid}`
  await rm(fresh, { force: true })
  try {
    await writeFile(fresh, `${newSecret()}\n`, { mode: 0o600, flag: 'wx' })
    // Never replaces one that is there, and is never seen half-written.
    await link(fresh, file).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error
    })
  } finally {
    await rm(fresh, { force: true })
  }
}

const temporaryIn = (env: Environment): string => env.TMPDIR || tmpdir()
const prefix = (): string => `signalbox-${process.getuid?.()}-`

/** In the folder that all users share, another one may have made a folder of any name. */
async function ownTemporary(env: Environment): Promise<string[]> {
  const parent = temporaryIn(env)
  const names = await readdir(parent).catch((): string[] => [])
  const folders = names
    .filter((name) => name.startsWith(prefix()))
    .map((name) => join(parent, name))
  const own: string[] = []
  for (const folder of folders.toSorted()) {
    const stats = await lstat(folder).catch(() => undefined)
    if (stats?.isDirectory() && isOwnersAlone(stats)) own.push(folder)
  }
  return own
}

async function temporaryFolder(env: Environment): Promise<string | undefined> {
  const [own] = await ownTemporary(env)
  return own ?? (await mkdtemp(join(temporaryIn(env), prefix())).catch(() => undefined))
}

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url')
