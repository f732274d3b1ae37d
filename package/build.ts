// Builds the npm package `signalbox` in dist/signalbox: the command line, the libraries with their
// types, the console's page, the schema of payments and a board to try it with.

import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildConsole } from '../console/build.ts'
import { bundleForAnyHost, bundleForNode, bundleForWorkerd } from './bundle.ts'
import { licensesOf } from './licenses.ts'
import { packageManifest, TYPED } from './manifest.ts'
import { writeTypes } from './types.ts'

const ROOT = join(import.meta.dirname, '..')
const COPIED = ['schema.sql', 'migrations', 'examples/board', 'LICENSE']

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
  await writeFile(join(outDir, 'README.md'), await readme())
  await writeFile(join(outDir, 'LICENSES.txt'), await licensesOf(bundles))
  await writeManifest(outDir, repository)
}

/** Only the libraries that run anywhere, without types: what a test of them needs. */
export async function buildLibraries(outDir: string): Promise<void> {
  await bundleForAnyHost(outDir)
  await writeManifest(outDir)
}

const writeManifest = (outDir: string, repository?: string): Promise<void> =>
  writeFile(
    join(outDir, 'package.json'),
    `${JSON.stringify(packageManifest(repository), null, 2)}\n`,
  )

/** Without images and relative links, which would be dead in a package. */
async function readme(): Promise<string> {
  const text = await readFile(join(ROOT, 'README.md'), 'utf8')
  return text
    .replaceAll(/^!\[[^\]]*\]\((?!https:)[^)]*\)\n+/gm, '')
    .replaceAll(/\[([^\]]+)\]\((?!https:)[^)]*\)/g, '$1')
}

/** As npm packs it: `3.1 MB unpacked, 0.8 MB packed, 96 files`. */
async function sizeOf(dir: string): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json'], { cwd: dir })
  const [packed] = JSON.parse(stdout) as {
    size: number
    unpackedSize: number
    entryCount: number
  }[]
  const megabytes = (bytes = 0) => `${(bytes / 1e6).toFixed(1)} MB`
  const { size, unpackedSize, entryCount } = packed ?? {}
  return `${megabytes(size)} packed, ${megabytes(unpackedSize)} unpacked, ${entryCount} files`
}

if (import.meta.main) {
  const outDir = join(ROOT, 'dist/signalbox')
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env
  const isPublishing = GITHUB_SERVER_URL !== undefined && GITHUB_REPOSITORY !== undefined
  const repository = isPublishing ? `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git` : undefined
  await buildPackage(outDir, repository)
  process.stdout.write(`The package signalbox is in ${outDir}: ${await sizeOf(outDir)}.\n`)
}
