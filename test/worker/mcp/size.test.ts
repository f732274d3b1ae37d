// What MCP adds to a Worker, as wrangler bundles and uploads it.

import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import { parse } from 'smol-toml'
import { expect, it } from 'vitest'

function bundled(external: string[] = []) {
  const { outputFiles, metafile } = buildSync({
    entryPoints: ['worker/index.ts'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*', ...external],
    keepNames: true,
    minify: true,
  })
  const [{ contents } = { contents: '' }] = outputFiles
  const inputs = Object.keys(metafile.inputs)
  const hasMcp = inputs.some((input) => input.includes('node_modules/@modelcontextprotocol/'))
  return { packed: gzipSync(contents).length, hasMcp }
}

it('a Worker grows by 90 kB packed at most, and needs none of it before the first call', () => {
  const [whole, without] = [bundled(), bundled(['*/libraries/mcp/http.ts'])]
  expect([whole.hasMcp, without.hasMcp]).toEqual([true, false])
  expect(whole.packed - without.packed).toBeLessThan(90_000)
})

it.each(['wrangler.toml', 'examples/worker/wrangler.toml'])(
  'the Worker of %s is uploaded so, and its stack traces still name lines of the source',
  (file) => {
    const settings = parse(readFileSync(file, 'utf8'))
    expect(settings).toMatchObject({ minify: true, upload_source_maps: true })
  },
)
