import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Assets, cloudflareAssets } from '../../../worker/console/assets.ts'
import { folderAssets } from '../../../worker/console/assets-node.ts'
import { consolePageContract, INDEX, writePage } from '../../contract/console-page.ts'
import { processEdge } from '../../support/in-process-edge.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let folder: string
let assets: Assets
beforeAll(async () => {
  folder = tempFolder()
  await writePage(join(folder, 'page'))
  assets = folderAssets(join(folder, 'page'))
})

consolePageContract('the app in this process', { edge: () => processEdge({ assets }) })

describe('the page', () => {
  it('passes every request for another path to the host application', async () => {
    const seen: string[] = []
    const edge = processEdge({
      assets,
      hostFetch: ({ method, url }) => {
        seen.push(`${method} ${new URL(url).pathname}`)
        return new Response('the shop')
      },
    })
    for (const [path, method] of [
      ['/shop', 'GET'] as const,
      ['/', 'POST'] as const,
      ['/index.html', 'GET'] as const,
      ['/console/orders', 'GET'] as const,
      ['/console/a/b', 'GET'] as const,
    ]) {
      const response = await edge.fetch(path, { method })
      expect(await response.text(), path).toBe('the shop')
      expect(response.headers.get('Content-Security-Policy')).toBeNull()
      expect(response.headers.get('Cache-Control')).toBeNull()
    }
    expect(seen).toHaveLength(5)
    expect(await (await edge.fetch('/')).text()).toBe(INDEX)
  })

  it('lets the host application stream below /console/, as it is, without an ETag of ours', async () => {
    // Never ends.
    const body = new ReadableStream<string>({ start: (stream) => stream.enqueue('first') })
    const headers = { 'Content-Type': 'text/plain' }
    const hostFetch = () => new Response(body.pipeThrough(new TextEncoderStream()), { headers })
    const response = await processEdge({ assets, hostFetch }).fetch('/console/orders', {
      headers: { 'Accept-Encoding': 'gzip' },
    })
    expect(response.headers.get('ETag')).toBeNull()
    expect(response.headers.get('Vary')).toBe('Origin')
    expect(response.headers.get('Content-Encoding')).toBeNull()
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect(await reader?.read()).toEqual({ done: false, value: 'first' })
    await reader?.cancel()
  })

  it('is compressed where the host leaves it to the app, and revalidated by the same tag', async () => {
    const body = new TextEncoder().encode('a line of the page\n'.repeat(100))
    const edge = processEdge({ assets: { read: async () => ({ body }) } })
    const headers = { 'Accept-Encoding': 'gzip' }
    for (const path of ['/', '/console/main-1a2b3c4d.js']) {
      const response = await edge.fetch(path, { headers })
      expect(response.headers.get('Content-Encoding')).toBe('gzip')
      expect(gunzipSync(await response.arrayBuffer()).equals(body)).toBe(true)
      const tag = response.headers.get('ETag') ?? ''
      expect(tag).toMatch(/^W\//)
      const again = await edge.fetch(path, { headers: { ...headers, 'If-None-Match': tag } })
      expect(again.status).toBe(304)
      expect(again.headers.get('Vary')).toContain('Accept-Encoding')
    }
  })

  it('answers 503 with the build command, if it is not built', async () => {
    const response = await processEdge().fetch('/')
    expect(response.status).toBe(503)
    expect(await response.json()).toEqual({
      error: 'The console is not built: run npm run build.',
      code: 'console_not_built',
    })
  })
})

describe('the files of the page', () => {
  it('are read from their folder only', async () => {
    expect(await assets.read('index.html')).toBeDefined()
    for (const name of ['../secret.txt', '..', '.', '', '.hidden', '/etc/passwd', 'no.js']) {
      expect(await assets.read(name), name).toBeUndefined()
    }
  })

  it('are missing without a binding, and a failing binding is an error, not a missing file', async () => {
    expect(await cloudflareAssets(undefined).read('index.html')).toBeUndefined()
    const answers = (status: number) =>
      cloudflareAssets({ fetch: async () => new Response('x', { status }) })
    expect(await answers(404).read('index.html')).toBeUndefined()
    await expect(answers(500).read('index.html')).rejects.toThrow('500')
  })
})
