import { build, type Plugin } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { StartError } from '../../../system/start-error.ts'
import { bundling } from '../../../tools/start/bundle.ts'

/** A module that is read when `when` is settled. */
const slow = (when: Promise<unknown>): Plugin => ({
  name: 'slow',
  setup: (it) => {
    it.onResolve({ filter: /^entry$/ }, () => ({ path: 'entry', namespace: 'slow' }))
    it.onLoad({ filter: /./, namespace: 'slow' }, async () => {
      await when
      return { contents: 'export const a = 1' }
    })
  },
})

const run = (when: Promise<unknown>) => () =>
  build({ entryPoints: ['entry'], plugins: [slow(when)], write: false, logLevel: 'silent' })

describe('builds', () => {
  it('that end earlier, or fail, do not affect one that is under way', async () => {
    const others = Promise.withResolvers<void>()
    const last = bundling('The last', run(others.promise))
    await bundling('The first', run(Promise.resolve()))
    const failing = bundling('The page', () => Promise.reject(new Error('no such file')))
    await expect(failing).rejects.toThrow(
      new StartError('bundle_failed', 'The page cannot be built: Error: no such file'),
    )
    others.resolve()
    await last
  })

  it('that fail name the place of the error', async () => {
    const stdin = { contents: 'const = 1', sourcefile: 'page.ts' }
    const wrong = bundling('The page', () => build({ stdin, write: false, logLevel: 'silent' }))
    await expect(wrong).rejects.toMatchObject({
      code: 'bundle_failed',
      message: expect.stringMatching(/^The page cannot be built: page\.ts:1: /),
    })
  })
})
