// Makes the publishable package `signalbox` in dist/signalbox: the client as one bundled file that
// needs nothing, and its types.

import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import manifest from '../../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')
const CLIENT = join(import.meta.dirname, 'client')
const OUT = join(ROOT, 'dist/signalbox')

await rm(OUT, { recursive: true, force: true })
await mkdir(OUT, { recursive: true })
await build({
  entryPoints: [join(CLIENT, 'index.ts')],
  outfile: join(OUT, 'client.js'),
  bundle: true,
  format: 'esm',
  target: 'es2022',
  // People serve it as it is, without a build of their own.
  minify: true,
  sourcemap: true,
  sourcesContent: true,
  logLevel: 'warning',
})
await declare()
await writeFile(join(OUT, 'package.json'), `${JSON.stringify(packageJson(), null, 2)}\n`)
await copyFile(join(ROOT, 'docs/client.md'), join(OUT, 'README.md'))
await copyFile(join(ROOT, 'LICENSE'), join(OUT, 'LICENSE'))
process.stdout.write(`signalbox ${manifest.version} is in ${OUT}\n`)

/** One `.d.ts` a file, of those that the public face refers to. */
async function declare(): Promise<void> {
  const outDir = await mkdtemp(join(tmpdir(), 'signalbox-types-'))
  const settings = {
    extends: join(import.meta.dirname, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(ROOT, 'worker'),
      outDir,
    },
    include: [],
    files: [join(CLIENT, 'index.ts')],
  }
  const settingsFile = join(outDir, 'tsconfig.json')
  await writeFile(settingsFile, JSON.stringify(settings))
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', settingsFile])
  await take(outDir, 'console/client/index')
  await rm(outDir, { recursive: true })
}

/** Copies one with all that it imports. */
async function take(from: string, name: string, taken = new Set<string>()): Promise<void> {
  if (taken.has(name)) return
  taken.add(name)
  const text = await readFile(join(from, `${name}.d.ts`), 'utf8')
  for (const [, imported] of text.matchAll(/from '(\..*)\.ts'/g)) {
    await take(from, join(dirname(name), imported ?? ''), taken)
  }
  const to = join(OUT, 'types', `${name}.d.ts`)
  await mkdir(dirname(to), { recursive: true })
  // The ending that every resolution of modules knows.
  await writeFile(to, text.replaceAll(/(from '\..*)\.ts'/g, "$1.js'"))
}

function packageJson() {
  const { version, license } = manifest
  return {
    name: 'signalbox',
    version,
    description: 'Keeps a page or a program current with a task board behind a Signalbox edge',
    license,
    type: 'module',
    sideEffects: false,
    exports: {
      './client': { types: './types/console/client/index.d.ts', default: './client.js' },
    },
    files: ['client.js', 'client.js.map', 'types', 'README.md', 'LICENSE'],
    engines: { node: '>=20' },
  }
}
