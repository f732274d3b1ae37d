import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { tempFolder } from '../support/temp-folder.ts'
import { wranglerEnv } from '../support/wrangler-dev.ts'

interface Wrangler {
  vars: Record<string, string>
  assets: { binding: string }
  durable_objects: { bindings: { name: string }[] }
  build: { command: string }
}
const wrangler = parse(readFileSync('wrangler.toml', 'utf8')) as unknown as Wrangler

test('the button describes all that it asks for, and each binding', () => {
  const { vars, assets, durable_objects } = wrangler
  const objects = durable_objects.bindings.map(({ name }) => name)
  const names = [...Object.keys(vars), assets.binding, ...objects, 'AUTH_SECRETS']
  const described = Object.entries(manifest.cloudflare.bindings)
  expect(new Set(described.map(([name]) => name))).toEqual(new Set(names))
  for (const [, { description }] of described) expect(description).toMatch(/\w{3}.*\.$/)
})

test('what the button runs makes the page and the Worker, and not the npm package', () => {
  const { scripts } = manifest
  expect([scripts.build, scripts.deploy]).toEqual(['node console/build.ts', 'wrangler deploy'])
  expect(wrangler.build.command).toBe('npm run build')
})

/** What the page asks of an account, for which an address and a secret are not needed here. */
const lines = readFileSync('docs/deploy.md', 'utf8').matchAll(
  /npx wrangler ((?:tail|rollback|secret bulk)\b[^`<\n)]*)/g,
)
const ASKED = new Set(Array.from(lines, ([, line = '']) => line.trim()))

test.each([...ASKED])('wrangler understands what the page asks it for: %s', (line) => {
  expect(ASKED.size).toBe(3)
  const wrangler = resolve('node_modules/wrangler/bin/wrangler.js')
  const home = tempFolder()
  const { stdout, stderr } = spawnSync(process.execPath, [wrangler, ...line.split(' ')], {
    env: wranglerEnv(home),
    cwd: home,
    encoding: 'utf8',
    input: '',
  })
  expect(stdout + stderr).not.toMatch(/Unknown argument|Not enough/)
  // Its next question.
  expect(stdout + stderr).toMatch(/CLOUDFLARE_API_TOKEN|Worker name/i)
})
