// What is in the package, and that others can use it as it says.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Analysis, checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import type { InstalledPackage } from '../support/installed-package.ts'

/**
 * The profile `esm-only` of @arethetypeswrong/cli: there is no CommonJS, and every Node that it is
 * for can `require` an ES module.
 */
const IGNORED: readonly string[] = ['node10', 'node16-cjs']

export function packageFiles(installed: () => InstalledPackage): void {
  describe('the files of the package', () => {
    it('are what it runs and its types, and no sources and no tests', async () => {
      const { dir } = installed()
      expect((await readdir(dir)).sort()).toEqual([
        ...['LICENSE', 'LICENSES.txt', 'README.md', 'client.js', 'client.js.map', 'console'],
        ...['events.js', 'events.js.map', 'examples', 'migrations', 'node', 'package.json'],
        ...['payments.js', 'payments.js.map', 'schema.sql', 'types', 'worker.js'],
      ])
      const all = await readdir(dir, { recursive: true })
      expect(all.filter((name) => /test|(?<!\.d)\.tsx?$/.test(name))).toEqual([])
      expect(all).toContain('examples/board/.cairn/config.yaml')
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

    it('have nothing that publint finds', async () => {
      const { messages, pkg } = await publint({ pkgDir: installed().dir, strict: true })
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
