// Builds the npm package `signalbox` in dist/signalbox: the client, the receiver of events and the
// client of payments, each one bundled file without dependencies, and their types.

import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import manifest from '../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '..')
/** Of the product: each is a file of the package, and one of its exports. */
const ENTRIES = ['client', 'events', 'payments']

/** Empties `outDir`, then writes the package into it. */
export async function buildClient(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  await build({
    entryPoints: ENTRIES.map((name) => ({ in: join(ROOT, name, 'index.ts'), out: name })),
    outdir: outDir,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    // Pages may serve client.js directly, without a build step.
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
    files: ENTRIES.map((name) => join(ROOT, name, 'index.ts')),
  }
  const settingsFile = join(allDir, 'tsconfig.json')
  await writeFile(settingsFile, JSON.stringify(settings))
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', settingsFile])
  const known = new Map<string, string>()
  for (const name of ENTRIES) await withImports(allDir, `${name}/index`, known)
  for (const [name, text] of known) {
    const file = join(outDir, 'types', `${name}.d.ts`)
    await mkdir(dirname(file), { recursive: true })
    // Every kind of module resolution understands `.js`.
    await writeFile(file, text.replaceAll(/(from '\..*)\.ts'/g, "$1.js'"))
  }
  await rm(allDir, { recursive: true })
}

/** Adds a declaration and everything that it imports: name → text. */
async function withImports(dir: string, name: string, known: Map<string, string>): Promise<void> {
  const text = await readFile(join(dir, `${name}.d.ts`), 'utf8')
  known.set(name, text)
  for (const [, imported = ''] of text.matchAll(/from '(\..*)\.ts'/g)) {
    const next = join(dirname(name), imported)
    if (!known.has(next)) await withImports(dir, next, known)
  }
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
    description: 'For pages, programs and shops behind a Signalbox edge: boards and payment events',
    license,
    type: 'module',
    sideEffects: false,
    exports: Object.fromEntries(
      ENTRIES.map((name) => [
        `./${name}`,
        { types: `./types/${name}/index.d.ts`, default: `./${name}.js` },
      ]),
    ),
    files: [
      ...ENTRIES.flatMap((name) => [`${name}.js`, `${name}.js.map`]),
      ...['types', 'README.md', 'LICENSE'],
    ],
    engines: { node: '>=20' },
  }
}

if (import.meta.main) {
  const outDir = join(ROOT, 'dist/signalbox')
  await buildClient(outDir)
  process.stdout.write(`signalbox ${manifest.version} is in ${outDir}\n`)
}
