import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

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
