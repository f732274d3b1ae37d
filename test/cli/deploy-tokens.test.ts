import { readFile } from 'node:fs/promises'
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { writeTokens } from '../../cli/deploy/secrets.ts'
import { tempFolder } from '../support/temp-folder.ts'

it('the tokens of a deployment publish and read, and set nothing that agents get', async () => {
  const secret = 's'.repeat(43)
  const files = await writeTokens(tempFolder(), { secret, board: 'team/board', now: Date.now() })
  const scopeOf = async (file: string) => decodeJwt((await readFile(file, 'utf8')).trim()).scope
  expect(await scopeOf(files.sidecar)).toBe('board:read board:write')
  expect(await scopeOf(files.reader)).toBe('board:read')
})
