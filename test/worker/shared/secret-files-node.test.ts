// Secrets in files: which variables name them, and which files are refused.

import { execFileSync } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { withSecretFiles } from '../../../worker/shared/secret-files-node.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let dir = ''
beforeEach(() => {
  dir = tempFolder()
})

async function file(name: string, text: string, mode = 0o600): Promise<string> {
  const path = join(dir, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text)
  await chmod(path, mode)
  return path
}

const refusal = (env: Record<string, string>, prefixes?: string[]) =>
  withSecretFiles(env, prefixes).then(
    () => 'taken',
    ({ code, message }: Error & { code: string }) => `${code}: ${message}`,
  )

describe('secrets in files', () => {
  it('are refused, and not waited for, where the file is a pipe or a folder', async () => {
    const pipe = join(dir, 'pipe')
    execFileSync('mkfifo', ['-m', '600', pipe])
    await mkdir(join(dir, 'folder'), { mode: 0o700 })
    for (const path of [pipe, join(dir, 'folder')]) {
      expect(await refusal({ AUTH_SECRETS_FILE: path })).toContain('is no regular file')
    }
  })

  it('take the place of the variables that name them, without the line’s end', async () => {
    const secrets = await file('auth', 'the-new-one\nthe-old-one\n')
    const key = await file('key', 'the-key\n', 0o400)
    const env = { AUTH_SECRETS_FILE: secrets, SHOP_API_KEY_FILE: key, PORT: '1' }
    expect(await withSecretFiles(env, ['SHOP_'])).toEqual({
      AUTH_SECRETS: 'the-new-one\nthe-old-one',
      SHOP_API_KEY: 'the-key',
      // It is no setting of a gateway.
      AUTH_SECRETS_FILE: undefined,
      SHOP_API_KEY_FILE: undefined,
      PORT: '1',
    })
  })

  it('are the credentials of systemd that have the name of a variable', async () => {
    await file('credentials/AUTH_SECRETS', 'from-systemd', 0o400)
    await file('credentials/SHOP_API_KEY', 'a-key', 0o400)
    await file('credentials/OTHER_TOKEN', 'not-ours')
    const env = { CREDENTIALS_DIRECTORY: join(dir, 'credentials') }
    expect(await withSecretFiles(env, ['SHOP_'])).toEqual({
      ...env,
      AUTH_SECRETS: 'from-systemd',
      SHOP_API_KEY: 'a-key',
    })
    const gone = { CREDENTIALS_DIRECTORY: join(dir, 'nowhere') }
    expect(await withSecretFiles(gone)).toEqual(gone)
  })

  it('are not looked for where the variable is of another program, or no secret', async () => {
    const env = {
      GITHUB_TOKEN_FILE: join(dir, 'nowhere'),
      SIGNALBOX_TOKEN_FILE: join(dir, 'nowhere'),
      SHOP_LOG_FILE: join(dir, 'nowhere'),
      AUTH_SECRETS_FILE: '',
    }
    expect(await withSecretFiles(env, ['SHOP_'])).toEqual(env)
  })

  it('are refused where others may read or write the file', async () => {
    for (const mode of [0o640, 0o604, 0o620, 0o644]) {
      const path = await file('auth', 'a-secret', mode)
      const refused = await refusal({ AUTH_SECRETS_FILE: path })
      // Root may let the group of a service read.
      if (process.getuid?.() === 0 && mode === 0o640) expect(refused).toBe('taken')
      else
        expect(refused).toMatch(/^bad_secret_file: AUTH_SECRETS: .*others \(chmod 6[04]0 .*\)\.$/)
    }
  })

  it('are refused where the variable is set too, where there is no file, or it is empty', async () => {
    const path = await file('auth', 'a-secret')
    const both = await refusal({ AUTH_SECRETS: 'another', AUTH_SECRETS_FILE: path })
    expect(both).toBe(`bad_secret_file: AUTH_SECRETS is set, and ${path} has it too: keep one.`)
    const none = await refusal({ AUTH_SECRETS_FILE: join(dir, 'nowhere') })
    expect(none).toContain('cannot be read (ENOENT).')
    const empty = await refusal({ AUTH_SECRETS_FILE: await file('empty', '\n') })
    expect(empty).toContain('is empty.')
    expect([both, none, empty].join()).not.toContain('a-secret')
  })
})
