// The licenses of the libraries inside the bundles: each asks to come along with its code.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const FOLDER = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//

/** One text of all libraries, by name. Throws for one that names no license. */
export async function licensesOf(bundles: readonly Metafile[]): Promise<string> {
  const inputs = bundles.flatMap(({ inputs }) => Object.keys(inputs))
  const folders = new Set(inputs.flatMap((input) => FOLDER.exec(input)?.[1] ?? []))
  const texts = await Promise.all([...folders].toSorted().map(licenseOf))
  return texts.join(`\n\n${'-'.repeat(80)}\n\n`)
}

async function licenseOf(folder: string): Promise<string> {
  const dir = join(ROOT, folder)
  const manifest = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license?: string
  }
  const { name, version, license } = manifest
  if (license === undefined) throw new Error(`${folder} names no license.`)
  const title = `${name} ${version} (${license})`
  const file = (await readdir(dir)).find((entry) => /^licen[cs]e/i.test(entry))
  // Some packages name a license and leave its text out.
  if (file === undefined) return title
  return `${title}\n\n${(await readFile(join(dir, file), 'utf8')).trim()}`
}
