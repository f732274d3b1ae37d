// A driver of one's own, as docs/drivers.md tests it, in a folder outside of a clone.

import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type InstalledPackage, MACHINE, run } from '../../support/installed-package.ts'

const VITEST = 'node_modules/vitest'

export function ownDriver(installed: () => InstalledPackage): void {
  describe('a driver of one’s own', () => {
    let folder: string
    beforeAll(async () => {
      folder = join(installed().folder, 'driver')
      await mkdir(join(folder, 'node_modules'), { recursive: true })
      for (const name of ['acme.ts', 'acme-fixtures.ts', 'acme.test.ts']) {
        await cp(join(installed().dir, 'examples/worker', name), join(folder, name))
      }
      await symlink(resolve('node_modules/zod'), join(folder, 'node_modules/zod'))
      await symlink(resolve(VITEST), join(folder, VITEST))
    })

    /** The suite's report, also if it fails. */
    const tested = async (...args: string[]): Promise<string> => {
      const done = run(process.execPath, args, { cwd: folder, env: { ...MACHINE, NO_COLOR: '1' } })
      const { stdout } = await done.catch((error: { stdout: string }) => error)
      return stdout
    }
    const inNode = () => tested('--test', '--test-reporter=tap')

    it('passes the suite in node:test', async () => {
      const report = await inNode()
      expect(report).toMatch(/^# fail 0$/m)
      expect(Number(/^# pass (\d+)$/m.exec(report)?.[1])).toBeGreaterThan(100)
      expect(report).toContain('gives one event the same id at every delivery')
    })

    it('fails, with the sentence that it breaks, if it parses before it verifies', async () => {
      const file = join(folder, 'acme.ts')
      const text = await readFile(file, 'utf8')
      const careless = text.replace('if (!isGenuine) throw', 'if (isGenuine === null) throw')
      expect(careless).not.toBe(text)
      await writeFile(file, careless)
      const report = await inNode()
      await writeFile(file, text)
      expect(report).toMatch(/^ *not ok \d+ - refuses every forged callback/m)
      expect(report).toMatch(/^# fail 2$/m)
    })

    it('passes the suite in vitest, with another second line', async () => {
      const text = await readFile(join(folder, 'acme.test.ts'), 'utf8')
      const own = text.replace("'node:test'", "'vitest'")
      expect(own.split('\n')[1]).toBe("import { test } from 'vitest'")
      await writeFile(join(folder, 'acme.vitest.test.ts'), own)
      const vitest = join(resolve(VITEST), 'vitest.mjs')
      expect(await tested(vitest, 'run', 'acme.vitest.test.ts')).toMatch(
        /Tests +1\d\d passed \(1\d\d\)/,
      )
    })
  })
}
