// Secrets in files instead of variables, where others could see them: NAME_FILE names the file of
// NAME, and a credential of systemd has the name of its variable. A file of several variables is
// read under the same rule. For hosts that are a process.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from './file-errors.ts'
import { PlainFileError, readPlain } from './plain-file-node.ts'
import { isSecretName } from './secrets.ts'
import { VARIABLES } from './variables.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The message is one sentence for the operator. */
export class SecretFileError extends Error {
  override readonly name = 'SecretFileError'
  readonly code = 'bad_secret_file'
}

const SUFFIX = '_FILE'

/**
 * The variables with the secrets that are in files. `prefixes`: of the variables of gateways.
 * Throws SecretFileError.
 */
export async function withSecretFiles(
  env: Environment,
  prefixes: readonly string[] = [],
): Promise<Environment> {
  // Those of other programs have such names, too, and are none of our business.
  const isOurs = (name: string) =>
    VARIABLES[name]?.isSecret || (isSecretName(name) && prefixes.some((it) => name.startsWith(it)))
  const { CREDENTIALS_DIRECTORY: credentials } = env
  const files = new Map<string, string>()
  for (const name of credentials ? await namesIn(credentials) : []) {
    if (isOurs(name)) files.set(name, join(credentials ?? '', name))
  }
  const result: Record<string, string | undefined> = { ...env }
  for (const [variable, file] of Object.entries(env)) {
    const name = variable.slice(0, -SUFFIX.length)
    if (!file || !variable.endsWith(SUFFIX) || !isOurs(name)) continue
    files.set(name, file)
    // To its gateway it would be a setting.
    result[variable] = undefined
  }
  for (const [name, file] of files) {
    if (env[name]) throw new SecretFileError(`${name} is set, and ${file} has it too: keep one.`)
    result[name] = await secretIn(name, file)
  }
  return result
}

/** None where it cannot be read: it may be that of a service which started this one. */
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

const OTHERS = 0o077
/** Root lets a service read by its group, and systemd by a list that shows as the group. */
const OTHERS_OF_ROOT = 0o037

async function secretIn(name: string, file: string): Promise<string> {
  const secret = (await readPrivate(name, file)).trim()
  if (secret === '') throw refused(name, file, 'is empty')
  return secret
}

/** The text of a file that others must not read. `name`: what it is for. Throws SecretFileError. */
export async function readPrivate(name: string, file: string): Promise<string> {
  try {
    const { text, stats } = await readPlain(file, { followsLinks: true })
    const { mode, uid } = stats
    const others = uid === 0 ? OTHERS_OF_ROOT : OTHERS
    if (process.platform !== 'win32' && (mode & others) !== 0) {
      const enough = uid === 0 ? '640' : '600'
      throw refused(name, file, `can be read or written by others (chmod ${enough} ${file})`)
    }
    return text
  } catch (error) {
    if (error instanceof SecretFileError) throw error
    if (error instanceof PlainFileError) throw refused(name, file, error.why)
    throw refused(name, file, `cannot be read (${errorCode(error)})`)
  }
}

const refused = (name: string, file: string, why: string) =>
  new SecretFileError(`${name}: the file ${file} ${why}.`)
