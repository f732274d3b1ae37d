// Builds the npm package `signalbox` in dist/signalbox: the client as one bundled file without
// dependencies, and its types.

import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import manifest from '../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '..')
const CLIENT = import.meta.dirname

/** Empties `outDir`, then writes the package into it. */
export async function buildClient(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  await build({
    entryPoints: [join(CLIENT, 'index.ts')],
    outfile: join(outDir, 'client.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    // Pages may serve this file directly, without a build step.
    minify: true,
    sourcemap: true,
    logLevel: 'warning',
  })
  await writeTypes(outDir)
  await writeFile(join(outDir, 'package.json'), `${JSON.stringify(packageJson(), null, 2)}\n`)
  await writeFile(join(outDir, 'README.md'), await readme())
  await copyFile(join(ROOT, 'LICENSE'), join(outDir, 'LICENSE'))
}

/** Writes a `.d.ts` for each file that the public API refers to. */
async function writeTypes(outDir: string): Promise<void> {
  const allDir = await mkdtemp(join(tmpdir(), 'signalbox-types-'))
  const settings = {
    extends: join(ROOT, 'console/tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: ROOT,
      outDir: allDir,
    },
    include: [],
    files: [join(CLIENT, 'index.ts')],
  }
  const settingsFile = join(allDir, 'tsconfig.json')
  await writeFile(settingsFile, JSON.stringify(settings))
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', settingsFile])
  for (const [name, text] of await withImports(allDir, 'client/index')) {
    const file = join(outDir, 'types', `${name}.d.ts`)
    await mkdir(dirname(file), { recursive: true })
    // Every kind of module resolution understands `.js`.
    await writeFile(file, text.replaceAll(/(from '\..*)\.ts'/g, "$1.js'"))
  }
  await rm(allDir, { recursive: true })
}

/** A declaration and everything that it imports: name → text. */
async function withImports(dir: string, name: string, known = new Map<string, string>()) {
  const text = await readFile(join(dir, `${name}.d.ts`), 'utf8')
  known.set(name, text)
  for (const [, imported = ''] of text.matchAll(/from '(\..*)\.ts'/g)) {
    const next = join(dirname(name), imported)
    if (!known.has(next)) await withImports(dir, next, known)
  }
  return known
}

/** The page of the documentation, without relative links, which would be dead in a package. */
async function readme(): Promise<string> {
  const text = await readFile(join(ROOT, 'docs/client.md'), 'utf8')
  return text.replaceAll(/\[([^\]]+)\]\(\.[^)]*\)/g, '`$1`')
}

function packageJson() {
  const { version, license } = manifest
  return {
    name: 'signalbox',
    version,
    description: 'Keeps a page or a program up to date with a task board behind a Signalbox edge',
    license,
    type: 'module',
    sideEffects: false,
    exports: {
      './client': { types: './types/client/index.d.ts', default: './client.js' },
    },
    files: ['client.js', 'client.js.map', 'types', 'README.md', 'LICENSE'],
    engines: { node: '>=20' },
  }
}

if (import.meta.main) {
  const outDir = join(ROOT, 'dist/signalbox')
  await buildClient(outDir)
  process.stdout.write(`signalbox ${manifest.version} is in ${outDir}\n`)
}
