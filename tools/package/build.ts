// Builds the npm package `signalbox` in dist/signalbox: the command line, the libraries with their
// types, the console's page, the schema of payments, the pages for users and the examples.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Metafile } from 'esbuild'
import { buildConsole } from '../../console/build.ts'
import { bundleForAnyHost, bundleForNode, bundleForWorkerd } from './bundle.ts'
import { packageManifest, TYPED, workerManifest } from './manifest.ts'
import { writeTypes } from './types.ts'

const ROOT = join(import.meta.dirname, '../..')
/** For users. What is for contributors (architecture, design, reliability) is in a clone. */
// biome-ignore format: several names a line.
const PAGES = [
  'agents', 'api', 'boards', 'client', 'console', 'deploy', 'drivers', 'events', 'metrics',
  'payments', 'performance', 'protocol', 'scaling', 'serve', 'shop', 'simulator',
].map((name) => `docs/${name}.md`)
const LINKED = ['README.md', 'examples/README.md', ...PAGES]
const EXAMPLES = ['board', 'receivers', 'shop', 'worker'].map((name) => `examples/${name}`)
const COPIED = ['LICENSE', 'schema.sql', 'migrations', ...LINKED, ...EXAMPLES]

/** Empties `outDir`, then writes the package into it. */
export async function buildPackage(outDir: string, repository?: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  const [, ...bundles] = await Promise.all([
    writeTypes(Object.values(TYPED), join(outDir, 'types')),
    bundleForAnyHost(outDir),
    bundleForWorkerd(outDir),
    bundleForNode(outDir),
    buildConsole(join(outDir, 'console')),
  ])
  await chmod(join(outDir, 'node/signalbox.js'), 0o755)
  for (const name of COPIED) await cp(join(ROOT, name), join(outDir, name), { recursive: true })
  for (const name of LINKED) await withoutDeadLinks(outDir, name)
  await writeFile(join(outDir, 'LICENSES.txt'), await licensesOf(bundles.flat()))
  await writeJson(join(outDir, 'examples/worker/package.json'), workerManifest())
  await writeManifest(outDir, repository)
}

/** Only the command line and what it serves: what a test needs that runs it. */
export async function buildProgram(outDir: string): Promise<void> {
  await Promise.all([bundleForNode(outDir), buildConsole(join(outDir, 'console'))])
  for (const name of ['schema.sql', 'migrations', ...EXAMPLES])
    await cp(join(ROOT, name), join(outDir, name), { recursive: true })
  await writeManifest(outDir)
}

/** Only the libraries that run anywhere, without types: what a test of them needs. */
export async function buildLibraries(outDir: string): Promise<void> {
  await bundleForAnyHost(outDir)
  await writeManifest(outDir)
}

const writeManifest = (outDir: string, repository?: string): Promise<void> =>
  writeJson(join(outDir, 'package.json'), packageManifest(repository))

const writeJson = (file: string, value: object): Promise<void> =>
  writeFile(file, `${JSON.stringify(value, null, 2)}\n`)

/** Drops the images of a page that are not in the package, and the links of what is not. */
async function withoutDeadLinks(outDir: string, page: string): Promise<void> {
  const file = join(outDir, page)
  const isDead = (target: string) => {
    const [path = ''] = target.split('#')
    return !/^https?:/.test(target) && path !== '' && !existsSync(join(dirname(file), path))
  }
  const text = (await readFile(file, 'utf8'))
    .replaceAll(/^!\[[^\]]*\]\(([^)]*)\)\n+/gm, (all, target) => (isDead(target) ? '' : all))
    .replaceAll(/\[([^\]]+)\]\(([^)]*)\)/g, (all, text, target) => (isDead(target) ? text : all))
  await writeFile(file, text)
}

const LIBRARY = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//

/**
 * The licenses of the libraries inside the bundles, as one text: each asks to come along with its
 * code. Throws for a library that names none.
 */
async function licensesOf(bundles: readonly Metafile[]): Promise<string> {
  const inputs = bundles.flatMap(({ inputs }) => Object.keys(inputs))
  const folders = new Set(inputs.flatMap((input) => LIBRARY.exec(input)?.[1] ?? []))
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

/** Makes `file`. Returns what is in it: `0.8 MB packed, 3.1 MB unpacked, 96 files`. */
async function pack(dir: string, file: string): Promise<string> {
  const args = ['pack', '--json', '--pack-destination', '..']
  const { stdout } = await promisify(execFile)('npm', args, { cwd: dir })
  const [packed] = JSON.parse(stdout) as {
    filename: string
    size: number
    unpackedSize: number
    entryCount: number
  }[]
  const megabytes = (bytes = 0) => `${(bytes / 1e6).toFixed(1)} MB`
  const { filename = '', size, unpackedSize, entryCount } = packed ?? {}
  // Without the version, so that the lines of the documentation hold for each.
  await rename(join(dir, '..', filename), file)
  return `${megabytes(size)} packed, ${megabytes(unpackedSize)} unpacked, ${entryCount} files`
}

if (import.meta.main) {
  const outDir = join(ROOT, 'dist/signalbox')
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env
  const isPublishing = GITHUB_SERVER_URL !== undefined && GITHUB_REPOSITORY !== undefined
  const repository = isPublishing ? `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git` : undefined
  await buildPackage(outDir, repository)
  const file = `${outDir}.tgz`
  process.stdout.write(`The package is ${file}: ${await pack(outDir, file)}.\n`)
}
