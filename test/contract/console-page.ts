// Serving the console's page, for every host of the app. A small page is enough: the edge does not
// depend on its content.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Edge } from '../support/edge.ts'

export const INDEX = '<!doctype html><title>Signalbox</title>'
const SCRIPT = 'main-ABCDEFGH.js'

const FILES: Record<string, { text: string; type: string }> = {
  [SCRIPT]: { text: 'export const a = 1\n', type: 'text/javascript; charset=utf-8' },
  'main-ABCDEFGH.css': { text: 'a { color: red }\n', type: 'text/css; charset=utf-8' },
  'icon-ABCDEFGH.svg': { text: '<svg xmlns="http://www.w3.org/2000/svg"/>', type: 'image/svg+xml' },
}

/** The folder of the page, which the edge needs. */
export async function writePage(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true })
  await writeFile(join(dir, 'index.html'), INDEX)
  for (const [name, { text }] of Object.entries(FILES)) await writeFile(join(dir, name), text)
  await writeFile(join(dir, '.hidden'), 'not for anybody')
  // Outside the folder: must not be served.
  await writeFile(join(dir, '../secret.txt'), 'not for anybody')
}

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; " +
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types dompurify markdown-worker",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

function expectHeaders(response: Response, more: Record<string, string>): void {
  const expected = { ...HEADERS, ...more }
  const found = Object.keys(expected).map((name) => [name, response.headers.get(name)])
  expect(Object.fromEntries(found)).toEqual(expected)
}

/** `edge` has the page that `writePage` makes, and no host application. */
export function consolePageContract(name: string, host: { edge(): Edge }): void {
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    host.edge().fetch(path, { method, headers })

  describe(`the console's page on ${name}`, () => {
    it('is served at / with all security headers, and is revalidated each time', async () => {
      const response = await get('/')
      expect(response.status).toBe(200)
      const type = { 'Content-Type': 'text/html; charset=utf-8' }
      expectHeaders(response, { ...type, 'Cache-Control': 'no-cache' })
      expect(response.headers.get('ETag')).toMatch(/^(W\/)?"[0-9a-f]{40}"$/)
      expect(await response.text()).toBe(INDEX)
    })

    it.each(Object.entries(FILES))('serves %s as immutable', async (file, { text, type }) => {
      const response = await get(`/console/${file}`)
      expect(response.status).toBe(200)
      const caching = { 'Cache-Control': 'public, max-age=31536000, immutable' }
      expectHeaders(response, { 'Content-Type': type, ...caching })
      expect(await response.text()).toBe(text)
    })

    it.each(['/', `/console/${SCRIPT}`])('answers 304 for a cached %s', async (path) => {
      const first = await get(path)
      await first.text()
      const tag = first.headers.get('ETag') ?? ''
      for (const known of [tag, `W/"other", W/${tag.replace('W/', '')}`, '*']) {
        const response = await get(path, { 'If-None-Match': known })
        expect(response.status, known).toBe(304)
        expectHeaders(response, { 'Cache-Control': first.headers.get('Cache-Control') ?? '' })
        expect(await response.text()).toBe('')
      }
      const changed = await get(path, { 'If-None-Match': '"other"' })
      expect(changed.status).toBe(200)
      await changed.text()
    })

    it.each(['/', `/console/${SCRIPT}`])('answers HEAD of %s without the body', async (path) => {
      const response = await get(path, {}, 'HEAD')
      expect(response.status).toBe(200)
      expectHeaders(response, {})
      expect(await response.text()).toBe('')
    })

    it.each([
      '/console/main-HGFEDCBA.js',
      '/console/',
      '/console',
      '/index.html',
      // Its name does not depend on its content.
      '/console/index.html',
      '/console/.hidden',
      '/console/%2e%2e%2fsecret.txt',
      '/console/..%2Fsecret.txt',
      '/console/..%5Csecret.txt',
      '/console/sub/main.js',
      '/console/%00',
      '/console/%ff',
      // Longer than a file's name can be.
      `/console/${'x'.repeat(300)}`,
    ])('is nothing at %s', async (path) => {
      const response = await get(path)
      expect(await response.json()).toEqual({ error: expect.any(String), code: 'not_found' })
      expect(response.status).toBe(404)
      expect(response.headers.get('Content-Security-Policy')).toBeNull()
    })

    it('accepts only GET and HEAD', async () => {
      for (const path of ['/', `/console/${SCRIPT}`]) {
        const response = await get(path, {}, 'POST')
        expect(response.status, path).toBe(404)
        await response.text()
      }
    })
  })
}
