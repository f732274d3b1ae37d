import { readFile } from 'node:fs/promises'
import { decodeJwt } from 'jose'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { keepSecret, noticeSecretOf, writeTokens } from '../../cli/deploy/secrets.ts'
import { NOTICE_SECRET } from '../support/edge.ts'
import { tempFolder } from '../support/temp-folder.ts'

const secret = 's'.repeat(43)

it('the tokens of a deployment publish and read, and set nothing that agents get', async () => {
  const files = await writeTokens(tempFolder(), { secret, board: 'team/board', now: Date.now() })
  const scopeOf = async (file: string) => decodeJwt((await readFile(file, 'utf8')).trim()).scope
  expect(await scopeOf(files.sidecar)).toBe('board:read board:write')
  expect(await scopeOf(files.reader)).toBe('board:read')
})

it('a new Worker can sign notices, and one that can goes on with what it has', async () => {
  const kept = tempFolder()
  const made = await noticeSecretOf(kept, {}, { secret, hasOwn: false })
  expect(() => new Webhook(made ?? '')).not.toThrow()
  expect(await noticeSecretOf(kept, {}, { secret, hasOwn: false })).toBe(made)
  expect(await noticeSecretOf(kept, {}, { secret, hasOwn: true })).toBeUndefined()
  expect(await noticeSecretOf(kept, {}, { secret: undefined, hasOwn: false })).toBeUndefined()
  const given = `${NOTICE_SECRET} ${made}`
  expect(await noticeSecretOf(kept, { NOTICE_SECRET: given }, { secret, hasOwn: true })).toBe(given)
  await keepSecret(kept, 'notice-secret', given)
  // A new secret of tokens does not end it.
  const another = 't'.repeat(43)
  expect(await noticeSecretOf(kept, {}, { secret: another, hasOwn: true })).toBe(given)
  const wrong = noticeSecretOf(kept, { NOTICE_SECRET: 'geheim' }, { secret, hasOwn: true })
  await expect(wrong).rejects.toThrow('NOTICE_SECRET: a secret must begin with whsec_.')
})
