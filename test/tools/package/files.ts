// What is in the package, and that others can use it as it says.

import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Analysis, checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { describe, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import type { InstalledPackage } from '../../support/installed-package.ts'

/**
 * The profile `esm-only` of @arethetypeswrong/cli: there is no CommonJS, and every Node that it is
 * for can `require` an ES module.
 */
const IGNORED: readonly string[] = ['node10', 'node16-cjs']

export function packageFiles(installed: () => InstalledPackage): void {
  describe('the files of the package', () => {
    it('are what it runs, its types, pages and examples, and no sources and no tests', async () => {
      const { dir } = installed()
      // biome-ignore format: several names a line.
      expect((await readdir(dir)).sort()).toEqual([
        'LICENSE', 'LICENSES.txt', 'README.md', 'client.js', 'client.js.map', 'console', 'docs',
        'events.js', 'events.js.map', 'examples', 'migrations', 'node', 'package.json',
        'payments.js', 'payments.js.map', 'schema.sql', 'types', 'worker.js',
      ])
      const all = await readdir(dir, { recursive: true })
      const shipped = all.filter((name) => !name.startsWith('examples/'))
      expect(shipped.filter((name) => /\.test\.|(?<!\.d)\.tsx?$/.test(name))).toEqual([])
      expect(all).toContain('examples/board/.cairn/config.yaml')
      expect(all).toContain('examples/shop/express.mts')
      expect(all).toContain('examples/worker/acme.test.ts')
      expect(all.filter((name) => /^console\/main-/.test(name))).toHaveLength(2)
    })

    it('need libSQL’s binary alone, and name their license and the libraries inside', async () => {
      const { dir } = installed()
      const own = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')) as object
      const dependencies = { libsql: manifest.dependencies.libsql }
      expect(own).toMatchObject({ version: manifest.version, license: 'MIT', dependencies })
      const licenses = await readFile(join(dir, 'LICENSES.txt'), 'utf8')
      for (const name of ['chokidar', 'commander', 'hono', 'jose', 'preact', 'zod']) {
        expect(licenses).toMatch(new RegExp(`^${name} \\d`, 'm'))
      }
    })

    it('have no link that leads to a file outside of the package', async () => {
      const { dir } = installed()
      const all = await readdir(dir, { recursive: true })
      const pages = all.filter((name) => name.endsWith('.md'))
      expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/shop.md', 'docs/deploy.md']))
      const links = pages.map(async (page) => {
        const text = await readFile(join(dir, page), 'utf8')
        const targets = Array.from(text.matchAll(/\]\((?!https?:|#)([^)#]+)/g), ([, it = '']) => it)
        return targets.map((target) => ({ page, target, file: join(dir, dirname(page), target) }))
      })
      const found = (await Promise.all(links)).flat()
      expect(found).toContainEqual(expect.objectContaining({ target: 'docs/shop.md' }))
      expect(found.filter(({ file }) => !file.startsWith(dir) || !existsSync(file))).toEqual([])
    })

    it('have nothing that publint finds', async () => {
      const tarball = new Uint8Array(await readFile(installed().tarball)).buffer
      const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
      expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
    })

    it('have types that fit wherever they are imported', async () => {
      const tarball = createPackageFromTarballData(await readFile(installed().tarball))
      const { problems } = (await checkPackage(tarball)) as Analysis
      const found = problems.filter(
        (problem) => !('resolutionKind' in problem && IGNORED.includes(problem.resolutionKind)),
      )
      expect(found).toEqual([])
    })
  })
}
