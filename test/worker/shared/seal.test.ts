import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSeal } from '../../../worker/shared/seal.ts'

const secret = () => randomBytes(32).toString('base64url')
const ADDRESS = 'https://hooks.slack.com/services/T0/B0/very-secret'

describe('what is kept encrypted', () => {
  it('is read again with the secret that closed it, also once it is the second', async () => {
    const [old, next] = [secret(), secret()]
    const [sealed = ''] = await createSeal([old], 'tests').close(ADDRESS)
    expect(await createSeal([old], 'tests').open(sealed)).toBe(ADDRESS)
    expect(await createSeal([next, old], 'tests').open(sealed)).toBe(ADDRESS)
  })

  it('is known again while a secret is replaced: each closes it', async () => {
    const [old, next] = [secret(), secret()]
    const by = async (...secrets: string[]) => await createSeal(secrets, 'tests').close(ADDRESS)
    expect(await by(next, old)).toEqual([...(await by(next)), ...(await by(old))])
  })

  it('says nothing of the text, and is nothing for another secret or another purpose', async () => {
    const own = secret()
    const [sealed = ''] = await createSeal([own], 'tests').close(ADDRESS)
    expect(atob(sealed)).not.toContain('slack')
    expect(await createSeal([secret()], 'tests').open(sealed)).toBeUndefined()
    expect(await createSeal([own], 'other tests').open(sealed)).toBeUndefined()
    expect(await createSeal([own], 'tests').open(btoa(`${atob(sealed)}x`))).toBeUndefined()
  })

  it('is the same for the same text, and only for that', async () => {
    const { close } = createSeal([secret()], 'tests')
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), async (one, other) => {
        expect((await close(one))[0] === (await close(other))[0]).toBe(one === other)
      }),
      { numRuns: 30 },
    )
  })

  it('is not kept at all where there is no secret', async () => {
    expect(await createSeal([], 'tests').close(ADDRESS)).toEqual([])
  })
})
